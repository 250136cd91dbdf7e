# day.sh FOLDER [SECONDS]: all that a machine with a GPU is asked for, within SECONDS (570), what matters most
# first: which GPU and libraries; the tests, with those of the program beside them; the speed of chorus alone
# in every row; then each row beside its peers, for as long as there is time. KIT: a folder made by
# `make gpu-kit`. Each line is in a file of FOLDER, which need not be there, as soon as it is known:
#
#     devices.txt               check.txt, program.txt    the tables, and what failed
#     rows.md, rows.err         check.log, program.log    all that the tests print
#
# What was found stands at the end of stdout once more, in less than 12,000 characters. Ends with 1 where a
# test failed.

out=${1:?where to?}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
cd "$KIT" || exit 1
until=$((SECONDS + ${2:-570}))
ROWS=${ROWS:-lenet,resnet18-bf16,cnn,cnn-ensemble,resnet18-tf32,mlp}
# So long the tests have at most, the speeds of chorus alone, and one of these.
TESTS=${TESTS:-200} ALONE=${ALONE:-100} ALONE_ROW=${ALONE_ROW:-30}

left() { echo $((until - SECONDS)); }
least() { echo $(($1 < $2 ? $1 : $2)); }
say() { printf '\n== %s, %d s are left\n' "$1" "$(left)"; }

# Libraries of gigabytes come from a disk that nobody has read yet: meanwhile, on the processor.
CUDA_VISIBLE_DEVICES='' timeout 150 python3 -c 'import jax, torch' >/dev/null 2>&1 &

say "devices"
{
    timeout -k 5 60 ./chorus devices
    timeout -k 5 20 nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,compute_mode --format=csv
} 2>&1 | tee "$out/devices.txt"
if ! grep -q '^CUDA  *GPU' "$out/devices.txt"; then
    echo "skipped: no CUDA device"
    exit 1
fi

# tests NAME SECONDS PROGRAM...: into NAME.txt and NAME.log
tests()
{
    local name=$1 seconds=$2
    shift 2
    [ $# = 0 ] && return
    LIMIT=$(least "$seconds" "$(left)") MOST=60 SANITIZER='' LOG=$out/$name.log \
        timeout -k 5 $((seconds + 30)) bash tests/gpu/check.sh "$@" >>"$out/$name.txt" 2>&1
}
say "tests"
names=$(timeout 60 tests/gpu/gpu_tests 2>/dev/null) || names=all # check.sh says why it does not start
alone='memory|times'
tests program "$TESTS" program &
program=$!
tests check "$TESTS" $(echo "$names" | grep -vE $alone)
wait $program
# What a step takes, and what is gone of the GPU's memory, is told of these tests alone.
for name in $(echo "$names" | grep -E $alone | sort -r); do
    tests check 40 "$name"
done
tables() { grep -hE ' passed .* failed |^[0-9]+ passed, ' "$@" | awk '!seen[$0]++'; }
tables "$out/check.txt" "$out/program.txt"

# speeds SECONDS WORDS...
speeds()
{
    local seconds=$1
    shift
    timeout -k 5 $((seconds + 10)) python3 tests/bench/gpu.py --chorus ./chorus --data data --model "$ROWS" \
        --results "$out/rows.md" --within "$seconds" "$@" 2>>"$out/rows.err"
}
say "speed of chorus alone"
speeds "$(least "$ALONE" "$(left)")" --alone --seconds "$ALONE_ROW"
say "speed beside the peers"
[ "$(left)" -lt 40 ] || speeds $(($(left) - 15))

say "the end"
for name in check program; do
    sed -n '/^What failed:/,/^$/p' "$out/$name.txt" | head -c 2500
    tables "$out/$name.txt"
    grep -h ' us by themselves, ' "$out/$name.log" # where the time of a step goes, above it launch by launch
done
grep -v '^|---' "$out/rows.md" | sed -E 's/ \| an epoch with both takes ([0-9.]+) x its training.*/ | \1/' | head -c 4500
! grep -hqE '^[0-9]+ passed, [1-9][0-9]* failed' "$out/check.txt" "$out/program.txt"
