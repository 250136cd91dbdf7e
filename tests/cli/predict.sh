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

refused "a folder of pictures" "is a folder: name the pictures in it" "$CHORUS" predict "$one" "$work"
refused "a picture that is not there" "there is no file none.png: name pictures, PNG" \
    "$CHORUS" predict "$one" none.png
refused "a picture without a name" "a picture's name is empty" "$CHORUS" predict "$one" ""
refused "a CSV under another name" "name it *.csv" "$CHORUS" predict "$one" --csv answers.txt
refused "a run of other results" "chorus ls --results ${one%/*}/. lists them" \
    "$CHORUS" show nonsense --results "${one%/*}/."
refused "no run" "needs one RUN" "$CHORUS" predict
refused "an unknown run" "nonsense" "$CHORUS" predict nonsense
refused "--first of nonsense" "--first x" "$CHORUS" predict "$one" --first x
refused "--at of nonsense" "'sometime' is not best, last" "$CHORUS" predict "$one" --at sometime
refused "an epoch that is not kept" "epoch 99" "$CHORUS" predict "$one" --at 99
cp -r "$one" results/bare && rm results/bare/*.safetensors
refused "a run without weights" "no weights any more: it is done" "$CHORUS" predict bare

cp -r "$one" results/kept && rm -f results/kept/predictions.safetensors &&
    mkdir results/kept/predictions.safetensors # which cannot be replaced by a file, for root either
exits 0 "$CHORUS" predict kept --first 3
check "predictions that cannot be kept are shown" grep -q "^image " out
check "and that they are not kept is told" grep -q "the predictions could not be kept: " err
rm -r results/kept
exits 0 "$CHORUS" predict "$one" --label 0 --answer 0 --first 0
check "no image is no empty table" eval '! grep -q "^image " out'

# Which images, and in which form.
exits 0 "$CHORUS" predict "$three" --worst 5 --csv worst.csv
check "mistakes alone" awk -F, 'NR > 1 && $2 == $3 { exit 1 }' worst.csv
check "the worst first" awk -F, '
    NR > 1 { right = $(5 + $2); if (right + 0 < before) exit 1; before = right + 0 }' worst.csv
exits 0 "$CHORUS" predict "$three" --sure 300 --csv - && cp out sure.csv
check "the surest first" awk -F, '
    NR > 2 && $4 > before { exit 1 } NR > 1 { before = $4 }' sure.csv
exits 0 "$CHORUS" predict "$three" --csv all.csv
check "all of them" test "$(wc -l <all.csv)" = 301
check "their answers are the run's accuracy" test "$(awk -F, '
    NR > 1 { n++; right += $2 == $3 } END { printf "%.6f", right / n }' all.csv)" = \
    "$(printf %.6f "$(column "$three" last_test_acc)")"
exits 0 "$CHORUS" predict "$three" --split 1 --draw
check "an image is drawn beside its probabilities" grep -q "members say otherwise" out
exits 0 "$CHORUS" predict "$three" --confusion
check "a matrix whose sum is the images" test "$(awk 'NR > 1 && NF > 10 && $1 != "a" {
    for (i = NF - 9; i <= NF; i++) sum += $i } END { print sum }' out)" = 300
exits 0 "$CHORUS" predict "$three" --classes
check "classes" grep -q "precision" out
exits 0 "$CHORUS" predict mode=ensemble members=3 --first 1
check "filters name the run" grep -q "member 2" out
exits 0 "$CHORUS" weights mode=ensemble members=3 -o named.safetensors
check "of weights too" test -s named.safetensors
exits 0 "$CHORUS" predict "$three" --confusion --csv matrix.csv
check "the matrix as CSV" test "$(awk -F, 'NR > 1 { for (i = NF - 9; i <= NF; i++) sum += $i }
    END { print NR, sum }' matrix.csv)" = "11 300"
exits 0 "$CHORUS" predict "$three" --classes --csv - && cp out classes.csv
check "classes as CSV" test "$(head -n 1 classes.csv | cut -d, -f 1-3) $(wc -l <classes.csv)" = \
    "class,images,accuracy 11"
exits 0 "$CHORUS" predict "$three" --first 4 --members --csv members.csv
check "members' probabilities" awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; if (!at["member2_p9"]) exit 1 }
    NR > 1 { mean = ($at["member0_p3"] + $at["member1_p3"] + $at["member2_p3"]) / 3 - $at["p3"]
             sum = 0
             for (c = 0; c < 10; c++) sum += $at["member1_p" c]
             if (mean > 1e-7 || mean < -1e-7 || sum < 0.99999 || sum > 1.00001) exit 1 }' members.csv
refused "two tables in one CSV" "one table" "$CHORUS" predict "$three" --confusion --classes --csv -
refused "members of a matrix" "--members is for --csv" "$CHORUS" predict "$three" --confusion --members
refused "a matrix of some images" "count all images" "$CHORUS" predict "$three" --confusion --worst 3 --csv -
printf 'P2 2 2 255 0 255 255 0' >own.pgm
exits 0 "$CHORUS" predict "$three" own.pgm own.pgm
check "pictures of one's own" test "$(grep -c '^own.pgm: [0-9]' out)" = 2
check "each member's answer under a head" grep -qE "  members: [0-9] [0-9] [0-9]($| )" out
{ printf 'P5 90 30 255\n' && head -c 2700 /dev/zero; } >wide.pgm
exits 0 "$CHORUS" predict "$three" wide.pgm
check "how it was scaled" grep -q "  (squashed from 90x30 to [0-9]*x[0-9]*)$" out
exits 0 "$CHORUS" predict mode=ensemble members=3 own.pgm
check "filters, then pictures" grep -q "^own.pgm: [0-9]" out
refused "an order of pictures" "have no labels" "$CHORUS" predict "$three" own.pgm --worst 3
refused "a matrix of pictures" "have no labels" "$CHORUS" predict "$three" own.pgm --confusion
refused "a picture that is none" "neither PNG nor PGM" "$CHORUS" predict "$three" tiny.ini
refused "a picture that is not there" "nothere.png" "$CHORUS" predict "$three" nothere.png
exits 0 "$CHORUS" predict "$three" --unsure 300 --csv - && cp out unsure.csv
check "the least sure first" awk -F, '
    NR > 2 && $4 < before { exit 1 } NR > 1 { before = $4 }' unsure.csv
exits 0 "$CHORUS" predict "$three" --label 2 --answer 2 --csv - && cp out class.csv
check "one class alone" awk -F, 'NR > 1 && ($2 != 2 || $3 != 2) { exit 1 }' class.csv
refused "a class that is none" "none of the" "$CHORUS" predict "$three" --label nothing
refused "two orders" "one of --first, --worst" "$CHORUS" predict "$three" --worst 1 --sure 1
refused "two forms" "one form" "$CHORUS" predict "$three" --json --draw
refused "--invert of test images" "for PICTUREs" "$CHORUS" predict "$three" --invert

# A name of two lines is one name, kept and read again.
awk 'BEGIN { srand(7); printf "label"; for (k = 0; k < 4; k++) printf ",\"value\n%d\"", k; print ""
    for (i = 0; i < 120; i++) { printf "%s", i % 2 ? "\"one\ntwo\"" : "three"
        for (k = 0; k < 4; k++) printf ",%d", int(rand() * 200); print "" } }' >lines.csv
printf 'input auto\ndense classes\n' >flat.net
exits 0 "$CHORUS" run model=./flat.net data=./lines.csv train_limit=90 test_limit=20 batch=20 epochs=1 --quiet && lines=$(cat out)
exits 0 "$CHORUS" predict "$lines"
check "names are kept a line each" grep -qF '"chorus.class_names":"one two\nthree","chorus.column_names":"value 0\nvalue 1\n' \
    "$lines/predictions.safetensors"
exits 0 "$CHORUS" plot "$lines" --kind confusion -o lines.svg
check "so that each class has its own" grep -q ">three<" lines.svg

finish
