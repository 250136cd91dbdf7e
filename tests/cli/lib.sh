# tests/cli/lib.sh: sourced by the tests of the program. Each works in a folder of its own, which is
# removed at its end, and ends with `finish`.

CHORUS=${CHORUS:-$PWD/build/chorus}
work=$(mktemp -d)
cache=$(mktemp -d) # beside it: what is refused leaves nothing in $work
passed=0 failed=0 skipped=0
terms="TERM USR1 USR2 QUIT XCPU ALRM" # the signals that end a run with 143
export CHORUS_CUDA=none CHORUS_FAKE=1 LC_ALL=C.UTF-8 TERM=xterm CHORUS_CACHE=$cache
unset NO_COLOR CHORUS_RESULTS CHORUS_DATA
cd "$work" || exit 1

clean_up()
{
    local left
    ((BASHPID == $$)) || return # a signal came to a child before its exec
    for left in $(jobs -p); do
        kill -9 "$left" 2>/dev/null
    done
    for left in $(cat "$work"/*.pid 2>/dev/null); do # whose number may be another process's by now
        [[ $(readlink "/proc/$left/cwd") == "$work"* ]] && kill -9 "$left" 2>/dev/null
    done
    cd / && rm -rf "$work" "$cache"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

ok()
{
    echo "ok $1"
    passed=$((passed + 1))
}

fail()
{
    echo "FAILED $1: $2"
    failed=$((failed + 1))
}

skip()
{
    echo "skipped $1: $2"
    skipped=$((skipped + 1))
}

finish()
{
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0))
    exit
}

# check NAME COMMAND...: ok where it succeeds
check()
{
    local name=$1
    shift
    if "$@"; then
        ok "$name"
    else
        fail "$name" "$*"
    fi
}

# exits CODE COMMAND...: runs it with stdout in ./out and stderr in ./err; says so where the exit code
# is another one, and counts it where no check does.
exits()
{
    local want=$1 got
    shift
    "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] && return 0
    echo "  $* ended with $got instead of $want"
    tail -n 8 err | sed 's/^/  stderr: /'
    [ "${FUNCNAME[1]}" = main ] && failed=$((failed + 1))
    return 1
}

# refused NAME WORDS COMMAND...: exit code 2, one sentence with these words on stderr, nothing on
# stdout, and nothing written.
refused()
{
    local name=$1 words=$2 before after
    shift 2
    before=$(find . -path ./out -o -path ./err -o -print | sort)
    exits 2 "$@" || {
        fail "$name" "exit code"
        return
    }
    after=$(find . -path ./out -o -path ./err -o -print | sort)
    if [ -s out ]; then
        fail "$name" "it wrote to stdout: $(head -n 1 out)"
    elif [ "$(wc -l <err)" != 1 ] || ! grep -q '^chorus: ' err; then
        fail "$name" "not one sentence: $(cat err)"
    elif ! grep -qF -- "$words" err; then
        fail "$name" "without '$words': $(cat err)"
    elif [ "$before" != "$after" ]; then
        fail "$name" "it left something behind: $(diff <(echo "$before") <(echo "$after") | grep '^[<>]')"
    else
        ok "$name"
    fi
}

# has_terminals: whether a terminal can be played here; else $lack says what is missing.
has_terminals()
{
    lack="there is no python3"
    command -v python3 >/dev/null || return
    lack="no terminal can be made (is /dev/pts mounted?)"
    python3 -c 'import pty; pty.openpty()' 2>/dev/null
}

# until_true SECONDS COMMAND...
until_true()
{
    local tries=$(($1 * 20))
    shift
    while ((tries-- > 0)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    return 1
}

# mark PID: how files name a process of this machine
mark()
{
    local host
    host=$(hostname | tr -d '\n')
    ((${#host} > 16)) && host=$(printf %s "$host" | sha256sum | cut -c 1-16)
    echo "$(printf %s "$host" | tr ./- ___)-$1"
}

# A network that trains in no time, and an experiment of it.
cat >tiny.net <<'END'
input   auto
conv    4 3 stride 2
batchnorm
relu
maxpool 2
dropout 0.1
dense   classes
END
cat >tiny.ini <<'END'
model = ./tiny.net
data = synthetic
train_limit = 1200
test_limit = 300
batch = 40
epochs = 4
optimizer = momentum
lr = 0.05
log_every = 4
END

# column RUN NAME: of run.csv
column()
{
    awk -v name="$2" -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
                          NR == 2 { print $c }' "$1/run.csv"
}

# unchecked RUN: like the run of an older version, whose run.csv has no checksum of epochs.csv
unchecked()
{
    sed -i -E 's/,[0-9]+-[0-9a-f]{16},/,,/' "$1/run.csv"
}

state_is()
{
    [ "$(column "$1" state)" = "$2" ]
}

# rows FILE: whole data rows
rows()
{
    awk 'NR > 1 { n++ } END { print n + 0 }' "$1"
}

has_rows()
{
    [ "$(rows "$1")" -ge "$2" ]
}

# without_times FILE.csv...: without the columns that say when, how fast, where and under which name.
without_times()
{
    awk -F, 'FNR == 1 {
        for (i = 1; i <= NF; i++)
            gone[i] = $i ~ /_seconds$|_utc$|^images_per_second$|^memory_bytes$|^peak_memory_bytes$|^run$|^pid$|^shared$|^gpu_percent$|^temperature_c$|^power_watts$|^epochs_check$/
    }
    {
        line = ""
        for (i = 1; i <= NF; i++)
            if (!gone[i])
                line = line "," $i
        print line
    }' "$@"
}

# same_run A B: the same rows but for times, the same weights byte for byte.
same_run()
{
    local file at
    for file in epochs members steps devices run; do
        if [ -e "$1/$file.csv" ] || [ -e "$2/$file.csv" ]; then
            without_times "$1/$file.csv" >a.csv
            without_times "$2/$file.csv" >b.csv
            if ! cmp -s a.csv b.csv; then
                echo "  $file.csv differs:"
                diff a.csv b.csv | head -n 6
                return 1
            fi
        fi
    done
    for at in last best; do
        "$CHORUS" weights "$1" --at $at -o a.safetensors --force >/dev/null 2>err &&
            "$CHORUS" weights "$2" --at $at -o b.safetensors --force >/dev/null 2>err || {
            cat err
            return 1
        }
        cmp a.safetensors b.safetensors || return 1
    done
}

# opens_whole FILE...: each name once and none empty, so that pandas changes none; as many fields in each
# row as there are names; and numbers in columns of accuracies, losses and seconds.
opens_whole()
{
    "${CHORUS_PYTHON:-python3}" -c '
import csv, sys
for file in sys.argv[1:]:
    rows = list(csv.reader(open(file, newline="", encoding="utf-8"), strict=True))
    names = rows[0]
    assert len(rows) > 1, file
    assert len(set(names)) == len(names) and all(names), (file, names)
    assert all(len(row) == len(names) for row in rows), file
    for name, *column in zip(*rows):
        filled = [field for field in column if field]
        assert not any(field != field.strip() for field in filled), (file, name)
        if name.endswith(("acc", "loss", "seconds")):
            [float(field) for field in filled]' "$@"
}
