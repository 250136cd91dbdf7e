# Turns text files into one C file: awk -v room=net -f make/builtin.awk FILE... defines
# net_builtin(name) and net_builtin_name(i) over the files, in the order given.

function literal(line,   out, i, c)
{
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        out = out (c == "\r" ? "\\r" : index("\\\"?", c) ? "\\" c : c) # ? for the trigraphs
    }
    return "\"" out "\\n\""
}

function name(path)
{
    sub(/.*\//, "", path)
    sub(/\.[a-z]*$/, "", path)
    return path
}

BEGIN {
    print "#include \"" room "/" room ".h\""
    print ""
    print "#include <string.h>"
    print ""
    print "static const struct {"
    print "    const char *name, *text;"
    print "} builtin[] = {"
    for (i = 1; i < ARGC; i++) {
        print "    {\"" name(ARGV[i]) "\", \"\""
        while ((getline line < ARGV[i]) > 0)
            print "        " literal(line)
        close(ARGV[i])
        print "    },"
    }
    print "    {NULL, NULL},"
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
    print "    return i >= 0 && i < (int)(sizeof builtin / sizeof *builtin) ? builtin[i].name : NULL;"
    print "}"
}
