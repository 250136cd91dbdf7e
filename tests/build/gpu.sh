# What is taken to a machine with a GPU (tests/gpu/check.sh, tests/bench/gpu.py), with programs that are
# made up here: one without a GPU, one that answers, some that hang. Nothing is lost and nothing stays.

. tests/build/lib.sh

kit=$work/kit
mkdir -p "$kit/tests/gpu"
part() # part FILE: a program from stdin
{
    { echo '#!/bin/bash' && cat; } >"$kit/$1" && chmod +x "$kit/$1"
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
tests() # tests NAME...
{
    KIT=$kit LOG=$work/log MOST=3 LIMIT=${LIMIT:-480} timeout 60 bash tests/gpu/check.sh "$@" \
        >"$work/out" 2>"$work/err"
    ended=$?
}
speeds()
{
    timeout "${LIMIT:-60}" python3 tests/bench/gpu.py --chorus "$kit/chorus" --model mlp --seconds 3 \
        --results "$work/rows" "$@" >"$work/out" 2>"$work/err"
    ended=$?
}
stays() { pgrep -f "$kit/chorus run" >/dev/null; }

part chorus <<'SH'
echo '{"cuda_devices": 0, "cuda": {"reason": "there is no NVIDIA driver here"}}'
SH
part tests/gpu/gpu_tests <<'SH'
[ $# = 0 ] && printf 'one_test\nhangs_test\n' && exit
[ $1 = one_test ] && printf 'ok a\n3 passed, 0 failed, 1 skipped\n' && exit
echo 'begun'
exec sleep 60
SH
tests
says without_a_GPU_all_is_skipped 0 'skipped: no CUDA device: there is no NVIDIA driver here' \
    '0 passed, 0 failed, 3 skipped'
speeds
says and_no_speed_is_measured 0 'skipped: no CUDA device (there is no NVIDIA driver here); 1 rows'

part chorus <<'SH'
[ "$1" = devices ] && echo '{"cuda_devices": 1, "cuda": {}}' && exit
exec sleep 60
SH
tests one_test hangs_test
grep -v '^compute-sanitizer ' "$work/out" | sed 's/  *[0-9]* s$//; s/   */ /g' >"$work/table" &&
    mv "$work/table" "$work/out"
says what_hangs_is_stopped_and_counted 1 'one_test 3 passed 0 failed 1 skipped' \
    'hangs_test ended with 124' 'hangs_test 0 passed 1 failed 0 skipped'
check all_of_it_is_in_the_log "$(cat "$work/log")" grep -qx begun "$work/log"
LIMIT=6 tests program one_test
says who_gets_no_time_has_failed 1 'no time is left for one_test'
check the_program_has_all_that_is_left "$(cat "$work/out")" \
    grep -q 'the program was stopped after [4-6] s' "$work/out"
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

# The whole of it in one go: what hangs takes no more than its part, and all that was found is there.
part chorus <<'SH'
case " $* " in
*' --json '*) echo '{"cuda_devices": 1, "cuda": {}}' && exit ;;
*' devices '*) echo 'CUDA     GPU 0  made up' && exit ;;
*' model=lenet '*) exec sleep 60 ;;
*' model=resnet18 '*) [ "${CHORUS_CUDNN-}" = off ] || { echo 'cuDNN cannot' >&2 && exit 1; } ;;
esac
while [ "$1" != --results ]; do shift; done
mkdir "$2/run"
printf 'isa,wall_seconds\nsm_90,1\n' >"$2/run/run.csv"
echo train_seconds,ended_utc >"$2/run/epochs.csv"
for i in 1 2 3 4 5 6 7; do echo "0.0$i,2026-01-01T00:00:0$i.000Z" >>"$2/run/epochs.csv"; done
echo "$2/run"
SH
part tests/gpu/gpu_tests <<'SH'
[ $# = 0 ] && printf 'memory_test\none_test\nhangs_test\n' && exit
[ $1 = hangs_test ] && exec sleep 60
printf 'ok a\n3 passed, 0 failed, 1 skipped\n'
SH
mkdir -p "$kit/tests/bench/peers"
cp tests/gpu/check.sh "$kit/tests/gpu/" && cp tests/bench/gpu.py "$kit/tests/bench/"
echo "echo '5 passed, 0 failed, 0 skipped'" >"$kit/tests/gpu/cli.sh"
echo 'print("{\"scan\": 0.05}")' >"$kit/tests/bench/peers/gpu_jax.py"
echo 'print("{\"captured\": 0.03}")' >"$kit/tests/bench/peers/gpu_torch.py"
KIT=$kit ROWS=lenet,resnet18-bf16,mlp TESTS=6 ALONE_ROW=7 timeout 100 bash tests/gpu/day.sh "$work/day" 84 >"$work/out" 2>"$work/err"
ended=$?
sed -i 's/  *[0-9]* s$//; s/   */ /g' "$work/out"
says a_day_ends_within_its_time_and_has_it_all 1 'hangs_test 0 passed 1 failed 0 skipped' \
    'one_test 3 passed 0 failed 1 skipped' 'memory_test 3 passed 0 failed 1 skipped' \
    'the program 5 passed 0 failed 0 skipped'
has_rows() # alone, then with peers
{
    [ "$(grep -c '^| lenet | chorus: no answer within ' "$work/day/rows.md")" = 2 ] &&
        grep -q '^| mlp | 10.0 ms | .* | 6,000,000 |  |  | 1.5 |' "$work/day/rows.md" &&
        grep -q '^| resnet18-bf16 | 10.0 ms without cuDNN (with it chorus: exit 1: cuDNN cannot) | ' \
            "$work/day/rows.md" &&
        grep -q '^| mlp | 10.0 ms | .* | torch captured 30.0 ms | 3.00 | 1.5: met |' "$work/day/rows.md"
}
check its_rows_are_of_chorus_alone_and_with_peers "$(cat "$work/day/rows.md" "$work/day/rows.err")" has_rows
check what_it_prints_is_seen_whole "$(wc -c <"$work/out")" test "$(sed -n "/^== the end/,\$p" "$work/out" | wc -c)" -lt 12000

part tests/gpu/gpu_tests <<'SH'
echo 'error while loading shared libraries: libc.so.7'
exit 127
SH
tests
says tests_that_do_not_start_are_no_skip 1 '0 passed, 1 failed, 0 skipped'
KIT=$kit ROWS=mlp TESTS=6 timeout 60 bash tests/gpu/day.sh "$work/none" 20 >"$work/out" 2>"$work/err"
check nor_are_they_left_out_of_a_day "$(cat "$work/out" "$work/err")" \
    grep -q '^gpu_tests does not start: error while loading' "$work/none/check.txt"

# The kit itself: minutes of compiling.
if ((${CHORUS_TEST_ALL:-0})) && grep -qs '^CUDA := ' "${BUILD:-build}/normal/config.mk"; then
    made() { make -j2 BUILD="${BUILD:-build}" gpu-kit >"$work/out" 2>"$work/err"; }
    check the_kit_is_made "$(tail -n 5 "$work/err")" made
    check its_tests_are_all_there "$("${BUILD:-build}"/gpu-kit/tests/gpu/gpu_tests 2>&1)" eval \
        '[ "$("${BUILD:-build}"/gpu-kit/tests/gpu/gpu_tests | wc -l)" -ge 15 ]'
fi

finish
