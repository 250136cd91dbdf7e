# stages.sh first|second|all FOLDER: runs in stages what needs a GPU, one process at a time, and prints a line
# per step.
#
#     first   240 s: do the kernels compute, and what does each launch take; stops where going on is pointless
#     second  400 s: parity, the program from outside, memory, and the peers whose speed is not known yet
#     all     every test (`make check-gpu`)
#
# FOLDER has each line as soon as it is known: table.txt the lines of steps, STEP.log what a step prints,
# times.jsonl what each launch takes, rows.md and speeds.jsonl the speeds. KIT names a folder that
# `make gpu-kit` made; without it BUILD is tested. CLOCK is a command that prints seconds.
#
# nvidia-smi decides whether there is a GPU: chorus opens libraries of gigabytes, which may take long.
# The last line is "N passed, N failed, N skipped".

call=${1:?first, second or all?}
mkdir -p "${2:?which folder?}" && out=$(cd "$2" && pwd) || exit 1
if [ -n "${KIT-}" ]; then
    cd "$KIT" || exit 1
    export CHORUS=$KIT/chorus GPU_DATA=$KIT/data
    gpu_tests=$KIT/tests/gpu/gpu_tests
else
    BUILD=${BUILD:-build}
    export CHORUS=$PWD/$BUILD/chorus GPU_DATA=${CHORUS_DATA-}
    gpu_tests=$PWD/$BUILD/normal/gpu/gpu_tests
fi
export CHORUS_CUDA='' PYTHONUNBUFFERED=1
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin$(printf ':%s' /opt/nvidia/nsight-compute/*)
now() { ${CLOCK:-date +%s}; }
begun=$(now) end=0 passed=0 failed=0 skipped=0
temp=$(mktemp -d) || exit 1
rm -f "$out"/{table.txt,sum.txt} # of a call before
trap 'rm -rf "$temp"' EXIT
# cuDNN's plans are built once for all tests.
export CHORUS_TEST_CACHE=$temp/cache

# ---- steps ----

say()
{
    echo "$1" | tee -a "$out/table.txt"
}
# stage SENTENCE END: its steps are stopped END seconds after the beginning.
stage()
{
    end=$2
    say "== $1 (at $(($(now) - begun)) s)"
}
left() # seconds until the stage's end
{
    echo $((begun + end - $(now)))
}
skip()
{
    skipped=$((skipped + 1))
    say "skipped $1"
}
# Of every test one that does not run has failed.
no_time() # no_time NAME
{
    [ "$call" != all ] || failed=$((failed + 1)) skipped=$((skipped - 1))
    skip "$1: no time is left"
}
# step NAME SECONDS COMMAND...: a command that takes SECONDS at most. Its failure is counted and returned.
step()
{
    local name=$1 seconds=$2 from code=0 p f s
    local log=$out/$name.log sum='^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'
    shift 2
    ((seconds < $(left))) || seconds=$(left)
    ((seconds >= 3)) || { no_time "$name" && return; }
    from=$(now)
    timeout -k 2 "$seconds" "$@" >"$log" 2>&1 </dev/null || code=$?
    read -r p f s <<<"$(grep -E "$sum" "$log" | tail -n 1 | tr -dc '0-9 ')"
    # A step without such a sum counts as one, and so does one that ends before its sum.
    : "${p:=$(grep -c '^ok ' "$log")}" "${f:=0}" "${s:=0}"
    ((code == 0 || f)) || f=1
    ((p + f + s)) || p=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    say "$(printf '%-32s %4d passed %3d failed %3d skipped %4d s%s' "$name" "$p" "$f" "$s" $(($(now) - from)) \
        "$(ended_with "$code" "$seconds" "$name")")"
    return "$code"
}
# How it ended, where it ended badly, and after which of its tests.
ended_with()
{
    local last
    case $1 in
    0) return ;;
    124 | 137) printf ', stopped after %d s' "$2" ;;
    *) printf ', exit code %d' "$1" ;;
    esac
    last=$(grep -E '^(ok|FAILED|skipped) ' "$out/$3.log" | tail -n 1 | cut -c 1-100)
    [ -z "$last" ] || printf ', after: %s' "$last"
}
a_test() # a_test PROGRAM SECONDS [WORD]
{
    step "$1${3:+-$3}" "$2" "$gpu_tests" "$1" ${3:+"$3"}
}
# Its time was over and all its tests until then passed: it is slow, not wrong.
only_slow() # only_slow PROGRAM EXIT_CODE
{
    (($2 == 124 || $2 == 137)) && tail -n 1 "$out/$1.log" | grep -qE '^(ok|skipped) '
}
installed() # installed COMMAND
{
    type -P "$1" >/dev/null || { skip "$1: it is not installed" && false; }
}

# The last lines, which fit into 12,000 characters: what failed, speeds, the table.
finish()
{
    local log
    printf '\n== The end\n'
    sed -n 's/^\([^ ]*\) .*, \(exit code\|stopped after\) .*/\1/p' "$out/table.txt" | head -n 12 | while read -r log; do
        echo "$log:"
        grep -vE '^(ok |skipped |\{)' "$out/$log.log" | cut -c 1-200 | head -n 8
    done | head -c 5000
    [ ! -e "$out/rows.md" ] || grep -v '^|---' "$out/rows.md" | cut -c 1-240 | tail -n 16
    [ ! -e "$out/times.jsonl" ] || grep -h '"launches"' "$out/times.jsonl"
    tail -n 50 "$out/table.txt" | cut -c 1-160
    echo "$passed passed, $failed failed, $skipped skipped" | tee "$out/sum.txt"
    exit $((failed > 0))
}
pointless() # pointless WHY
{
    say "stopped: $1"
    failed=$((failed ? failed : 1))
    finish
}

# ---- stages ----

a_gpu()
{
    installed nvidia-smi && { step nvidia-smi-L 55 nvidia-smi -L || true; } && grep -q '^GPU ' "$out/nvidia-smi-L.log"
}
the_machine()
{
    step nvidia-smi 10 nvidia-smi
    step ldd 5 ldd "$CHORUS" "${CHORUS%/*}/chorus-cuda.so" "$gpu_tests"
    CHORUS_CUDNN=off step devices-without-cudnn 20 "$CHORUS" devices
    step devices 30 "$CHORUS" devices
}

# cuDNN is not needed here. A program that fails runs once more, launch by launch, which names the kernel.
kernels()
{
    local name
    for name in steps update layers norm conv block session order turns; do
        CHORUS_CUDNN=off a_test "cuda_${name}_test" 25 && continue
        only_slow "cuda_${name}_test" $? && continue
        end=$TOTAL
        CHORUS_CUDNN=off CUDA_LAUNCH_BLOCKING=1 step "cuda_${name}_test-blocking" 40 "$gpu_tests" "cuda_${name}_test"
        return 1
    done
}

keep_times() # keep_times ROW
{
    [ ! -e "$out/cuda_times_test-$1.log" ] || grep '^{.*}$' "$out/cuda_times_test-$1.log" >>"$out/times.jsonl"
}
# Each launch, first of our own kernels, then of the rows that cuDNN takes part in.
launches()
{
    local row
    for row in 0 1 2 3 4 5; do
        CHORUS_CUDNN=off a_test cuda_times_test 15 row_$row
        keep_times row_$row
    done
    for row in 1 4 5; do
        step "cuda_times_test-row_$row-cudnn" 15 "$gpu_tests" cuda_times_test row_$row
        keep_times row_$row-cudnn
    done
}

# The four kernels that take most of lenet and cnn, after the step that warms up.
counters()
{
    local row kernel us report
    installed ncu || return
    sed -n 's/^{"row": "\(lenet\|cnn\)".*"us": \([0-9.]*\),.*"kernel": "\(k_[a-z0-9_]*\)".*/\2 \1 \3/p' "$out/times.jsonl" |
        sort -rn | awk '!seen[$3]++' | head -n 4 >"$temp/slowest"
    while read -r us row kernel; do
        report=$out/ncu-$kernel.ncu-rep
        step "ncu-$kernel" 12 ncu --set full --import-source yes --kernel-name "regex:^${kernel}_entry\$" \
            --launch-skip 4 --launch-count 1 --kill yes --force-overwrite --export "$report" "$gpu_tests" cuda_times_test "_$row"
        [ ! -e "$report" ] || step "ncu-$kernel-details" 5 ncu --import "$report" --page details
        [ ! -e "$report" ] || step "ncu-$kernel-source" 5 ncu --import "$report" --page source --csv
    done <"$temp/slowest"
}

# To the sanitizer a query that is answered with "not yet" is an error: chorus handles what calls answer.
sanitized() # sanitized TOOL SECONDS PROGRAM...
{
    local tool=$1 seconds=$2 program
    shift 2
    for program in "$@"; do
        step "$tool-$program" "$seconds" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 \
            "$gpu_tests" "$program"
    done
}
sanitizer() # sanitizer SECONDS PROGRAM...
{
    installed compute-sanitizer || return
    sanitized memcheck "$@"
    sanitized racecheck "$@"
}

speeds() # speeds NAME SECONDS WORDS...
{
    local name=$1 seconds=$2
    shift 2
    ((seconds < $(left))) || seconds=$(left)
    step "$name" "$seconds" python3 tests/bench/gpu.py --chorus "$CHORUS" ${GPU_DATA:+--data "$GPU_DATA"} \
        --model "${ROWS:-resnet18-bf16,lenet,cnn,cnn-ensemble,mlp,resnet18-tf32}" --results "$out/rows.md" \
        --keep "$out/speeds.jsonl" --within $((seconds - 5)) "$@"
}
kept_speeds()
{
    [ -e "$out/speeds.jsonl" ] || [ ! -e tests/bench/gpu-peers.jsonl ] || cp tests/bench/gpu-peers.jsonl "$out/speeds.jsonl"
}

# ---- calls ----

first()
{
    TOTAL=236
    rm -f "$out"/times.jsonl "$out"/cuda_times_test-row_*.log
    stage "the machine" 60
    a_gpu || pointless "nvidia-smi finds no GPU"
    the_machine
    stage "kernels" 120
    kernels || pointless "a test fails"
    stage "each launch" 165
    launches
    [ -s "$out/times.jsonl" ] || pointless "no launch was measured"
    stage "counters of the slowest kernels" 190
    counters
    stage "compute-sanitizer" 210
    sanitizer 12 cuda_steps_test cuda_update_test
    stage "speed of chorus" 232
    kept_speeds
    speeds bench 90 --alone --seconds 30
    stage "cuDNN, launches, NCCL" $TOTAL
    for name in dnn_nets launch nccl; do
        a_test "cuda_${name}_test" 30
    done
}

second()
{
    TOTAL=396
    stage "parity" 80
    a_gpu || pointless "nvidia-smi finds no GPU"
    a_test cuda_parity_test 60
    a_test cuda_stream_test 30
    stage "the program" 120
    MODELS='lenet resnet18' REPEATED='lenet:256 resnet18:256' step program 60 bash tests/gpu/cli.sh
    stage "speed of chorus" 180
    kept_speeds
    speeds bench 90 --alone --seconds 30
    stage "memory" 196
    a_test cuda_memory_test 30
    stage "peers" $TOTAL
    speeds peers 200 --peers --seconds 60
}

# Where there is no toolkit there are no programs of tests either.
all()
{
    local programs=
    stage "every test" 3600
    if ! a_gpu; then
        echo "skipped: nvidia-smi finds no GPU"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
    if [ -e "$gpu_tests" ] && ! programs=$("$gpu_tests" 2>&1); then
        pointless "gpu_tests does not start: $programs"
    fi
    for name in $programs; do
        a_test "$name" 200
    done
    step program 480 bash tests/gpu/cli.sh
    [ -z "$programs" ] || sanitizer 200 cuda_conv_test cuda_steps_test cuda_update_test
}

case $call in
first | second | all) "$call" ;;
*) echo "stages.sh: $call: allowed are first, second, all" >&2 && exit 2 ;;
esac
finish
