# make/walls.sh ROOT: proves from the source alone that every room knows only those that it may know.
# Each line that breaks a wall is printed with file and line; then it exits 1.
#
# A room is a folder of at most 32 files. Who may know whom stands below, room by room, as a house is built:
# each knows only those above it. A header x.h is implemented by the files x.c and x_*.c beside it, or by those
# of the folder x/. A header with the name of its room is the room's own: all its files and rooms may implement
# it. So may they a header that has a name of its own, as layers.h where no file is called layers.c. x_int.h is
# private: it is for the folder in which it lies, and for the rooms in that folder. A test sees the headers of
# all rooms, and the private ones of the room that it tests: tests/unit/ROOM/ and tests/parity/ROOM_* test ROOM.

cd "$1" || exit 2
# shellcheck disable=SC2046 # no file of the tree has a space in its name
LC_ALL=C awk '
# The room may know those of the list, itself, and (NAME/) NAME with all the rooms in it.
function may(room, list,   n, i, word)
{
    n = split(list, word, " ")
    for (i = 1; i <= n; i++)
        knows[room, word[i]] = 1
    knows[room, room] = known[room] = 1
}

function lets(file, header) # what else one file may include
{
    exception[file, header] = 1
}

function wrong(why)
{
    printf "%s:%d: %s\n", FILENAME, FNR, why
    failed++
}

function folder_of(path)
{
    return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : ""
}

function within(path, folder) # in it, or in a folder of it
{
    return path == folder || index(path, folder "/") == 1
}

# The room of a file, or of a header as an include names it: its folder.
function room_of(path)
{
    if (path == "src/main.c")
        return "main"
    sub(/^src\//, "", path)
    return folder_of(path)
}

# The room that a test is about; of another file its own.
function subject_of(path,   name)
{
    name = path
    if (path in fuzzed)
        return fuzzed[path]
    if (sub(/^tests\/parity\//, "", name))
        return substr(name, 1, index(name "_", "_") - 1)
    name = room_of(path)
    sub(/^tests\/unit\//, "", name)
    return name
}

function may_know(room, to,   up)
{
    if (knows[room, to])
        return 1
    for (up = to; up != ""; up = folder_of(up))
        if (knows[room, up "/"])
            return 1
    return 0
}

BEGIN {
    base = "base base/system "
    may("base", "")
    may("base/system", "base")
    may("rng", "base")
    may("spec", "base rng")
    may("net", "base rng spec")
    may("wire", base "rng spec net")
    may("data", base "rng spec net")

    run = base "rng spec net wire record/file record/run "
    may("record/file", base)
    may("record/run", run)
    may("record", run)
    may("record/queue", run "record")
    may("record/sweep", run "record record/queue")
    reads = base "spec net wire record/ "
    may("study", reads)

    may("live", reads "study")

    may("draw/ink", "base")
    may("draw/plot", reads "study draw/ink")
    may("draw", reads "study draw/ink draw/plot")

    model = base "rng spec net data "
    may("engine", model "wire record/")
    may("engine/run", model "wire record/ engine")
    may("engine/forecast", model "wire record/ engine")
    may("engine/sweep", model "wire record/ engine engine/forecast")

    may("ref", model "engine")
    may("fake", model "engine")
    may("cpu", model "engine")
    may("cpu/kernels", "cpu")
    may("cpu/kernels/amx", "cpu cpu/kernels")
    may("cuda/kernels", "")
    may("cuda/kernels/products", "cuda/kernels")
    may("cuda/rt", base "cuda/kernels")
    may("cuda/comm", base "cuda/rt")
    may("cuda/launch", model "engine cuda/kernels/ cuda/rt")
    may("cuda/dnn", base "cuda/kernels/ cuda/rt cuda/launch")
    may("cuda", model "engine cuda/")
    # g++ compiles a kernel for the twin, which has its language.
    lets("src/cuda/kernels/dev.h", "tests/twin/emu.h")

    screens = reads "study live draw/ "
    may("ui/term", base "draw/")
    may("ui/widgets", base "draw/ ui/term")
    may("ui/tasks", base)
    may("ui/library", screens "ui/tasks")
    parts = screens "ui/term ui/widgets ui/tasks ui/library "
    may("ui/app", parts)
    n = split("setup run results compare sweep predict log", word, " ")
    for (i = 1; i <= n; i++)
        may("ui/" word[i], parts "ui/app")

    left = base "rng spec net wire data record/ study live draw/ engine/ ref fake cpu cuda ui/tasks "
    may("cli", base)
    may("cli/out", reads "study live draw/ cli")
    may("cli/args", left "cli cli/out")
    may("cli/out/report", left "cli cli/args cli/out")
    may("cli/sweeps", left "cli cli/args cli/out")
    may("cli/jobs", left "ui/app cli cli/args cli/out/ cli/sweeps")
    may("cli/forecast", left "cli cli/args cli/out cli/sweeps cli/jobs")
    may("cli/verbs", left "ui/app cli/")
    may("main", left "ui/app cli/")

    # Of record, study, draw and ui see what reads, and what that is made of: nothing that writes a run.
    n = split("run/run run/reader run/params list look stamp find filter columns best trash working " \
        "start_weights file/safetensors queue/queue sweep/sweeps sweep/ledger sweep/sheet sweep/order", word, " ")
    for (i = 1; i <= n; i++)
        reader["record/" word[i] ".h"] = 1
    # Libraries of one room.
    library["csv"] = "base"
    library["curses"] = "ui/term"
    library["CUDA"] = "cuda/rt"

    # Fuzz targets call the parsers of one room.
    n = split("control:record epochs:record run:record csv:data gz:data idx:data predictions:ui/predict " \
        "script:ui/app", word, " ")
    for (i = 1; i <= n; i++) {
        split(word[i], part, ":")
        fuzzed["tests/torture/fuzz/" part[1] ".c"] = part[2]
    }
    # A screen is tested in a workbench without a terminal, which the test makes of the parts of ui/app; what
    # a run or a sweep puts into the queue, by the screen that does it.
    n = split("compare/compare log/log predict/predict predict/unread results/results run/run setup/slow " \
        "setup/write sweep/sweep", word, " ")
    for (i = 1; i <= n; i++)
        lets("tests/unit/ui/" word[i] "_test.c", "ui/app/app_int.h")
    lets("tests/unit/ui/run/run_test.c", "ui/setup/setup_int.h")
    lets("tests/unit/ui/sweep/sweep_test.c", "ui/setup/setup_int.h")
}

FNR == 1 {
    room = room_of(FILENAME)
    test = room ~ /^tests(\/|$)/
    files++
    if (room !~ /^tests/ || room ~ /^tests\/unit/)
        if (++fill[room] == 33)
            wrong("more than 32 files lie in this folder")
    held = name = ""
    comment = 0
    if (!test && !known[room])
        wrong("the room " room " has no place in make/walls.sh")
    if (FILENAME ~ /\.(c|h)$/ && !test) {
        path = FILENAME
        sub(/^src\//, "", path)
        file[path] = 1
    }
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
    if (comment && clean ~ /\*\//)
        comment = 0
    else if (comment)
        clean = ""
    sub(/^.*\*\//, "", clean)
    if (sub(/\/\*.*/, "", clean))
        comment = 1
}

clean ~ /^[ \t]*(#|%:|\?\?=)[ \t]*(include|include_next|import|embed)([^a-z_]|$)/ {
    includes++
    what = clean
    sub(/^[^a-z]*[a-z_]+[ \t]*/, "", what)
    if (what ~ /^</) {
        sub(/^</, "", what)
        sub(/>.*/, "", what)
        kind = ""
        if (what ~ /(^|\/)csv[a-z_]*\.h$/)
            kind = "csv"
        else if (what ~ /(^|\/)(n?curses[a-z_]*|term|panel|menu|form|etip|eti|unctrl)\.h$/)
            kind = "curses"
        else if (what ~ /(^|\/)(cuda|cudnn|nccl|cublas|curand|cufft|nvml|nvrtc)[A-Za-z0-9_]*\.h$/)
            kind = "CUDA"
        if (kind != "" && library[kind] != room)
            wrong("<" what "> belongs to the room " library[kind] " alone, not to " room)
        if (what ~ /^(\.|src\/|ui\/|tests\/)/ || known[substr(what, 1, index(what, "/") - 1)])
            wrong("<" what "> is of this tree: it is written in double quotes")
        next
    }
    if (what !~ /^"[^"]+"/) {
        wrong("the name of an include is written out")
        next
    }
    sub(/^"/, "", what)
    sub(/".*/, "", what)
    if (test && what == "names.h") # the Makefile makes it
        next
    top = substr(what, 1, index(what, "/") - 1)
    if (what ~ /(^|\/)\.\.?(\/|$)/ || (!known[top] && top !~ /^(ui|tests)$/ && !known[folder_of(what)])) {
        if (!(what == "src/main.c" && test))
            wrong("\"" what "\" is not written from src/, or from the root for ui and tests")
        next
    }
    path = top == "ui" || top == "tests" ? what : "src/" what
    to = room_of(path)
    subject = test ? subject_of(FILENAME) : room
    if (what ~ /_int\.h$/ && !exception[FILENAME, what]) {
        if (!within(subject, to) && !(test && within(to, subject)))
            wrong("\"" what "\" is for the room " to " alone")
    } else if (exception[FILENAME, what])
        ;
    else if (test ? top == "tests" && to !~ /^tests(\/|$)/ : !may_know(room, to))
        wrong("the room " room " may not know " to)
    else if (room ~ /^(ui|draw|study|live)(\/|$)/ && top == "record" && !reader[what])
        wrong("of record, " room " may know the reader alone")
    if ((getline ignored < path) < 0)
        wrong("\"" what "\" is not there")
    close(path)
    next
}

# Which functions a header promises, and where each is: what begins at the left edge, up to ; or {.
FILENAME !~ /\.(c|h)$/ || test { next }
/^}/ { name = ""; next }
name == "" && clean ~ /^[a-z].*[a-z0-9_]\(/ && clean !~ /^(typedef|static|_Static_assert|extern "C")/ {
    match(clean, /[a-z_][a-z0-9_]*\(/)
    name = substr(clean, RSTART, RLENGTH - 1)
    line = FNR
}
name != "" && clean ~ /;[ \t]*$/ {
    if (FILENAME ~ /\.h$/)
        promised[name] = promised[name] " " FILENAME ":" line
    name = ""
}
/^{/ {
    if (name != "" && FILENAME ~ /\.c$/)
        defined[name] = defined[name] " " FILENAME
    name = ""
}

# Whether that file may implement this header.
function implements(c, h,   folder, stem, own)
{
    sub(/^src\//, "", c)
    sub(/^src\//, "", h)
    folder = folder_of(h)
    stem = substr(h, length(folder) + 2)
    sub(/(_int)?\.h$/, "", stem)
    if (folder_of(c) == folder && (c == folder "/" stem ".c" || index(c, folder "/" stem "_") == 1))
        return 1
    if (within(folder_of(c), folder "/" stem))
        return 1
    own = folder
    sub(/^.*\//, "", own)
    return within(folder_of(c), folder) && (stem == own || !names_a_file[folder "/" stem])
}

END {
    if (!files || !includes) {
        print "no source was found"
        exit 2
    }
    for (path in file)
        if (path ~ /\.c$/) {
            stem = path
            sub(/\.c$/, "", stem)
            names_a_file[stem] = 1
            while (sub(/_[^_\/]*$/, "", stem)) # plan_memory.c is of plan.h
                names_a_file[stem] = 1
        }
    for (name in promised) {
        n = split(promised[name], where, " ")
        for (i = 1; i <= n; i++) {
            split(where[i], part, ":")
            found = defined[name] == ""
            m = split(defined[name], files_of, " ") # the part for GPUs may have another of that name
            for (k = 1; k <= m; k++)
                found = found || implements(files_of[k], part[1])
            if (!found) {
                print where[i] ": " name " is in" defined[name] ", which does not have the name of this header"
                failed++
            }
        }
    }
    if (failed) {
        print failed " of " includes " includes and the headers break a wall."
        exit 1
    }
    print includes " includes of " files " files keep to the walls."
}
' $(find src ui tests -name fixtures -prune -o \( -name '*.c' -o -name '*.h' -o -name '*.inc' -o -name '*.cu' -o -name '*.cpp' \
    -o -name '*.S' \) -print | LC_ALL=C sort)
