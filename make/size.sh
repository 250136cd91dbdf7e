# make/size.sh BUILT: prints the lines of each room, the fullest folder and the circles of files, and exits 1 where
# one of them is above its ceiling in make/size.txt. BUILT is the folder of its object files.

objects=$1
# lines FOLDER...: "LINES FOLDER" for each, and a sum
lines()
{
    for folder; do
        printf '%8d  %s\n' "$(find "$folder" -type f -regex '.*\.\(c\|h\|inc\|cu\|cpp\|S\|sh\|py\)' -exec cat {} + | wc -l)" "$folder"
    done | awk '{ print; sum += $1 } END { printf "%8d  all\n", sum }'
}

# nm names "FOLDER/obj/src/base/io.o:" and "FOLDER/pic/src/base/io.c.o:", which are the same file.
uses()
{
    find "$objects/obj" "$objects/pic" -name '*.o' -exec nm -A -P -g {} + 2>/dev/null | awk -v skip="${#objects}" '
        $1 != last {
            last = $1
            file = substr($1, skip + 6)
            sub(/(\.c)?\.o:$/, ".c", file)
            known = (getline line < file) >= 0
            close(file)
        }
        known && file ~ /^(src|ui)\// { print file, $3 == "U" ? "uses" : "defines", $2 }'
}

temp=$(mktemp -d) || exit 2
trap 'rm -rf "$temp"' EXIT
lines src/*/ ui >"$temp/product"
lines tests/*/ >"$temp/tests"
find src ui tests/unit -type f -exec dirname {} + | LC_ALL=C sort | uniq -c | sort -k1,1nr -k2 >"$temp/folders"
uses | awk -f make/circles.awk >"$temp/circles"

echo "lines of the product" && cat "$temp/product"
echo "lines of the tests" && cat "$temp/tests"
echo "circles of files"
awk '{ printf "%8d  %s", $1, $2; for (i = 3; i <= NF && i < 6; i++) printf " %s", $i; print (NF > 5 ? " ..." : "") }' "$temp/circles"
echo "against make/size.txt"
{
    awk '$2 == "all" { print "product-lines", $1 }' "$temp/product"
    awk 'NR == 1 { print "files-in-a-folder", $1, $2 }' "$temp/folders"
    awk '{
        files += $1
        wide = 0
        for (i = 2; i <= NF; i++) {
            room = $i
            sub(/[^\/]*$/, "", room)
            wide += i > 2 && room != before
            before = room
        }
        over += wide > 0
    }
    END {
        print "circles", NR + 0
        print "circles-over-rooms", over + 0
        print "files-in-circles", files + 0
    }' "$temp/circles"
} | awk 'FNR == NR { if ($0 !~ /^#/ && NF) ceiling[$1] = $2; next }
    {
        over = !($1 in ceiling) || $2 > ceiling[$1]
        bad += over
        printf "%8d  %s of at most %d %s%s\n", $2, $1, ceiling[$1], $3, over ? "  TOO MUCH" : ""
    }
    END { exit bad > 0 }' make/size.txt -
