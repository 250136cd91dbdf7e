# chorus compare, export and ensemble: numbers against the files that they come from.
. "${BASH_SOURCE%/*}/lib.sh"

# a b c d: two learning rates, two seeds; e: an ensemble of three
for lr in 0.02 0.05; do
    for seed in 1 2; do
        exits 0 "$CHORUS" run tiny.ini lr=$lr seed=$seed --quiet
        runs+=("$(cat out)")
    done
done
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=3 devices=1 lr=0.02 --quiet && ensemble=$(cat out)

# field FILE ROW COLUMN
field()
{
    awk -F, -v row="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
        NR == row + 1 { print $c }' "$1"
}

exits 0 "$CHORUS" compare "${runs[@]}" --csv all.csv
check "only what differs" test "$(head -n 1 all.csv | cut -d, -f 3-5)" = "lr,seed,best_epoch"
check "best accuracy" test "$(field all.csv 1 test_acc)" = "$(column "${runs[0]}" best_test_acc)"
check "the loss at that epoch" test "$(field all.csv 1 test_loss)" = \
    "$(column "${runs[0]}" best_test_loss)"
check "the last accuracy" test "$(field all.csv 2 last.test_acc)" = \
    "$(column "${runs[1]}" last_test_acc)"
exits 0 "$CHORUS" compare "${runs[@]}"
check "picked on test is said" grep -q "picked on test" out
exits 0 "$CHORUS" compare "${runs[@]}" --sort -test_acc --csv - && cp out sorted.csv
check "sorted" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "test_acc") c = i }
    NR > 2 && $c > before { exit 1 } NR > 1 { before = $c }' sorted.csv
exits 0 "$CHORUS" compare "${runs[@]}" --over seed --csv over.csv
check "two rows of two" test "$(wc -l <over.csv) $(field over.csv 1 n) $(field over.csv 2 n)" = "3 2 2"
check "the mean" awk -v a="$(column "${runs[0]}" best_test_acc)" \
    -v b="$(column "${runs[1]}" best_test_acc)" -v got="$(field over.csv 1 test_acc)" \
    'BEGIN { d = (a + b) / 2 - got; exit !(d < 1e-12 && d > -1e-12) }'
LC_ALL=C exits 0 "$CHORUS" compare "${runs[@]}" --over seed
check "deviations in ASCII where the locale has no more" eval 'grep -q "[0-9] +-[0-9]" out && ! grep -q "±" out'
exits 0 "$CHORUS" compare "${runs[0]}" "$ensemble" --equal model-images --json
images=($(sed -n 's/.*"model_images": \([0-9]*\).*/\1/p' out))
check "the single model is read at its end" test "${images[0]}" = "$(column "${runs[0]}" model_images)"
check "the ensemble within its cost" test "${images[1]}" -le "${images[0]}" -a \
    "${images[1]}" = "$(($(column "$ensemble" model_images) / $(column "$ensemble" epochs)))"
check "where each was read is told" grep -q 'read_at.*its end' out
check "and that a schedule had not ended" grep -q '"schedule_ended": "no"' out
exits 0 "$CHORUS" compare "${runs[@]}" --tex --digits 2 --head "test_acc=Accuracy (%)"
check "LaTeX" grep -q 'Accuracy (\\%)' out
exits 0 "$CHORUS" compare "${runs[@]}" -o form.csv
check "the form of a name" cmp -s all.csv form.csv
exits 0 "$CHORUS" compare "${runs[@]}" --md
check "Markdown" grep -q '^| run | state | lr |' out
exits 0 "$CHORUS" compare "${runs[@]}" --target 0.0001 --csv target.csv
check "the crossing of a target" test "$(field target.csv 1 target_epoch)" = 1
exits 0 "$CHORUS" compare "${runs[@]}" --scaling
check "scaling" grep -q "efficiency" out
once()
{
    test "$(head -n 1 out)" = "$1"
}
exits 0 "$CHORUS" compare "${runs[@]}" --cols run,lr,test_acc,state,test_acc --csv -
check "a column that is there already, once" once "run,state,lr,seed,test_acc"
exits 0 "$CHORUS" compare "${runs[@]}" --cols lr,target_seconds,test_acc --target 0.01 --over seed --csv -
check "over seeds too" test -z "$(head -n 1 out | tr , '\n' | sort | uniq -d)"
check "with what was asked for" grep -q ",lr,test_acc,test_acc_sd,.*,target_seconds," out
refused "no runs" "compare needs RUNs" "$CHORUS" compare
refused "an unknown column" "did you mean test_acc?" "$CHORUS" compare "${runs[0]}" --cols test_ac
refused "sorting by nothing" "no column of this table" "$CHORUS" compare "${runs[0]}" --sort x
refused "equal what" "--equal days" "$CHORUS" compare "${runs[0]}" --equal days
refused "a table under another form's name" "ends in .csv, .md" "$CHORUS" compare "${runs[0]}" -o x.pdf
exits 0 "$CHORUS" compare "${runs[0]}" -o ./plain && check "a name without an end" test -s plain
refused "a form under another form's name" "name it *.md" "$CHORUS" compare "${runs[0]}" --md -o x.csv
exits 0 "$CHORUS" compare "${runs[0]}" -o named.tex
check "the ending says the form" grep -q tabular named.tex
refused "two forms, whatever the name" "one form at a time" "$CHORUS" compare "${runs[0]}" --md --tex -o x.md
refused "two forms" "one form at a time" "$CHORUS" compare "${runs[0]}" --md --tex
refused "over nothing" "--over sed is no key" "$CHORUS" compare "${runs[0]}" --over sed
refused "a target of nonsense" "--target 2" "$CHORUS" compare "${runs[0]}" --target 2

# ---- export ----
exits 0 "$CHORUS" export "${runs[@]}" -o long.csv
epochs=$(($(wc -l <"${runs[0]}/epochs.csv") - 1))
check "what was written is counted" grep -q "^long.csv: 4 runs, $((4 * epochs)) rows of epochs.csv" err
exits 0 "$CHORUS" export @all -o every.csv
check "@all is every run" grep -q "^every.csv: 5 runs, " err
refused "CSV under another form's name" "-o NAME.csv" "$CHORUS" export @ -o x.xlsx
check "is not written" test ! -e x.xlsx
refused "weights under another form's name" "-o NAME.safetensors" "$CHORUS" weights @ -o x.pt
check "a row an epoch and run" test "$(wc -l <long.csv)" = $((4 * epochs + 1))
check "the epoch's rate by another name" grep -q ',lr_now,' <(head -n 1 long.csv)
check "no name twice" test -z "$(head -n 1 long.csv | tr , '\n' | sort | uniq -d)"
check "values as they stand" test "$(field long.csv 1 train_loss)" = \
    "$(field "${runs[0]}/epochs.csv" 1 train_loss)"
exits 0 "$CHORUS" export "${runs[@]}" --wide --metric test_loss
check "wide: a column a run" test "$(head -n 1 out | tr , '\n' | wc -l)" = 5
exits 0 "$CHORUS" export "$ensemble" --members -o members.csv
check "members" test "$(wc -l <members.csv)" = $((3 * epochs + 1))
exits 0 "$CHORUS" export "$ensemble" --steps
exits 0 "$CHORUS" export "$ensemble" --devices
refused "members of single models" "none of these runs is an ensemble" \
    "$CHORUS" export "${runs[0]}" --members
refused "a metric that is none" "did you mean test_acc?" \
    "$CHORUS" export "${runs[0]}" --wide --metric test_ac
(LC_ALL=de_DE.UTF-8 exits 0 "$CHORUS" export "${runs[@]}" -o other.csv) 2>/dev/null
check "the same bytes in another locale" cmp -s long.csv other.csv

# ---- computed values ----
exits 0 "$CHORUS" run tiny.ini lr=geom:0.01:0.1:3 --order grid --name geom --quiet
exits 0 "$CHORUS" compare geom
check "in as many digits as tell them apart" test "$(awk 'NR > 1 && NF > 3 { print $3 }' out | head -n 3 |
    sort -g | tr '\n' ' ')" = "0.01 0.0316 0.1 "
exits 0 "$CHORUS" compare geom --csv -
check "but in files with all" grep -q ",0.0316227766016837[0-9]," out
exits 0 "$CHORUS" plot geom --kind board
check "and in boards with few" grep -q "^ *0.0316  " out
exits 0 "$CHORUS" ls geom
check "in lists too" grep -q " 0.0316 " out

# ---- parameters of a model, which are no columns of run.csv ----
cat >wide.net <<'NET'
param   width 8
input   auto
dense   $width
relu
dense   classes
NET
exits 0 "$CHORUS" run tiny.ini model=./wide.net model.width=16 --dry-run --json
check "a dry run tells them" grep -q '"model.width": 16,' out
exits 0 "$CHORUS" run tiny.ini model=./wide.net epochs=1 model.width=4,16 lr=0.05,0.1 --order grid --name wide --quiet
check "the sheet has them" test "$(for row in 1 2 3 4; do
    field results/sweeps/wide/sweep.csv $row model.width; done | tr '\n' ' ')" = "4 4 16 16 "
exits 0 "$CHORUS" compare wide --csv wide.csv
check "they differ" test "$(field wide.csv 1 model.width)$(field wide.csv 4 model.width)" = 416
exits 0 "$CHORUS" compare wide --over lr --csv over.csv --force
check "and keep settings apart" test "$(rows over.csv)$(field over.csv 1 n)" = 22
exits 0 "$CHORUS" plot wide --kind board
check "a board walks them" grep -qE " 16( |$)" out
exits 0 "$CHORUS" export wide -o wide.csv --force
check "an export tells them" test "$(field wide.csv 1 model.width)$(field wide.csv 4 model.width)" = 416
exits 0 "$CHORUS" watch wide
check "watch tells them" grep -q "^cell 4 of 4 .*model.width=16" err

# ---- what is no result is in no mean ----
exits 0 "$CHORUS" run tiny.ini lr=0.02 seed=1,2,3 epochs=2 target_acc=0.3 --name part --quiet
last=$(cut -d, -f2 results/sweeps/part/sweep.csv | tail -n 1)
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { $at["state"] = "diverged"; $at["best_test_acc"] = 0.999 } 1' "results/$last/run.csv" >r.csv
mv r.csv "results/$last/run.csv"
exits 0 "$CHORUS" compare part --over seed --csv part.csv
check "a diverged run is in no mean" test "$(field part.csv 1 n)" = 2
check "nor did it come to a target" test "$(field part.csv 1 target_n)" -le 2
exits 0 "$CHORUS" compare part --over seed
check "which is said" grep -q "^1 run is not done" out
exits 0 "$CHORUS" show @best sweep=part --json
check "and is not the best" eval '! grep -q "$last" out'
exits 0 "$CHORUS" ls part --json
first=$(grep -o '"run": "[^"]*"' out | cut -d'"' -f4 | sort | head -n 1)
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { $at["state"] = "failed" } 1' \
    "results/$first/run.csv" >r.csv
mv r.csv "results/$first/run.csv"
exits 0 "$CHORUS" compare part --over seed --cols picked,state,test_acc --csv part.csv --force
named=$(field part.csv 1 run)
check "a row is named by a run of its mean" test "$named" -a "$named" != "${first#*-*-*-*-*-}"
check "words have no mean, but a value" test "$(field part.csv 1 picked)" = test
check "or several" grep -qE ',"(failed|done|diverged), (failed|done|diverged), (failed|done|diverged)",' part.csv

# ---- very many: 1,000 runs of 100 epochs ----
mkdir many
cp "${runs[0]}/epochs.csv" hundred.csv
for ((row = epochs + 1; row <= 100; row++)); do
    sed -n "2s/^[0-9]*/$row/p" "${runs[0]}/epochs.csv"
done >>hundred.csv
for name in $(seq -f 2026-11-01-000000-%04g 0 999); do
    mkdir "many/$name" && ln "${runs[0]}/experiment.ini" "many/$name" &&
        ln hundred.csv "many/$name/epochs.csv" &&
        sed "2s/^[^,]*/$name/" "${runs[0]}/run.csv" >"many/$name/run.csv"
done
case $CHORUS in *asan*) asan=1 ;; esac
for command in "export --force -o many.csv" "export --force --wide -o wide.csv"; do
    if ! command -v python3 >/dev/null || ((${asan:-0})); then
        skip "memory of $command" "of a sanitized program, or there is no python3"
        continue
    fi
    # shellcheck disable=SC2086
    peak=$(python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' \
        "$CHORUS" ${command%% *} --results many state=done ${command#* })
    check "$command of 1,000 runs in $peak MiB" test "$peak" -lt 100
done
cpu() # milliseconds of both clocks
{
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 }'
}
ms=$(cpu "$CHORUS" export --results many state=done -o many.csv --force)
# Two seconds; a machine that does other things too has more.
if ((${asan:-0})); then
    skip "export of 1,000 runs in time" "of a sanitized program"
else
    check "export of 1,000 runs in $ms ms" test "$ms" -lt $((${CHORUS_TEST_ALL:-0} ? 2000 : 8000))
fi
exits 0 "$CHORUS" export --results many state=done -o many.csv --force
check "all of them" test "$(rows many.csv)" = 100000
# Four times the runs take no sixteen times as long.
plotted()
{
    # shellcheck disable=SC2046
    cpu "$CHORUS" plot --results many $(ls -d many/* | head -n "$1") -o many.svg
}
few=$(plotted 150) && rm many.svg && all=$(plotted 600)
check "both are drawn" test -s many.svg
check "plot of 150 runs in $few ms, of 600 in $all ms" test "$all" -lt $((few * 11 + 50))
# As many settings as runs, on one device and on two.
i=0
for folder in many/2*; do
    i=$((i + 1))
    ((i > 600)) && rm -r "$folder" && continue
    awk -F, -v OFS=, -v i=$i 'NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k }
        NR > 1 { $at["lr"] = 0.001 + int(i / 2) * 1e-6; $at["devices"] = 1 + i % 2 } 1' "$folder/run.csv" >r.csv
    mv r.csv "$folder/run.csv"
done
scaling()
{
    # shellcheck disable=SC2046
    cpu "$CHORUS" compare --results many --scaling $(ls -d many/2* | head -n "$1")
}
few=$(scaling 150) && all=$(scaling 600)
check "scaling of 150 runs in $few ms, of 600 in $all ms" test "$all" -lt $((few * 8 + 100))
rm -r many

# ---- ensemble ----
exits 0 "$CHORUS" ensemble "$ensemble"
check "members, their mean and the whole" grep -q "^mean member" out
check "the whole's accuracy" grep -Eq "^ensemble +$(printf %.4f "$(column "$ensemble" last_test_acc)")" out
check "pairs" grep -q "disagreement" out
check "at what cost" grep -q "at 3 times the training of one" out
if command -v python3 >/dev/null; then
    exits 0 "$CHORUS" predict "$ensemble" --csv answers.csv
    exits 0 "$CHORUS" ensemble "$ensemble" --json
    check "each pair, by their answers" python3 -c '
import csv, json
rows = list(csv.DictReader(open("answers.csv")))
pairs = json.load(open("out"))["pairs"]
for a in range(3):
    for b in range(3):
        if a == b:
            assert pairs[a][str(b)] is None
            continue
        differ = sum(r["member%d_prediction" % a] != r["member%d_prediction" % b] for r in rows)
        assert abs(pairs[a][str(b)] - differ / len(rows)) < 1e-9, (a, b)'
fi
before=$(ls results | wc -l)
exits 0 "$CHORUS" ensemble "${runs[0]}" "${runs[2]}" --json && cp out joined.json
check "a run of its own" test "$(ls results | wc -l)" = $((before + 1))
joined=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' joined.json)
check "that says what it is of" grep -q "average of" "$joined/run.csv"
before=$(ls results | wc -l)
exits 0 "$CHORUS" ensemble "${runs[0]}" "${runs[2]}" --json
check "averaged again it is the same run" cmp -s out joined.json
check "and no other one" test "$(ls results | wc -l)" = "$before"
check "which is said" grep -q "were averaged before: ${joined##*/}" err
exits 0 "$CHORUS" export "${runs[0]}" "$joined" --wide
check "its value stands at its epoch" test "$(awk -F, 'NR > 1 && $3 != "" { print $1, $3 }' out)" = \
    "$epochs $(field "$joined/epochs.csv" 1 test_acc)"
exits 0 "$CHORUS" ensemble "${runs[2]}" "${runs[0]}" --json
check "another order is another one" test "$(ls results | wc -l)" = $((before + 1))
exits 0 "$CHORUS" predict "$joined" --first 1
check "and predicts as any other" grep -q "member 1" out
check "with the accuracy it was kept with" grep -q \
    "^accuracy $(printf %.4f "$(column "$joined" last_test_acc)")" out
exits 0 "$CHORUS" run tiny.ini lr=0.1 seed=1 epochs=2 --quiet && brief=$(cat out)
exits 0 "$CHORUS" ensemble "${runs[0]}" "$brief"
check "what the averaged differ in is said" grep -q "differ in epochs, lr, which the new run.s columns call several" err
check "kept with the run" grep -q "average of runs that differ in epochs, lr:" "$(tail -n 1 out)/run.csv"
check "of unequal cost, not as equal" grep -q "at the training of both, which differ in length" out
uneven=$(tail -n 1 out)
exits 0 "$CHORUS" ensemble "$uneven"
check "nor later" grep -q "at each run's last epoch .* at the training of both, which differ in length" out
check "without a best epoch of its own" test "$(grep -c "at the best epoch" out)" = 0
refused "no model twice" "${runs[0]##*/} is the same model as member 0 of ${uneven##*/}, of the same seed and settings: each model can stand in an average once, so leave out ${runs[0]##*/}" \
    "$CHORUS" ensemble "${runs[0]}" "$uneven"
for average in "$joined" "$uneven"; do
    refused "an average is not trained on" "is an average of runs, which cannot be trained on" \
        "$CHORUS" resume "$average"
    refused "for no more epochs" "is an average of runs, which cannot be trained on" \
        "$CHORUS" resume "$average" epochs=99
done
refused "no experiment trains it" "of different settings (epochs, lr)" "$CHORUS" run @
exits 0 "$CHORUS" note @ mine
refused "whatever its note says" "of different settings (epochs, lr)" "$CHORUS" run @ --dry-run
refused "a single model" "name several runs" "$CHORUS" ensemble "${runs[0]}"
exits 0 "$CHORUS" run tiny.ini test_limit=50 --quiet && fewer=$(cat out)
exits 2 "$CHORUS" ensemble "${runs[0]}" "$fewer"
check "other images" grep -q "50 test images of 10 classes" err
exits 2 "$CHORUS" ensemble "${runs[0]}" "${runs[1]}"
check "images of another seed" grep -q "labels are others" err

# ---- a single model of an ensemble's cost ----
exits 0 "$CHORUS" run --match "$ensemble" --quiet && single=$(cat out)
check "three times the epochs" test "$(column "$single" epochs)" = $((3 * epochs))
check "the same model-images" test "$(column "$single" model_images)" = \
    "$(column "$ensemble" model_images)"
# One that ended in the middle of an epoch: 45 of 120 steps, 2 x 1,800 model-images.
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=2 max_steps=45 patience=9 name=cut --quiet && cut=$(cat out)
exits 0 "$CHORUS" run @ --dry-run
check "a dry run ends with max_steps" grep -q "^# model-images *3,600$" out
exits 0 "$CHORUS" run --match cut && short=$(cat out)
check "of half an epoch as half" test "$(column "$short" epochs_done) $(column "$short" model_images)" = \
    "3 3600"
check "nothing ends it early" test -z "$(column "$short" max_steps)$(column "$short" patience)"
check "under no name of the ensemble's" test -z "$(column "$short" name)"
check "where the cost is the same, no word" test "$(grep -c "match" err)" = 0
exits 0 "$CHORUS" run --match cut batch=500 lr=0.03 --dry-run
check "what is asked for beside it counts" grep -q "^lr = 0.03$" out
check "where it cannot be the same, that is said" grep -q "cost 3,600 model-images, 4 whole epochs cost 4,000" err
exits 0 "$CHORUS" run --match cut batch=500 --quiet && longer=$(cat out)
exits 0 "$CHORUS" compare "$longer" "$cut" --equal model-images
check "what --match leaves over is equal" grep -q "the most is 400 beyond" out
check "both are read at what they cost" eval 'grep -q " 4,000 " out && grep -q " 3,600 " out'
refused "a cost that is not known yet" "not at its end yet (epoch " eval '
    "$CHORUS" run tiny.ini epochs=100000 --name endless --quiet >long 2>&1 </dev/null & echo $! >long.pid
    until_true 30 eval "state_is results/*-endless-* running" >long.err 2>&1
    "$CHORUS" run --match endless
    got=$?; kill $(cat long.pid); wait $(cat long.pid); rm -rf results/*-endless-* long long.err long.pid; (exit $got)'
exits 0 "$CHORUS" run --match "$ensemble" --queue
check "what waits is called by its model" grep -q "/[0-9]*-tiny.ini$" out
exits 0 "$CHORUS" queue
check "and shown as it" grep -qE "tiny +tiny on synthetic" out
exits 0 "$CHORUS" queue rm 1
rm -rf results/queue
refused "epochs as well" "leave out epochs=" "$CHORUS" run --match "$ensemble" epochs=3
for key in max_steps=3 max_minutes=1 patience=2; do
    refused "an end before its epochs'" "leave out ${key%=*}" "$CHORUS" run --match "$ensemble" $key --dry-run
done
refused "other data" "and this is 100; a run of the same cost must have the same data" \
    "$CHORUS" run --match "$ensemble" train_limit=100

# ---- what others read, and what is there already ----
exits 0 "$CHORUS" compare "${runs[@]}" --over seed --csv over.csv --force
exits 0 "$CHORUS" predict "$ensemble" --csv answers.csv --force
exits 0 "$CHORUS" ensemble "$ensemble" --csv && cp out ensemble.csv
exits 0 "$CHORUS" export "${runs[@]}" --wide -o wide.csv --force
exits 0 "$CHORUS" export "${runs[@]}" --steps -o steps.csv
exits 0 "$CHORUS" predict "$ensemble" --classes --csv classes.csv
for file in long.csv members.csv all.csv over.csv answers.csv ensemble.csv wide.csv steps.csv classes.csv; do
    check "$file has its names once and its numbers" opens_whole $file
done
for file in long.csv members.csv all.csv over.csv answers.csv wide.csv steps.csv classes.csv; do
    cp $file before.csv
    exits 0 "$CHORUS" compare @ --csv before.csv --force
    check "a table replaces $file" grep -q "^run,state," before.csv
done
printf 'run,state,when\nmine,done,tuesday\n' >mine.csv
refused "a table of a person's" "compare --csv mine.csv: this file is not empty; --force replaces it" \
    "$CHORUS" compare @ --csv mine.csv
own=$(ls -d results/*/run.csv | head -n 1)
cp "$own" own.csv
refused "a run's own row is not replaced" "--force replaces it" "$CHORUS" export @ -o "$own"
refused "nor by a table" "--force replaces it" "$CHORUS" compare @ --csv "$own"
check "and stays as it was" cmp own.csv "$own"
: >mine.csv # as mktemp leaves it
exits 0 "$CHORUS" compare @ --csv mine.csv
check "what is empty is written" grep -q "^run,state," mine.csv

# ---- pandas ----
python=${CHORUS_PYTHON:-python3}
if "$python" -c "import pandas" 2>/dev/null; then
    for file in long.csv members.csv all.csv over.csv answers.csv ensemble.csv; do
        check "pandas reads $file with all its names" "$python" -c '
import csv, pandas, sys
file = sys.argv[1]
rows = list(csv.reader(open(file)))
t = pandas.read_csv(file)
assert list(t.columns) == rows[0], set(t.columns) ^ set(rows[0])
assert len(t) == len(rows) - 1
if "test_acc" in t:
    assert t["test_acc"].dtype == "float64"' $file
    done
    check "and finds every epoch of every run" "$python" -c '
import pandas, sys
t = pandas.read_csv("long.csv")
assert len(t) == int(sys.argv[1])
assert t.groupby("run")["epoch"].max().eq(t["epochs"].iloc[0]).all()
assert t["seed"].isin([1, 2]).all()' $((4 * epochs))
else
    skip "pandas reads the CSVs with all their names" "there is no pandas"
fi

# ---- a run without a whole epoch ----
exits 3 "$CHORUS" run tiny.ini lr=1e30 --quiet && diverged=$(ls -td results/*-*-*-* | head -n 1)
exits 0 "$CHORUS" compare "${runs[0]}" "$ensemble" "$diverged" --equal model-images --csv equal.csv
check "a run without an epoch says so" grep -q "diverged, no whole epoch" equal.csv
check "and the others are compared" grep -q '"epoch 4, its end",yes' equal.csv
refused "none with one" "none of these runs has a whole epoch" \
    "$CHORUS" compare "$diverged" "$diverged" --equal epochs

finish
