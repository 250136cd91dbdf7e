# What `make size` counts: make/size.sh over a small tree of three files, two of which call each other.

. tests/build/lib.sh

source=$PWD
tree()
{
    cd "$work" && rm -rf tree && mkdir -p tree/{make,src/a,src/b,ui,tests/unit,built} && cd tree || exit 1
    cp "$source"/make/size.sh "$source"/make/circles.awk make
    printf 'void two(void);\nvoid one(void) { two(); }\n' >src/a/one.c
    printf 'void %s(void);\nvoid two(void) { %s(); }\n' "$1" "$1" >$2/two.c
    printf 'void three(void) {}\n' >src/a/three.c
    for file in src/a/one src/a/three $2/two; do
        mkdir -p "built/obj/${file%/*}" && cc -c $file.c -o built/obj/$file.o || exit 1
    done
    printf '# ceilings\nproduct-lines 5\nfiles-in-a-folder 3\ncircles 1\ncircles-over-rooms 0\nfiles-in-circles 2\n' >make/size.txt
}

size()
{
    sh make/size.sh built >log 2>&1
}

says()
{
    grep -qE "$1" log || { cat log; false; }
}

tree one src/a
check "a tree within its ceilings passes" "$(size; cat log)" size
check "its circle is told" "see above" says "^ +2  src/a/(one.c src/a/two|two.c src/a/one)\.c$"
check "its lines are counted" "see above" says "^ +5  all$"
sed -i 's/lines 5/lines 4/' make/size.txt
size && bad "a line too much" "it passes" || check "a line too much" "see above" says "5  product-lines of at most 4 +TOO MUCH"
tree three src/a
check "without the circle" "$(size; cat log)" size
check "none is told" "see above" says "^ +0  circles of at most 1"
tree one src/b
size && bad "a circle over two rooms" "it passes" ||
    check "a circle over two rooms" "see above" says "1  circles-over-rooms of at most 0 +TOO MUCH"
sed -i '/circles-over/d' make/size.txt
size && bad "a count without a ceiling" "it passes" || ok "a count without a ceiling"
finish
