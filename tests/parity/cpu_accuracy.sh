# Trains as tests/fixtures/accuracy.csv says, five seeds of three epochs each on the fast CPU backend,
# and holds the mean test accuracy against that of PyTorch or Flax: at most 0.5 points apart, in fp32
# and, where this machine can, in bf16. Takes minutes, so only with CHORUS_TEST_ALL=1.
#     bash tests/parity/cpu_accuracy.sh [NAME...]      runs only those of the fixture
# Data sets are looked for where Debian puts them, and in the folder CHORUS_TEST_DATA.

root=$PWD
fixture=$root/tests/fixtures/accuracy.csv
. "${BASH_SOURCE%/*}/../cli/lib.sh"
unset CHORUS_FAKE
cp -r "$root/tests" "$root/models" . # paths in settings begin at the root

if [ -z "$CHORUS_TEST_ALL" ] && [ $# = 0 ]; then
    skip "accuracy after three epochs" "takes minutes: make check-all, or CHORUS_TEST_ALL=1"
    finish
fi

# mean_of NAME: of the five accuracies in the fixture
mean_of()
{
    awk -F, -v name="$1" '$1 == name { sum += $4; n++ }
                          END { if (n != 5) exit 1; printf "%.4f\n", sum / n }' "$fixture"
}

# One model in one precision.
compare()
{
    local name=$1 precision=$2 settings want got seed
    settings=$(awk -F, -v name="$name" '$1 == name { print $5; exit }' "$fixture")
    want=$(mean_of "$name") || {
        fail "$name" "the fixture has not five seeds of it"
        return
    }
    : >"$name"
    for seed in 0 1 2 3 4; do
        # shellcheck disable=SC2086 # settings are words
        if ! "$CHORUS" run $settings backend=cpu precision="$precision" seed=$seed keep=last --quiet \
            ${CHORUS_TEST_DATA:+--data-dir "$CHORUS_TEST_DATA"} >out 2>err </dev/null; then
            case $(cat err) in
            *"is not here"*) skip "$name, $precision" "its data set is not here" ;;
            *"precision = bf16"*) skip "$name, $precision" "this machine or this program has it not" ;;
            *) fail "$name, $precision" "$(tail -n 3 err)" ;;
            esac
            return
        fi
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
                 END { print $c["test_acc"] }' "$(tail -n 1 out)/epochs.csv" >>"$name"
    done
    got=$(awk '{ sum += $1 } END { printf "%.4f\n", sum / NR }' "$name")
    echo "  $name, $precision:" $(cat "$name")
    check "$name, $precision: mean of five seeds $got, fixture $want" \
        awk -v a="$got" -v b="$want" 'BEGIN { exit !(a - b <= 0.005 && b - a <= 0.005) }'
}

for name in ${*:-$(awk -F, 'NR > 1 && !seen[$1]++ { print $1 }' "$fixture")}; do
    for precision in fp32 bf16; do
        compare "$name" "$precision"
    done
done
finish
