# make/walls.sh ROOT: proves from the #include lines alone that every room knows only those it may
# know. Each line of it that breaks a wall is printed with file and line; then it exits 1.

cd "$1" || exit 2
# shellcheck disable=SC2046 # no file of the tree has a space in its name
LC_ALL=C awk '
function may(room, list,   n, i, word) # room may include what stands in list, and itself
{
    n = split(list, word, " ")
    for (i = 1; i <= n; i++)
        knows[room, word[i]] = 1
    knows[room, room] = 1
    known[room] = 1
}

function wrong(why)
{
    printf "%s:%d: %s\n", FILENAME, FNR, why
    failed++
}

BEGIN {
    # One room to the left of the other, as in a street: base knows nobody.
    may("base", "")
    may("rng", "base")
    may("spec", "base rng")
    may("net", "base rng spec")
    may("wire", "base rng spec net")
    may("data", "base rng spec net")
    may("record", "base rng spec net wire")
    may("study", "base rng spec net wire record")
    may("engine", "base rng spec net wire data record")
    backend = "base rng spec net wire data record engine"
    may("ref", backend)
    may("fake", backend)
    may("cpu", backend)
    may("cuda", backend)
    may("draw", "base record study")
    may("ui", "base spec net wire record study draw")
    all = backend " study draw ref fake cpu cuda ui"
    may("cli", all)
    may("main", all " cli")
    # Of record, draw and ui see what reads, and what that is made of: nothing that writes a run.
    n = split("run/run run/reader run/params list look stamp find filter columns best trash working " \
        "start_weights file/safetensors queue/queue sweep/sweeps sweep/ledger sweep/sheet sweep/order", word, " ")
    for (i = 1; i <= n; i++)
        reader["record/" word[i] ".h"] = 1
    # Libraries of one room.
    library["csv"] = "base"
    library["curses"] = "ui"
    library["CUDA"] = "cuda"
}

FNR == 1 {
    split(FILENAME, part, "/")
    room = part[1] == "ui" ? "ui" : FILENAME == "src/main.c" ? "main" : part[2]
    files++
    held = ""
    if (!known[room])
        wrong("the room " room " has no place in make/walls.sh")
}

# A comment in front does not hide an include, nor does a line that goes on.
{
    clean = held $0
    held = ""
    if (clean ~ /\\$/ && clean ~ /^[^"<]*$/) {
        held = substr(clean, 1, length(clean) - 1)
        next
    }
    while (match(clean, /\/\*([^*]|\*+[^*\/])*\*+\//))
        clean = substr(clean, 1, RSTART - 1) " " substr(clean, RSTART + RLENGTH)
    sub(/^.*\*\//, "", clean)
}

clean ~ /^[ \t]*(#|%:|\?\?=)[ \t]*(include|include_next|import|embed)([^a-z_]|$)/ {
    includes++
    name = clean
    sub(/^[^a-z]*[a-z_]+[ \t]*/, "", name)
    if (name ~ /^</) {
        sub(/^</, "", name)
        sub(/>.*/, "", name)
        kind = ""
        if (name ~ /(^|\/)csv[a-z_]*\.h$/)
            kind = "csv"
        else if (name ~ /(^|\/)(n?curses[a-z_]*|term|panel|menu|form|etip|eti|unctrl)\.h$/)
            kind = "curses"
        else if (name ~ /(^|\/)(cuda|cudnn|nccl|cublas|curand|cufft|nvml|nvrtc)[A-Za-z0-9_]*\.h$/)
            kind = "CUDA"
        if (kind != "" && library[kind] != room)
            wrong("<" name "> belongs to the room " library[kind] " alone, not to " room)
        if (name ~ /^(\.|src\/|ui\/)/ || known[substr(name, 1, index(name, "/") - 1)])
            wrong("<" name "> is of this tree: it is written in double quotes")
        next
    }
    if (name !~ /^"[^"]+"/) {
        wrong("the name of an include is written out")
        next
    }
    sub(/^"/, "", name)
    sub(/".*/, "", name)
    split(name, part, "/")
    to = part[1]
    if (name ~ /(^|\/)\.\.?(\/|$)/ || name !~ /\// || !known[to] || to == "main") {
        wrong("\"" name "\" is not written from src/, or from the root for ui")
        next
    }
    path = to == "ui" ? name : "src/" name
    if (!knows[room, to])
        wrong("the room " room " may not know " to)
    else if (name ~ /_int\.h$/ && room != to)
        wrong("\"" name "\" is for the room " to " alone")
    else if ((room == "ui" || room == "draw") && to == "record" && !reader[name])
        wrong("of record, " room " may know the reader alone")
    else if ((getline ignored < path) < 0)
        wrong("\"" name "\" is not there")
    close(path)
}

END {
    if (!files || !includes) {
        print "no source was found"
        exit 2
    }
    if (failed) {
        print failed " of " includes " includes break a wall."
        exit 1
    }
    print includes " includes of " files " files keep to the walls."
}
' $(find src ui \( -name '*.c' -o -name '*.h' -o -name '*.inc' -o -name '*.cu' \) | LC_ALL=C sort)
