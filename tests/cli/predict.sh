# chorus predict: the accuracy of run.csv, and a file that Python opens.
. "${BASH_SOURCE%/*}/lib.sh"

exits 0 "$CHORUS" run tiny.ini --quiet && one=$(cat out)
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=3 devices=2 lr=0.02 --quiet && three=$(cat out)

# accuracy RUN AT COLUMN: as predict computes it and as run.csv has it
same_accuracy()
{
    exits 0 "$CHORUS" predict "$1" --at "$2" --json || return 1
    local got
    got=$(sed 's/.*"test_acc": \([^,]*\),.*/\1/' out)
    test "$got" = "$(column "$1" "$3")" || {
        echo "  $got is not $(column "$1" "$3")"
        return 1
    }
}
check "the last accuracy" same_accuracy "$one" last last_test_acc
check "the best accuracy" same_accuracy "$one" best best_test_acc
check "of an ensemble" same_accuracy "$three" last last_test_acc
check "its best" same_accuracy "$three" best best_test_acc
check "of an epoch that is kept" same_accuracy "$one" 4 last_test_acc

exits 0 "$CHORUS" predict "$one"
check "ten predictions" test "$(grep -cE '^ +[0-9] ' out)" = 10
check "and the accuracy" grep -q "^accuracy 0\.[0-9]* *, loss .* over 300 test images" out
exits 0 "$CHORUS" predict "$three" --first 2
check "members" grep -q "member 2" out
check "--first" test "$(grep -cE '^ +[0-9] ' out)" = 2
check "predictions.safetensors" test -s "$three/predictions.safetensors"
python=${CHORUS_PYTHON:-python3}
if "$python" -c "import numpy, safetensors" 2>/dev/null; then
    check "Python opens it" "$python" -c '
import sys, numpy, safetensors.numpy, csv
t = safetensors.numpy.load_file(sys.argv[1] + "/predictions.safetensors")
p = t["probabilities"]
assert p.shape == (3, 300, 10) and t["labels"].shape == (300,), "shapes"
assert t["images"].shape[0] == 300, "images"
assert abs(p.sum(-1) - 1).max() < 1e-5, "sums"
acc = (p.astype("f8").mean(0).argmax(-1) == t["labels"]).mean()
row = next(csv.DictReader(open(sys.argv[1] + "/run.csv")))
assert abs(acc - float(row["last_test_acc"])) < 1e-9, acc' "$three"
else
    skip "Python opens it" "there is no safetensors package"
fi

refused "no run" "needs one RUN" "$CHORUS" predict
refused "an unknown run" "nonsense" "$CHORUS" predict nonsense
refused "--first of nonsense" "--first x" "$CHORUS" predict "$one" --first x
refused "--at of nonsense" "'sometime' is not best, last" "$CHORUS" predict "$one" --at sometime
refused "an epoch that is not kept" "epoch 99" "$CHORUS" predict "$one" --at 99
cp -r "$one" results/bare && rm results/bare/*.safetensors
refused "a run without weights" "no weights yet" "$CHORUS" predict bare

finish
