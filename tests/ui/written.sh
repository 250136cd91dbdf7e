# What `w` writes is what there is: all cells of a sweep, curves by name and as they were measured, and
# figures that say how they were made.
. "${BASH_SOURCE%/*}/lib.sh"

# play LINES...: a script of keys without a terminal
play()
{
    script "$@"
    timeout 120 "$CHORUS" --results results --keys script --frame 80x24 >said 2>&1 </dev/null && return
    echo "ended with $?" >>said
    cat said
    return 1
}

# write FILE KEYS [WHAT]: presses KEYS in a session of its own and writes what is seen into FILE. WHAT: what
# the answer says was written.
write()
{
    play "calm" "keys $2" "calm" "keys w Ctrl-U" "type $1" "keys Enter" "wait written: $1${3:+: $3}" "calm"
}

# field FILE NAME: the values of a column
field()
{
    python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row[sys.argv[2]])' "$@"
}

one results name=first epochs=6
one results name=second epochs=6 lr=0.02
one results batch=50,100 lr=0.01,0.05,0.1 devices=1,2 epochs=2 --name board
run=$(basename results/2*-first-*)
sheet=results/sweeps/board/sweep.csv
onrun="/ f i r s t Enter Enter"
oncompare=4
play "calm" "keys / " "type epochs=6" "keys Enter * 4" "calm" # the marks stay

# ---- Sweep ----
check "a sweep as CSV" write sweep.csv "5" "every cell, as in sweep.csv"
check "is its own file" cmp sweep.csv "$sheet"
check "with the cells of all pages" test "$(wc -l <sweep.csv)" = 13
check "with seconds, losses and runs" grep -q "^cell,run,.*,best_test_loss,.*,train_seconds," sweep.csv
check "a sweep in Markdown" write sweep.md "5" "every cell"
check "has all pages too" test "$(grep -c '^| [15]0' sweep.md)" = 12
mv "$sheet" away
check "without its file the path stays" play "calm" "keys 5" "calm" "keys w Ctrl-U" "type gone.csv" "keys Enter" \
    "wait sweeps/board/sweep.csv" "wait write ("
mv away "$sheet"
check "a page as a figure" write sweep.svg "5" "this page"
check "says which page it is" grep -q ">page devices = [12]</text>" sweep.svg
check "has a scale beside its six cells" test "$(grep -c '<rect x=.* fill="#' sweep.svg)" = 22
check "from dark, which is low" test "$(grep -o ' fill="#[0-9a-f]*' sweep.svg | sed -n '1p')" = ' fill="#252f6b'
check "to light, which is high" test "$(grep -o ' fill="#[0-9a-f]*' sweep.svg | sed -n '16p')" = ' fill="#f7f3b0'
check "the other page" write other.pdf "5 ]" "this page"
check "has another value" grep -aq "(page devices = [12]) Tj" other.pdf
page=$(grep -o 'page devices = [12]' sweep.svg)
check "than the first" test "$(grep -ao 'page devices = [12]' other.pdf | head -n 1)" != "$page"

# ---- Run ----
check "a run as CSV" write run.csv "$onrun"
check "has names and panels" test "$(head -n 1 run.csv)" = "epoch of loss: train steps,loss: train steps,\
epoch of loss: test,loss: test,epoch of accuracy: train acc,accuracy: train acc,epoch of accuracy: test,accuracy: test"
check "a smooth one" write smooth.csv "$onrun m m"
check "holds what was measured" cmp run.csv smooth.csv
check "as steps.csv has it" test "$(field run.csv 'loss: train steps' | sed -n 1,3p)" = \
    "$(field "results/$run/steps.csv" loss | sed -n 1,3p)"
check "over another axis" write seconds.csv "$onrun x x x x"
check "has its whole name" grep -q "^seconds of loss: train steps," seconds.csv
check "a smooth figure" write smooth.svg "$onrun m"
check "says so" grep -q ">train steps smoothed over 5 rows</text>" smooth.svg
check "a plain one" write run.svg "$onrun"
check "says nothing" eval '! grep -q smoothed run.svg'
check "the screen as text" write smooth.txt "$onrun m"
check "says so as well" grep -q "smooth 5 rows" smooth.txt
check "LaTeX reads the CSV" write run.tex "$onrun m"
check "and does not speak of smoothing" eval '! grep -q smoothed run.tex'

# ---- Compare ----
check "the curves as CSV" write curves.csv "$oncompare" "the curves (Tab chooses the table)"
check "by the names of the legend" test "$(head -n 1 curves.csv)" = "epoch of test accuracy: lr=0.05,\
test accuracy: lr=0.05,epoch of test accuracy: lr=0.02,test accuracy: lr=0.02"
check "smooth ones" write smooth-curves.csv "$oncompare m"
check "hold what was measured" cmp curves.csv smooth-curves.csv
check "in per cent" write percent.csv "$oncompare %"
check "too" cmp curves.csv percent.csv
check "the table as CSV" write table.csv "$oncompare Tab" "the table (Tab chooses the curves)"
check "has a row per run" eval 'grep -q "^run," table.csv && test "$(wc -l <table.csv)" = 3'
check "a smooth figure of several" write smooth-curves.svg "$oncompare m"
check "says it" grep -q ">smoothed over 3 points</text>" smooth-curves.svg
check "at equal cost" write equal.pdf "$oncompare m b b"
check "it says at which" grep -aq "(smoothed over 3 points, at equal model-images: [0-9,]*) Tj" equal.pdf
check "Compare as text" write smooth-curves.txt "$oncompare m"
check "says it too" grep -q "smoothed over 3 points" smooth-curves.txt

# ---- from one session to the next ----
settings=$XDG_CONFIG_HOME/chorus/settings
sed -i '/smooth/d; /[.]log/d' "$settings"
check "Run's smoothing and scale" play "calm" "keys $onrun m y" "calm" "save run.txt" "keys $oncompare" "calm" "save compare.txt"
check "are seen" eval 'grep -q "loss, log" run.txt && grep -q " 5 rows" run.txt'
check "are not those of Compare" eval '! grep -q " log[ ,]\|smooth" compare.txt'
check "Compare's" play "calm" "keys $oncompare m y" "calm" "save compare.txt" "keys $onrun" "calm" "save run.txt"
check "are seen too" grep -q "log, smooth" compare.txt
check "not on Run" eval '! grep -q "loss, log\| rows" run.txt'
check "and they end with the session" play "calm" "keys $onrun" "calm" "save run.txt" "keys $oncompare" "calm" "save compare.txt"
check "with all of them" eval '! grep -q "loss, log\| rows" run.txt && ! grep -q " log[ ,]\|smooth" compare.txt'
printf '%s\n' "plot.smooth = 3" "run.log = yes" "compare.log = yes" >"$settings"
check "an old file of settings" play "calm" "keys $onrun" "calm" "save run.txt" "keys 3 / Ctrl-U" "type epochs=6" \
    "keys Enter * 4" "calm" "save compare.txt"
check "has no say in them" eval '! grep -q "loss, log\| rows" run.txt && ! grep -q " log[ ,]\|smooth" compare.txt'
check "where runs are compared" grep -q "lr=0.02" compare.txt

one seeds seed=1,2 epochs=3 --name seeds
script "calm" "keys 3 * 4" "calm" "keys o" "calm" "keys w Ctrl-U" "type over.csv" "keys Enter" "wait written: over.csv"
check "a mean over seeds" timeout 120 "$CHORUS" --results seeds --keys script --frame 80x24 </dev/null
check "has both ends of its band, a row per epoch" eval \
    'grep -q "mean over seed.*, less one sd.*, plus one sd" over.csv && [ "$(wc -l <over.csv)" = 4 ]'
cp "results/$run/run.csv" kept.csv
check "a file of a run" play "calm" "keys $onrun" "calm" "keys w Ctrl-U" "type results/$run/run.csv" "keys Enter" \
    "wait choose another path" "wait write ("
check "stays as it is" cmp "results/$run/run.csv" kept.csv

# ---- the verb ----
exits 0 "$CHORUS" plot "$run" --smooth 4 -o verb.tex
check "values that the verb smoothed say so" grep -q '^"epoch of loss, smoothed over 4 points: train"' verb.csv
exits 0 "$CHORUS" plot "$run" --smooth 4 -o verb.svg
check "as its figure does" grep -q ">smoothed over 4 points</text>" verb.svg
exits 0 "$CHORUS" plot "$run" --smooth 4
check "and its text" grep -q "^loss, smoothed over 4 points" out
exits 0 "$CHORUS" plot board devices=1 --kind board -o verb-board.svg
check "its board says of which runs" grep -q ">where devices=1</text>" verb-board.svg
cp -r results a=b
exits 0 "$CHORUS" plot a=b/2*/ --kind board -o paths.svg --results a=b
check "a path is no such word" eval '! grep -q ">where" paths.svg'
check "and has a scale" test "$(grep -c '<rect x=.* fill="#' verb-board.svg)" = 22
exits 0 "$CHORUS" plot board devices=1 --kind board -o verb-board.tex
check "in LaTeX too" grep -q ", colorbar," verb-board.tex
finish
