# Prints the targets that carry a "## " comment in the Makefile, under its "## " headings.

/^## / { printf "%s%s\n", (NR > 1 && shown++ ? "\n" : ""), substr($0, 4) }
/^[a-z-]+: ## / {
    name = $1
    sub(/:$/, "", name)
    text = $0
    sub(/^[^#]*## /, "", text)
    printf "  make %-11s %s\n", name, text
}
END {
    print "\nV=1 shows the commands. FLAVOUR=asan, tsan or nocuda builds another flavour, in build/FLAVOUR;"
    print "they never mix. CC, CFLAGS, LDFLAGS and BUILD (the folder, build) may be set."
}
