# chorus plot: text frames and SVG.
. "${BASH_SOURCE%/*}/lib.sh"

exits 0 "$CHORUS" run tiny.ini epochs=6 --quiet && one=$(cat out)
exits 0 "$CHORUS" run tiny.ini epochs=5 lr=0.01 valid=100 --quiet && two=$(cat out)

exits 0 "$CHORUS" plot "$one" --frame 120x20
check "a frame has its size" test "$(wc -l <out)" = 20
check "loss and accuracy" grep -q "^loss .*accuracy" out
check "training and test" grep -q "train .*test" out
check "Braille" grep -qE "⠒|⠤|⠉|⣀" out
check "no colours in a file" test "$(grep -c $'\033' out)" = 0
exits 0 "$CHORUS" plot "$one" --frame 60x30
check "above each other where it is narrow" grep -q "^accuracy" out
exits 0 "$CHORUS" plot "$one" --ascii
check "--ascii" test "$(LC_ALL=C grep -c '[^ -~]' out)" = 0
exits 0 "$CHORUS" plot "$one" --level ascii
check "--level ascii" test "$(LC_ALL=C grep -c '[^ -~]' out)" = 0
exits 0 "$CHORUS" plot "$one" --level block
check "--level block" grep -qE "▄|▀|▚|▞" out
check "has no Braille" test "$(grep -cE "⠒|⠤|⠉|⣀" out)" = 0
(export LC_ALL=C && exits 0 "$CHORUS" plot "$one")
check "a locale without UTF-8" test "$(LC_ALL=C grep -c '[^ -~]' out)" = 0
exits 0 "$CHORUS" plot "$one" --metric test_acc --x seconds --frame 160x30
check "a column over seconds" grep -q "seconds of training" out
exits 0 "$CHORUS" plot "$one" --metric loss --log y
check "--log y" grep -q "^loss" out
exits 0 "$CHORUS" plot "$one" "$two" --frame 150x24
check "several runs are named by what differs" grep -q "^loss by valid " out
check "and what is drawn of them" grep -q " 0 train.* 0 test.* 100 train" out
check "the last number of x is there" grep -qE " epoch +6( |$)" out
exits 0 "$CHORUS" plot "$two" --metric acc
check "validation has a curve" grep -q "valid" out
for x in epoch step images model-images seconds device-seconds; do
    exits 0 "$CHORUS" plot "$one" --x $x --frame 80x24
    check "--x $x" test -s out
done

exits 0 "$CHORUS" plot "$one" "$two" -o curves.svg
check "an SVG file" grep -q "^<svg xmlns" curves.svg
check "its name on stdout" test "$(cat out)" = curves.svg
check "real text in it" grep -q ">accuracy</text>" curves.svg
check "for dark grounds too" grep -q "prefers-color-scheme: dark" curves.svg
exits 0 "$CHORUS" plot "$one" "$two" -o CURVES.SVG
check "the same by a name in capitals" cmp curves.svg CURVES.SVG
if command -v python3 >/dev/null; then
    check "it is well-formed" python3 -c '
import xml.etree.ElementTree as tree
tree.parse("curves.svg")'
else
    skip "it is well-formed" "there is no python3"
fi

refused "no run" "needs a RUN" "$CHORUS" plot
refused "an unknown run" "nonsense" "$CHORUS" plot nonsense
refused "a frame of nonsense" "--frame 120" "$CHORUS" plot "$one" --frame 120
refused "a frame that is too small" "16x5" "$CHORUS" plot "$one" --frame 10x3
refused "a frame that is too large" "1000x1000" "$CHORUS" plot "$one" --frame 99999x99999
refused "a frame that is too low for two" "the 10 rows that" "$CHORUS" plot "$one" --frame 80x9
exits 0 "$CHORUS" plot "$one" --frame 80x10
check "the lowest for two draws both" test "$(grep -c "┤" out)" -ge 4
exits 0 "$CHORUS" plot "$one" --frame 80x5 --metric loss
check "a lower one for one" grep -q "┤" out
exits 0 "$CHORUS" plot "$one" --frame 90x5
check "and for two beside each other" test "$(grep -o "┤" out | wc -l)" -ge 3
refused "a column of text" "--metric ended_utc" "$CHORUS" plot "$one" --metric ended_utc
check "is not suggested" test "$(grep -c "mean ended_utc" err)" = 0
refused "validation of a run without" "no value in this run" "$CHORUS" plot "$one" --metric val_loss
exits 0 "$CHORUS" plot "$one" "$two" --metric val_loss
check "but of one of two" grep -q "┤" out
refused "an unknown column" "did you mean test_acc?" "$CHORUS" plot "$one" --metric test_ac
refused "an unknown axis" "--x days" "$CHORUS" plot "$one" --x days
refused "a logarithmic x" "--log x" "$CHORUS" plot "$one" --log x
refused "other kinds" "--kind pie is not curve, scaling" "$CHORUS" plot "$one" --kind pie
refused "a figure of no kind" "ends in .svg, .pdf or .tex" "$CHORUS" plot "$one" -o curves.png
refused "a band of nothing" "--band needs --over" "$CHORUS" plot "$one" --band sd
refused "a band of nonsense" "--band x is neither" "$CHORUS" plot "$one" --over seed --band x
refused "a mean over no key" "--over sed is no key" "$CHORUS" plot "$one" --over sed
exits 1 "$CHORUS" plot "$one" -o none/a.svg
check "a folder that is not there" \
    grep -q "cannot create none/a.svg: there is no folder none; make it, or name another place" err
# What was written is written again with --force.
exits 0 "$CHORUS" compare "$one" -o table.tex
exits 0 "$CHORUS" compare "$one" "$two" -o table.tex --force
check "a table of other columns" grep -q '^% .usepackage.booktabs' table.tex
exits 0 "$CHORUS" weights "$one" -o own.weights
exits 0 "$CHORUS" weights "$two" -o own.weights --force
check "weights of a name of one's own" grep -q "^own.weights: the weights" err
rm table.tex own.weights
refused "a size of nonsense" "--size big" "$CHORUS" plot "$one" -o a.svg --size big
refused "a size of text" "--size and --mono are for files" "$CHORUS" plot "$one" --size 84x60mm
exits 0 "$CHORUS" plot "$one" --metric test_acc && mv out plain
exits 0 "$CHORUS" plot "$one" --metric test_acc --smooth 4
check "--smooth draws another curve" test "$(cmp -s plain out; echo $?)" = 1
refused "an unknown level" "--level sixel is not braille, block or ascii" \
    "$CHORUS" plot "$one" --level sixel
refused "smoothing over nothing" "--smooth 0" "$CHORUS" plot "$one" --smooth 0
refused "a metric of a matrix" "--metric belongs" "$CHORUS" plot "$one" --kind confusion --metric ece
refused "a prefix of a single model" "none of these runs is an ensemble" \
    "$CHORUS" plot "$one" --kind prefix
refused "a board over one key twice" "needs two keys" \
    "$CHORUS" plot "$one" "$two" --kind board --down lr --across lr
refused "a board of one run" "do not differ" "$CHORUS" plot "$one" --kind board

exits 0 "$CHORUS" plot "$one" "$two" --kind board
check "which epochs were picked on test" grep -qx "Best epochs of runs without validation data were picked on test data." out

# A board over one key.
for key in lr=0.02,0.05 batch=20,40; do
    exits 0 "$CHORUS" run tiny.ini epochs=1 $key repeats=2 --name "only-${key%%=*}" --quiet
    exits 0 "$CHORUS" plot "only-${key%%=*}" --kind board
    check "has ${key%%=*} down" grep -qx " *${key%%=*}  *" out
    check "and no other axis" eval '! grep -q name out'
    check "what its ± is" grep -qx "± is one standard deviation over seeds alone, n = 2 runs of a setting." out
    mv out plain
    exits 0 "$CHORUS" plot "only-${key%%=*}" --kind board --down "${key%%=*}"
    check "which may be asked for" cmp out plain
    exits 0 "$CHORUS" plot "only-${key%%=*}" --kind board --across "${key%%=*}"
    check "across too" test "$(grep -c "0\.[0-9]* ±.*0\.[0-9]* ±" out)" = 1
done
shared=results/$(sed -n 2p results/sweeps/only-batch/sweep.csv | cut -d, -f2)/run.csv
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { $at["shared"] = 3 } 1' "$shared" >r.csv
mv r.csv "$shared"
exits 0 "$CHORUS" plot only-batch --kind board --ascii
check "a board in ASCII" test "$(LC_ALL=C grep -c '[^ -~]' out)" = 0
check "its deviations" grep -q " +-0\.[0-9]" out
exits 0 "$CHORUS" plot only-batch --kind board
check "means are over settings alone" grep -qx "Cells are means over seed." out
exits 0 "$CHORUS" plot only-batch seed=0 --kind board
check "one run is no mean" eval '! grep -q "Cells are means" out'

# Every kind in every form.
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=3 devices=2 epochs=2 --quiet && three=$(cat out)
exits 0 "$CHORUS" run tiny.ini epochs=2 lr=0.02,0.05 devices=1,2 --name grid --quiet
for kind in curve:grid scaling:grid board:grid prefix:"$three" confusion:"$one"; do
    of=${kind#*:} kind=${kind%%:*}
    rm -f kind.*
    exits 0 "$CHORUS" plot "$of" --kind $kind && mv out kind.txt
    check "$kind as text" test "$(wc -l <kind.txt)" -ge 4
    for form in svg pdf tex; do
        exits 0 "$CHORUS" plot "$of" --kind $kind -o kind.$form
        check "as $form" test -s kind.$form
    done
    check "with words" grep -q "<text" kind.svg
    check "in the PDF too" grep -aq ") Tj" kind.pdf
    check "pgfplots" grep -q "begin{axis}" kind.tex
    check "and its values" test "$(rows kind.csv)" -ge 2
done
refused "a board of words" "holds words" "$CHORUS" plot grid --kind board --metric state
exits 0 "$CHORUS" plot grid --kind scaling
check "settings are told apart by what differs" grep -q "lr=0.02" out
check "virtual devices are marked" grep -q "say nothing of speed-up" out
exits 0 "$CHORUS" compare grid --scaling
check "in the table as well" grep -qE "^tiny.* 0.02 +2 +1 .* virtual$" out

# One figure in three forms; words stay words in a PDF.
exits 0 "$CHORUS" plot "$one" "$two" -o c.pdf --size 160x70mm
check "a PDF" grep -aq "^%PDF-1.4" c.pdf
check "with words" grep -aq "(accuracy) Tj" c.pdf
exits 0 "$CHORUS" plot "$one" "$two" -o c.tex
check "pgfplots" grep -q "addplot.*{c.csv}" c.tex
check "its values" test "$(head -n 1 c.csv | tr , '\n' | grep -c "^epoch of ")" -ge 4
exits 0 "$CHORUS" plot "$one" -o c.tex --force
check "over an earlier one" test "$(head -n 1 c.csv | cut -d, -f1,2)" = "epoch of loss: train,loss: train"
echo "a,b" >words.csv
refused "values that would go over another table" "keeps its values in words.csv: " \
    "$CHORUS" plot "$one" -o words.tex
check "which stays" test "$(cat words.csv)" = "a,b"
: >words.csv
exits 0 "$CHORUS" plot "$one" -o words.tex
check "nothing is nobody's" grep -q "^epoch of loss: train,loss: train," words.csv
truncate -s 80M words.csv
exits 0 "$CHORUS" plot "$one" -o words.tex --force
check "however large an earlier one" test "$(wc -c <words.csv)" -lt 100000
rm words.csv && mkdir words.csv
exits 2 "$CHORUS" plot "$one" -o words.tex --force
check "what is no file is said to be so" grep -q "words.csv is not a regular file" err
exits 0 "$CHORUS" plot "$one" "$two" -o m.svg --mono
check "black alone" test "$(grep -c '#0072b2' m.svg)" = 0
exits 0 "$CHORUS" plot "$one" --kind confusion
check "a matrix" grep -q "label against answer" out
exits 0 "$CHORUS" plot grid --kind scaling --ascii
check "speed by devices" grep -q "images per second" out
refused "speed by one number of devices" "scaling takes such, as devices=1,2,4 makes them" \
    "$CHORUS" plot "$one" "$two" --kind scaling
if command -v pdftotext >/dev/null; then
    check "another program reads the PDF" grep -q epoch <(pdftotext c.pdf -)
else
    skip "another program reads the PDF" "there is no pdftotext"
fi
exits 1 "$CHORUS" plot "$one" -o missing/x.svg
check "a folder that is not there" grep -q "missing" err

awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "lr") c = i } NR > 1 { $c = 0 } 1' OFS=, \
    "$one/epochs.csv" >zero.csv
cp -r "$one" results/zero && mv zero.csv results/zero/epochs.csv && unchecked results/zero

# A run with nothing in it yet.
cp -r "$one" results/empty && sed -i 1q results/empty/epochs.csv
exits 0 "$CHORUS" plot empty
check "a run without epochs" grep -q "no values yet" out

refused "a logarithm of nothing above 0" "no value above 0" \
    "$CHORUS" plot zero --metric lr --log y

finish
