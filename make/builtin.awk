# Turns text files into one C file: awk -v room=net -v ext=.net -f make/builtin.awk FILE...
# defines ROOM_builtin(name) and ROOM_builtin_name(i) over the files in the order given.

function literal(line)
{
    gsub(/\\/, "\\\\", line)
    gsub(/"/, "\\\"", line)
    gsub(/\?/, "\\?", line) # no trigraphs
    gsub(/\r/, "\\r", line)
    return "    \"" line "\\n\""
}

function base(path)
{
    sub(/.*\//, "", path)
    return substr(path, 1, length(path) - length(ext))
}

BEGIN {
    print "/* Made by make/builtin.awk. */"
    print "#include \"" room "/" room ".h\""
    print ""
    print "#include <string.h>"
    print ""
    print "static const struct {"
    print "    const char *name, *text;"
    print "} builtin[] = {"
    for (i = 1; i < ARGC; i++) {
        print "    {\"" base(ARGV[i]) "\","
        print "    \"\"" # a file may be empty
        while ((getline line < ARGV[i]) > 0)
            print literal(line)
        close(ARGV[i])
        print "    },"
    }
    print "    {0, 0},"
    print "};"
    print ""
    print "const char *" room "_builtin(const char *name)"
    print "{"
    print "    for (int i = 0; builtin[i].name; i++)"
    print "        if (strcmp(builtin[i].name, name) == 0)"
    print "            return builtin[i].text;"
    print "    return NULL;"
    print "}"
    print ""
    print "const char *" room "_builtin_name(int i)"
    print "{"
    print "    int n = (int)(sizeof builtin / sizeof *builtin);"
    print "    return i >= 0 && i < n ? builtin[i].name : NULL;"
    print "}"
    exit
}
