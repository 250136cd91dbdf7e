# What is taken to a machine with a GPU (make/kit.sh, tests/gpu/stages.sh, tests/bench/gpu.py), with programs
# that are made up here and a clock that they alone move: a call keeps its time however slow they are.

. tests/build/lib.sh

kit=$work/kit bin=$work/bin tools=$work/tools
mkdir -p "$kit/tests/gpu" "$kit/tests/bench/peers" "$bin" "$tools"
cp tests/gpu/stages.sh "$kit/tests/gpu/"
cp tests/bench/gpu.py "$kit/tests/bench/"
program() # program FILE: a script from stdin, in which $work is this folder
{
    { printf '#!/bin/bash\nwork=%s\n' "$work" && cat; } >"$1" && chmod +x "$1"
}
part() # part FILE: a program of the kit
{
    program "$kit/$1"
}
says() # says NAME CODE LINES...: what ran last ended so, and each line stands in what it printed
{
    local name=$1 code=$2 line
    shift 2
    for line in "$@"; do
        grep -qxF -- "$line" "$work/out" && continue
        bad "$name" "$(cat "$work/out" "$work/err")"
        return
    done
    check "$name" "it ended with $ended" test "$ended" = "$code"
}
speeds()
{
    timeout "${LIMIT:-60}" python3 tests/bench/gpu.py --chorus "$kit/chorus" --model mlp --seconds 3 \
        --results "$work/rows" "$@" >"$work/out" 2>"$work/err"
    ended=$?
}
stays() { pgrep -f "$kit/chorus run" >/dev/null; }


# ---- speeds ----

part chorus <<'SH'
echo '{"cuda_devices": 0, "cuda": {"reason": "there is no NVIDIA driver here"}}'
SH
speeds
says without_a_GPU_no_speed_is_measured 0 'skipped: no CUDA device (there is no NVIDIA driver here); 1 rows'

part chorus <<'SH'
[ "$1" = devices ] && echo '{"cuda_devices": 1, "cuda": {}}' && exit
exec sleep 60
SH
speeds
row=$(sed -n 's/ |$//; s/\( |\)*$//; /^| mlp/p' "$work/rows")
check a_run_that_hangs_is_a_row "$(cat "$work/rows" "$work/err")" \
    test "$row" = '| mlp | chorus: no answer within 2 s'
check and_is_stopped "it still runs" eval '! stays'
LIMIT=1 speeds
check nothing_outlives_the_measurement "it still runs" eval '! stays'

# A row is there also where neither git nor the peers are.
part chorus <<'SH'
[ "$1" = devices ] && echo '{"cuda_devices": 1, "cuda": {}}' && exit
run=${*: -1}/run
mkdir "$run"
printf 'isa\nsm_90\n' >"$run/run.csv"
echo train_seconds,ended_utc >"$run/epochs.csv"
for i in 1 2 3 4 5 6 7; do echo "0.0$i,2026-01-01T00:00:0$i.000Z" >>"$run/epochs.csv"; done
echo "$run"
SH
mkdir "$work/few"
for tool in bash mkdir; do ln -s "$(type -P $tool)" "$work/few/"; done
python=$(python3 -c 'import sys; print(sys.executable)')
PATH=$work/few "$python" -I tests/bench/gpu.py --chorus "$kit/chorus" --model mlp --seconds 9 >"$work/out" 2>"$work/err"
check a_row_needs_no_git "$(cat "$work/out" "$work/err")" grep -q '^| mlp | 10.0 ms |.*, unknown, sm_90 |$' "$work/out"


# ---- calls ----

# A library that is slow to open does not answer `devices`.
part chorus <<'SH'
echo "chorus $1 cudnn=${CHORUS_CUDNN-on}" >>"$work/calls"
if [ "$1" = devices ]; then
    [ -e "$work/slow-devices" ] && touch "$work/hangs" && sleep 60
    echo '{"cuda_devices": 1}' && exit
fi
case " $* " in
*' model=resnet18 '*) [ "${CHORUS_CUDNN-}" = off ] || { echo 'cuDNN cannot' >&2 && exit 1; } ;;
esac
while [ "$1" != --results ]; do shift; done
mkdir "$2/run"
printf 'isa,wall_seconds\nsm_90,1\n' >"$2/run/run.csv"
echo train_seconds,ended_utc >"$2/run/epochs.csv"
for i in 1 2 3 4 5 6 7; do echo "0.0$i,2026-01-01T00:00:0$i.000Z" >>"$2/run/epochs.csv"; done
echo "$2/run"
SH
part chorus-cuda.so </dev/null
# behaviour/NAME says what the test NAME does.
part tests/gpu/gpu_tests <<'SH'
[ $# = 0 ] && printf 'good\nwrong\ncrash\nhangs\n' && { [ ! -e "$work/many" ] || seq 20; } && exit
echo "$1${2+ $2} cudnn=${CHORUS_CUDNN-on}${CUDA_LAUNCH_BLOCKING+ blocking}" >>"$work/calls"
echo 'ok begun'
[ ! -e "$work/behaviour/$1" ] || . "$work/behaviour/$1"
[ $1 != cuda_times_test ] || cat "$work/times"
printf '1 passed, 0 failed, 0 skipped\n'
SH
for us in 10.00 20.00 30.00 40.00 50.00; do
    printf '{"row": "lenet", "cudnn": 0, "launch": 0, "us": %s, "kernel": "k_%s", "jobs": []}\n' $us "${us%.*}"
done >"$work/times"
echo '{"row": "lenet", "launches": 5, "step_us": 150.0}' >>"$work/times"
echo "echo '5 passed, 0 failed, 0 skipped'" >"$kit/tests/gpu/cli.sh"
for peer in jax:scan torch:captured; do
    echo "open('$work/calls', 'a').write('peer ${peer%:*}\n'); print('{\"${peer#*:}\": 0.03}')" \
        >"$kit/tests/bench/peers/gpu_${peer%:*}.py"
done
program "$bin/nvidia-smi" <<'SH'
case "$1" in
-L) cat "$work/gpus" ;;
*) echo "NVIDIA H200" ;;
esac
SH
for tool in ncu compute-sanitizer; do
    program "$tools/$tool" <<'SH'
echo "${0##*/} $*" >>"$work/calls"
while [ $# != 0 ]; do [ "$1" = --export ] && echo >"$2"; shift; done
SH
done
program "$bin/ldd" </dev/null
program "$bin/clock" <<'SH'
cat "$work/clock"
SH
# -k 2 SECONDS COMMAND...: a command that writes `hangs` is killed when its time is over, which is at once.
# What `takes` names has passed when it ends, and time for each step in `step-takes`.
program "$bin/timeout" <<'SH'
seconds=$3
shift 3
pass()
{
    ((took = $1 < seconds ? $1 : seconds))
    echo $(($(cat "$work/clock") + took)) >"$work/clock"
    rm -f "$work/hangs" "$work/takes"
}
"$@" &
while kill -0 $! 2>/dev/null; do
    [ ! -e "$work/hangs" ] || { kill -9 $! && wait $! 2>/dev/null; pass 9999; exit 124; }
    sleep 0.01
done
wait $!
code=$?
took=$(cat "$work/takes" "$work/step-takes" 2>/dev/null | head -n 1)
pass "${took:-1}"
((${took:-1} <= seconds)) && exit $code
exit 124
SH
call() # call NAME [FOLDER]: with a GPU, the tools in $path
{
    rm -rf "$work/calls" "$work/hangs"
    : >"$work/calls"
    echo 1000 >"$work/clock"
    KIT=$kit CLOCK=$bin/clock ROWS=${ROWS:-mlp} CUDA_HOME=/nowhere PATH=${path-}$bin:$PATH \
        bash tests/gpu/stages.sh "$1" "${2:-$work/folder}" >"$work/out" 2>"$work/err"
    ended=$?
    took=$(($(cat "$work/clock") - 1000))
    sed 's/  *[0-9]* s\(,\|$\)/\1/; s/   */ /g' "$work/out" >"$work/lines" && mv "$work/lines" "$work/out"
}
anew() # anew [FILE...]: no behaviour, no folder, but these marks
{
    rm -rf "$work/folder" "$work/behaviour" "$work/slow-devices" "$work/step-takes"
    mkdir "$work/behaviour"
    echo 'GPU 0: NVIDIA H200 (UUID: GPU-0)' >"$work/gpus"
    for file in "$@"; do echo 300 >"$work/$file"; done
}
called() # called NAME LINES...: it called these, in this order, as the first words of its calls
{
    local name=$1
    shift
    printf '%s\n' "$@" >"$work/want"
    check "$name" "$(cat "$work/calls" "$work/out" "$work/err")" eval 'diff "$work/want" <(cut -d " " -f 1 "$work/calls" | uniq) >/dev/null'
}
all_called="chorus cuda_steps_test cuda_update_test cuda_layers_test cuda_norm_test cuda_conv_test cuda_block_test
    cuda_session_test cuda_order_test cuda_turns_test cuda_times_test"
end_called="chorus cuda_dnn_nets_test cuda_launch_test cuda_nccl_test"

anew
ROWS=resnet18-bf16,mlp path=$tools: call first
says a_first_call_succeeds 0 'cuda_steps_test 1 passed 0 failed 0 skipped'
called and_runs_in_its_order $all_called ncu compute-sanitizer $end_called
check a_row_is_measured_without_cuDNN_if_need_be "$(cat "$work/folder/rows.md")" \
    grep -q '^| resnet18-bf16 | 10.0 ms without cuDNN (with it chorus: exit 1: cuDNN cannot) | ' "$work/folder/rows.md"
kernels() { grep -o 'regex:^k_[0-9]*' "$work/calls" | tr -dc '0-9\n' | tr '\n' ' '; }
check ncu_takes_the_four_slowest "$(cat "$work/calls")" test "$(kernels)" = '50 40 30 20 '
check the_sanitizer_has_two_tools "$(cat "$work/calls")" \
    test "$(grep -c 'compute-sanitizer --tool \(memcheck\|racecheck\) ' "$work/calls")" = 4
check tests_need_no_cuDNN "$(cat "$work/calls")" \
    eval '! grep -E "(steps|update|layers|norm|conv|block|session|order|turns)_test cudnn=on" "$work/calls"'
check each_row_is_measured_once_more_with_cuDNN "$(cat "$work/calls")" eval \
    '[ "$(grep "^cuda_times_test" "$work/calls" | sed "s/.*row_//" | tr "\n" ,)" = "0 cudnn=off,1 cudnn=off,2 cudnn=off,3 cudnn=off,4 cudnn=off,5 cudnn=off,1 cudnn=on,4 cudnn=on,5 cudnn=on," ]'
check the_times_are_JSON "$(cat "$work/folder/times.jsonl")" python3 -c \
    "import json; assert len([json.loads(l) for l in open('$work/folder/times.jsonl')]) == 9 * 6"
check what_it_prints_is_seen_whole "$(wc -c <"$work/out")" \
    test "$(sed -n "/^== The end/,\$p" "$work/out" | wc -c)" -lt 12000

anew
echo 'No devices found.' >"$work/gpus"
call first
says without_a_GPU_it_stops 1 'stopped: nvidia-smi finds no GPU'
check before_it_starts_chorus "$(cat "$work/calls")" test ! -s "$work/calls"

# Nothing is lost because no library answers and no tool is there.
anew slow-devices
echo '[ "${CHORUS_CUDNN-}" = off ] || exit 1' >"$work/behaviour/cuda_times_test"
call first
says what_is_missing_is_passed_over 1 'devices-without-cudnn 0 passed 1 failed 0 skipped, stopped after 20 s' \
    'devices 0 passed 1 failed 0 skipped, stopped after 30 s' \
    'cuda_times_test-row_5-cudnn 1 passed 1 failed 0 skipped, exit code 1, after: ok begun' 'skipped ncu: it is not installed' \
    'skipped compute-sanitizer: it is not installed'
called and_all_else_runs $all_called $end_called

anew slow-devices step-takes
ROWS=resnet18-bf16 call first
check a_slow_machine_is_left_in_time "$took s" test "$took" -le 240
check and_launches_are_measured "$(cat "$work/out" "$work/folder/times.jsonl")" grep -q '"us": 10.00' "$work/folder/times.jsonl"

# What fails runs once more, and then no GPU time is lost on what needs it.
anew
echo 'echo "  wrong.c:7: the cause"; printf "0 passed, 1 failed, 0 skipped\n"; exit 1' >"$work/behaviour/cuda_layers_test"
call first
says a_test_that_fails_ends_it 1 'stopped: a test fails' ' wrong.c:7: the cause' \
    'cuda_layers_test 0 passed 1 failed 0 skipped, exit code 1, after: ok begun'
check after_it_ran_launch_by_launch "$(cat "$work/calls")" \
    test "$(tail -n 1 "$work/calls")" = 'cuda_layers_test cudnn=off blocking'
# Stopped by its time between tests that pass: slow. Else it hangs.
anew
echo 'touch "$work/hangs"; sleep 60' >"$work/behaviour/cuda_conv_test"
call first
called a_slow_test_is_passed_over $all_called $end_called
check its_lines_are_there "$(cat "$work/folder/cuda_conv_test.log")" grep -qx 'ok begun' "$work/folder/cuda_conv_test.log"
echo 'echo in the middle; touch "$work/hangs"; sleep 60' >"$work/behaviour/cuda_conv_test"
call first
check a_test_that_hangs_ends_it "$(cat "$work/calls")" \
    test "$(tail -n 1 "$work/calls")" = 'cuda_conv_test cudnn=off blocking'

# The second call: what is known of the peers is not measured again.
anew
call second
called a_second_call_runs_in_its_order cuda_parity_test cuda_stream_test chorus cuda_memory_test peer
says and_has_a_row_with_its_peers 0 '| mlp | 10.0 ms | | | | jax scan 30.0 ms | 3.00 | 1.5: met | jax scan 0.0300, torch captured 0.0300 | | |'
grep -v '"chorus"' "$work/folder/speeds.jsonl" >"$kit/tests/bench/gpu-peers.jsonl"
anew
call second
called peers_are_not_measured_twice cuda_parity_test cuda_stream_test chorus cuda_memory_test
check but_their_speed_is_kept "$(cat "$work/out")" grep -q '| jax scan 30.0 ms | 3.00 | 1.5: met |' "$work/out"
anew
sed -i 's/H200/H100/' "$kit/tests/bench/gpu-peers.jsonl"
call second
check another_GPU_has_its_own "$(cat "$work/calls")" grep -q '^peer jax' "$work/calls"
rm "$kit/tests/bench/gpu-peers.jsonl"
anew step-takes
call second
check a_slow_second_call_ends_in_time "$took s" test "$took" -le 400

# `make check-gpu` runs every test, and its end says what failed. A test without time has failed.
anew step-takes many
path=$tools: call all
check a_test_without_time_has_failed "$(cat "$work/out")" \
    eval 'grep -q ": no time is left$" "$work/out" && tail -n 1 "$work/out" | grep -q " 0 skipped$"'
rm "$work/many"
anew
echo 'No devices found.' >"$work/gpus"
call all
says without_a_GPU_all_is_skipped 0 'skipped: nvidia-smi finds no GPU' '0 passed, 0 failed, 1 skipped'
anew
echo 'for i in {1..2000}; do echo "  wrong.c:9: consequence $i"; done; exit 1' >"$work/behaviour/wrong"
echo 'kill -SEGV $$' >"$work/behaviour/crash"
echo 'touch "$work/hangs"; sleep 60' >"$work/behaviour/hangs"
call all
says all_tests_run 1 'good 1 passed 0 failed 0 skipped' 'wrong 1 passed 1 failed 0 skipped, exit code 1, after: ok begun' \
    'crash 1 passed 1 failed 0 skipped, exit code 139, after: ok begun' \
    'hangs 1 passed 1 failed 0 skipped, stopped after 200 s, after: ok begun' 'program 5 passed 0 failed 0 skipped' \
    '10 passed, 3 failed, 1 skipped'
part tests/gpu/gpu_tests <<'SH'
echo 'error while loading shared libraries: libc.so.7'
exit 127
SH
call all
says tests_that_do_not_start_are_no_skip 1 'stopped: gpu_tests does not start: error while loading shared libraries: libc.so.7'

# ---- the kit ----

# What a row of cuda_times_test prints: each product has its blocks and slabs.
twin=${BUILD:-build}/normal/tests/parity/cuda_times_test
cat >"$work/times.py" <<'PY'
import json, sys
rows = [json.loads(line) for line in sys.stdin if line.startswith("{")]
assert rows[-1]["launches"] == len(rows) - 1 and rows[-1]["step_us"] > 0
for row in rows[:-1]:
    assert row["us"] > 0 and len(row["grid"]) == 3
    products = {"k_sid": 2, "k_con": 1, "k_blo": 1}.get(row["kernel"][:5], 0)
    assert len(row["jobs"]) == products and all(j["blocks"] * j["slabs"] > 0 for j in row["jobs"])
PY
if [ -x "$twin" ]; then
    check a_launch_has_blocks_and_slabs "$("$twin" lenet)" eval '"$twin" lenet | python3 "$work/times.py"'
else
    skip a_launch_has_blocks_and_slabs "there is no $twin (it takes g++)"
fi

cp "$(type -P true)" "$work/program"
make_kit() { CHORUS_DATA=$work/data sh make/kit.sh "$work/made" "$work/program" "$work/program" "$work/$1" >"$work/out" 2>"$work/err"; }
mkdir -p "$work/data/mnist"
for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    : >"$work/data/mnist/$f-ubyte.gz"
done
with() # with MIB: a program of tests of this size
{
    head -c "$1M" /dev/zero >"$work/zeros" && objcopy --add-section .size="$work/zeros" "$work/program" "$work/large"
}
check a_kit_has_two_calls "$(cat "$work/err")" eval \
    'make_kit program && [ "$(cd "$work/made" && find . -maxdepth 1 -perm -100 -type f | sort | xargs)" = "./chorus ./chorus-cuda.so ./first ./second" ]'
# A GPU is what nvidia-smi says. FOLDER is where the call is typed.
(cd "$work" && echo >gpus && PATH=$bin:$PATH CLOCK='' made/first here >out 2>&1)
check a_call_is_typed_anywhere "$(cat "$work/out")" grep -q 'stopped: nvidia-smi finds no GPU' "$work/here/table.txt"
check MNIST_goes_along_where_there_is_room "$(ls "$work/made/data")" test -e "$work/made/data/mnist"
with 44
check and_only_there "$(cat "$work/out" "$work/err")" eval '! make_kit large || [ ! -e "$work/made/data/mnist" ]'
with 55
check a_kit_that_is_too_large_is_refused "$(cat "$work/out")" eval '! make_kit large && grep -q "more than 54$" "$work/err"'

# Only the kit's kernels know their source lines.
compiled() { make -n V=1 BUILD="$work/b" FLAVOUR="$1" "$work/b/$1/nvcc/src/cuda/kernels/act.cu.o" 2>&1; }
if grep -qs '^CUDA := ' "${BUILD:-build}/normal/config.mk"; then
    check a_kit_knows_source_lines "$(compiled kit)" eval 'compiled kit | grep -q -- " -lineinfo "'
    check a_build_does_not "$(compiled normal)" eval 'compiled normal | grep nvcc | grep -qv -- -lineinfo'
else
    skip a_kit_knows_source_lines "there is no nvcc"
fi

# All of it: minutes of compiling.
if ((${CHORUS_TEST_ALL:-0})) && grep -qs '^CUDA := ' "${BUILD:-build}/normal/config.mk"; then
    made() { make -j2 BUILD="${BUILD:-build}" gpu-kit >"$work/out" 2>"$work/err"; }
    check the_kit_is_made "$(tail -n 5 "$work/err")" made
    check its_tests_are_all_there "$("${BUILD:-build}"/gpu-kit/tests/gpu/gpu_tests 2>&1)" eval \
        '[ "$("${BUILD:-build}"/gpu-kit/tests/gpu/gpu_tests | wc -l)" -ge 15 ]'
fi

finish
