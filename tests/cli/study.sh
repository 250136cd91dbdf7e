# What tables say of gains, of losses and of averages, and what they leave out.
. "${BASH_SOURCE%/*}/lib.sh"

# field FILE ROW COLUMN
field()
{
    awk -F, -v row="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
        NR == row + 1 { print $c }' "$1"
}

# number KEY: of the object in ./out
number()
{
    sed -n "s/.*\"$1\": \([-0-9.e]*\).*/\1/p" out | tail -n 1
}

# near A B: to a billionth
near()
{
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d < 1e-9 && d > -1e-9) }'
}

# ---- gains: each with its epoch, the same everywhere ----
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=3 devices=1 lr=0.2 epochs=5 --quiet && three=$(cat out)
exits 0 "$CHORUS" compare "$three" --csv gains.csv
exits 0 "$CHORUS" ensemble "$three" --json
check "ensemble's gain is compare's last" near "$(number gain_mean)" "$(field gains.csv 1 last.gain_mean)"
check "over the best one too" near "$(number gain_best)" "$(field gains.csv 1 last.gain_best)"
check "and its best compare's bare one" near "$(number best_gain_mean)" "$(field gains.csv 1 gain_mean)"
check "both name their epochs" test "$(number epoch) $(number best_epoch)" = \
    "5 $(column "$three" best_epoch)"
exits 0 "$CHORUS" compare "$three"
check "compare says at which epochs" grep -q "gain_\* at best_epoch, last.gain_\* at the last epoch" out
exits 0 "$CHORUS" ensemble "$three"
check "ensemble says so" grep -q "at the last epoch, 5, its gain is [-+][0-9.]* points over the mean member" out
check "how the best was picked" grep -q "at the best epoch, [1-5] (picked on test), its gain was" out
exits 0 "$CHORUS" report "$three" -o report
check "and the report" grep -q "at the best epoch, [1-5] (picked on test), its gain was" report/index.html

# ---- one definition of a loss ----
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=2 devices=1 batch=20 lr=3000 momentum=0.95 epochs=2 --quiet
wild=$(cat out)
exits 0 "$CHORUS" ensemble "$wild" --csv && cp out wild.csv
check "a member's loss is training's, however large" near "$(field wild.csv 1 nll)" \
    "$(awk -F, 'END { print loss } $1 == 2 && $2 == 0 { loss = $6 }' "$wild/members.csv")"
check "the whole's too" near "$(field wild.csv 4 nll)" "$(column "$wild" last_test_loss)"
check "which is far beyond the floor of a float" awk -v loss="$(field wild.csv 1 nll)" 'BEGIN { exit !(loss > 104) }'
exits 0 "$CHORUS" predict "$wild" --json
check "predict says the same" near "$(number test_loss)" "$(column "$wild" last_test_loss)"

# ---- the same labels, other images ----
for set in a b; do
    awk -v set=$set 'BEGIN { srand(7); for (i = 0; i < 120; i++) { line = i % 3
        for (k = 0; k < 64; k++) line = line "," int(rand() * 200) + (set == "b"); print line } }' >$set.csv
    exits 0 "$CHORUS" run tiny.ini data=./$set.csv train_limit=90 test_limit=20 batch=20 epochs=1 --quiet
    cp out $set.run
done
exits 2 "$CHORUS" ensemble "$(cat a.run)" "$(cat b.run)"
check "are not averaged" grep -q "was tested on other images than .* though on the same labels" err

# ---- the best run by validation, where there is some ----
for lr in 0.02 0.05; do
    exits 0 "$CHORUS" run tiny.ini valid=10% lr=$lr epochs=1 --results valid --quiet
done
first=$(ls -d valid/2* | head -n 1)
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR > 1 { $at["val_acc"] = 0.999; $at["test_acc"] = 0.001 } 1' "$first/epochs.csv" >e.csv && mv e.csv "$first/epochs.csv"
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { $at["best_test_acc"] = 0.001 } 1' "$first/run.csv" >r.csv && mv r.csv "$first/run.csv"
exits 0 "$CHORUS" show @best --json --results valid
check "@best goes by validation" grep -q "\"run\": \"${first##*/}\"" out
exits 0 "$CHORUS" compare @all --md --results valid
check "as the bold row does" grep -q "\*\*0.9990\*\*" out

# ---- an average stands under no run's own settings ----
exits 0 "$CHORUS" run tiny.ini lr=0.05 epochs=2 seed=1 --quiet && one=$(cat out)
exits 0 "$CHORUS" run tiny.ini lr=0.1 epochs=3 seed=1 --quiet && two=$(cat out)
exits 0 "$CHORUS" ensemble "$one" "$two" --json && average=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
check "what differs is several" test "$(column "$average" lr) $(column "$average" epochs)" = "several several"
check "what is the same stands there" test "$(column "$average" seed) $(column "$average" batch)" = "1 40"
check "numbers that differ are empty" test "$(column "$average" lr_used)$(column "$average" images)" = ""
exits 0 "$CHORUS" tag "$average" +kept
check "and stay so when the run is written again" test "$(column "$average" lr)$(column "$average" lr_used)" = several
exits 0 "$CHORUS" compare "$one" "$two" "$average" --csv average.csv
check "in tables too" test "$(field average.csv 3 lr) $(field average.csv 1 lr)" = "several 0.05"
exits 0 "$CHORUS" show "$average"
check "show says so" grep -q "^ *lr  *several" out
exits 0 "$CHORUS" ls
check "ls too" grep -q "several" out
exits 0 "$CHORUS" ls lr=0.05
printf 'input auto\ndense classes\n' >plain.net
exits 0 "$CHORUS" run tiny.ini model=./plain.net train_limit=600 epochs=2 seed=1 --quiet && plain=$(cat out)
exits 0 "$CHORUS" ensemble "$one" "$plain" --json && other=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
exits 0 "$CHORUS" ls "$one" "$plain" "$other"
check "of models and images too" test "$(awk -v name="${other##*/}" '
    NR == 1 { m = index($0, "model"); t = index($0, "train_limit") + 3 }
    $1 == name { print $3, substr($0, t) }' out | awk '{ print $1, $2 }')" = "several several"
exits 0 "$CHORUS" ls "$one" "$other"
check "which is no value that tells runs apart" eval '! grep -q "train_limit" out'
exits 0 "$CHORUS" ls "$average"
check "epochs that differ have no number that all were to reach" grep -q " 3  *0\.[0-9]*" out
refused "nor images of it" "it is an average of runs that did not see the same images" \
    "$CHORUS" run tiny.ini --match "$other"
exits 0 "$CHORUS" run tiny.ini --match "$average" --dry-run
check "of the same images the cost is that of all" grep -q "^# model-images *6,000$" out
exits 0 "$CHORUS" ls lr=0.05
check "no filter takes it for the first" eval '! grep -q "${average##*-}" out'
exits 0 "$CHORUS" predict "$average" --first 1
check "and it predicts" grep -q "member 1" out

check "models of other sizes are not of one cost" eval 'exits 0 "$CHORUS" ensemble "$other" &&
    grep -q "at the training of both, which differ in length and size;" out'
exits 0 "$CHORUS" ls model=several
check "a filter finds what ls calls several" grep -q "${other##*/}" out
for column in lr epochs; do
    exits 0 "$CHORUS" ls $column=several
    check "of $column too" eval 'grep -q "${average##*/}" out && ! grep -q "${other##*/}" out'
done

# ---- an average of runs of unequal length ----
exits 0 "$CHORUS" run tiny.ini epochs=2 seed=1 devices=2 batch=40 lr=0.1 --quiet && two_devices=$(cat out)
exits 0 "$CHORUS" run tiny.ini epochs=3 mode=ensemble members=2 member_order=own lr=0.1 seed=1 --quiet && own=$(cat out)
exits 0 "$CHORUS" ensemble "$two_devices" "$own" --json && uneven=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
check "keys that one of them alone uses are no difference" grep -qx \
    "they differ in devices, epochs, which the new run's columns call several" err
check "and stand as that one has them" test "$(column "$uneven" member_order) $(column "$uneven" devices)" = "own several"
check "no step, no number of images" test "$(field "$uneven/epochs.csv" 1 step)$(field "$uneven/epochs.csv" 1 images)" = ""
check "all model-images" test "$(field "$uneven/epochs.csv" 1 model_images)" = $(($(column "$two_devices" images) + 2 * $(column "$own" images)))
exits 0 "$CHORUS" show "$uneven"
check "show has no images of it" eval '! grep -Eq "^ *images " out'
exits 0 "$CHORUS" plot "$uneven" "$own" --x images -o images.tex
check "nor is it drawn over them" grep -q "not drawn, since it is an average of runs that are not equally far on this axis (images)" err
check "its values are not there" eval '! grep -q "^0," images.csv'
exits 0 "$CHORUS" plot "$uneven" "$own"
check "over epochs it is" test ! -s err
exits 0 "$CHORUS" report "$uneven" -o uneven
check "a report's manifest has no value where they differ" test "$(grep -Ec '^(devices|epochs) = several$' uneven/manifest.txt)" = 2
check "with the network of them all" test -s "uneven/$(sed -n 's/^model = //p' uneven/manifest.txt)"
check "and names the models" test "$(sed -n 's/^# averaged: //p' uneven/manifest.txt | tr '\n' ' ')" = \
    "${two_devices##*/} member 0 of ${own##*/} member 1 of ${own##*/} "
exits 0 "$CHORUS" ensemble "$uneven"
check "its page tells the cost as ensemble does" grep -q "$(grep -o "at the training of all 3, which differ in length" out)" \
    uneven/index.html
exits 0 "$CHORUS" report "$other" -o other
check "nor one model of several" test "$(grep -c '^model = several$' other/manifest.txt)" = 1
exits 0 "$CHORUS" ensemble "$one" "$two_devices" --json && even=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
check "of equal length it has both" test "$(field "$even/epochs.csv" 1 step) $(field "$even/epochs.csv" 1 images)" = \
    "$(field "$one/epochs.csv" 2 step) $(column "$one" images)"

# ---- no model twice, wherever it was computed ----
exits 0 "$CHORUS" run tiny.ini epochs=1 mode=data-parallel,ensemble members=2,3 devices=1 --name nested --quiet
smaller=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["members"] == 2 { print $at["run"] }' \
    results/sweeps/nested/sweep.csv)
refused "a smaller ensemble is within a larger one" "each model can stand in an average once, so leave out $smaller" \
    "$CHORUS" ensemble mode=ensemble sweep=nested
threads=$("$CHORUS" run tiny.ini lr=0.05 epochs=2 seed=1 threads=1 devices=4 sync_bn=yes name=where --quiet)
refused "other devices and threads make no other model" "same model as ${one##*/}, of the same seed and settings: each model can stand in an average once, so leave out ${threads##*/}" \
    "$CHORUS" ensemble "$one" "$threads"
refused "not in an average either" "leave out ${threads##*/}" "$CHORUS" ensemble "$threads" "$even"
apart=$("$CHORUS" run tiny.ini lr=0.05 epochs=2 seed=1 devices=4 --quiet)
exits 0 "$CHORUS" ensemble "$one" "$apart"
check "but where batch norm's statistics are each device's own" grep -q "^ensemble " out

# `weights` is the place of a file: its contents may be others by now.
base=$("$CHORUS" run tiny.ini epochs=1 name=base --quiet)
tuned=$("$CHORUS" run tiny.ini epochs=1 weights="$base" name=tuned --quiet)
twin=$("$CHORUS" run tiny.ini epochs=1 weights="$base" name=twin --quiet)
started="tiny.ini epochs=1 weights=$base lr=0.1,0.2 --name started"
exits 0 "$CHORUS" run $started --quiet
exits 0 "$CHORUS" run $started
check "nothing is said of weights that are as they were" test "$(grep -c "weights = " err)" = 0
exits 0 "$CHORUS" resume "$base" epochs=3 --quiet
exits 0 "$CHORUS" run $started
check "of others it is said that cells have begun from those before" \
    grep -q "^weights = .*${base##*/} was written anew since 2 cells ended: their results are of what it held before" err
later=$("$CHORUS" run tiny.ini epochs=1 weights="$base" name=later --quiet)
exits 0 "$CHORUS" ensemble "$tuned" "$later"
check "nor where the weights to start from are others by now" grep -q "^ensemble " out
exits 2 "$CHORUS" ensemble "$tuned" "$twin"
check "but the same answers are" grep -q "${twin##*/} is the same model as ${tuned##*/}: each model" err

exits 0 "$CHORUS" compare "$tuned" "$twin" "$later" --over seed
check "nor is one left out as the other's repeat" grep -q "^tuned-[^ ]*  *2 " out
check "but the twin is" grep -q "^1 run repeats another" out

# ---- the order in which models saw the images ----
table="tiny.ini data=./a.csv train_limit=90 test_limit=20 batch=20 epochs=1"
same=$("$CHORUS" run $table mode=ensemble members=2 devices=1 name=same --quiet)
single=$("$CHORUS" run $table lr=0.1 name=single --quiet)
exits 0 "$CHORUS" ensemble "$single" "$same" --json && average=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
check "of one seed it is the same" test "$(column "$average" member_order)" = same
other_seed=$("$CHORUS" run $table seed=1 --quiet)
exits 0 "$CHORUS" ensemble "$other_seed" "$same" --json && average=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
check "of an ensemble and a model of another seed neither" test "$(column "$average" member_order)" = several
check "which is said" grep -qx "they differ in member_order, which the new run's columns call several" err
third_seed=$("$CHORUS" run $table seed=2 --quiet)
exits 0 "$CHORUS" ensemble "$third_seed" "$average" --json && average=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
check "nor of that and another one" test "$(column "$average" member_order)" = several
for at in best 1; do
    refused "an average has no other weights than its last ($at)" \
        "is an average of runs, which is known at its last epoch alone: leave out --at $at" \
        "$CHORUS" predict "$average" --at $at
done
refused "weights says so too" "known at its last epoch alone" "$CHORUS" weights "$average" --at best -o at.safetensors
exits 0 "$CHORUS" predict "$average" --at last --first 1

# ---- a cell that goes on by itself ----
exits 0 "$CHORUS" run tiny.ini lr=0.02,0.05 epochs=2 --name longer --quiet
cell=$(field results/sweeps/longer/sweep.csv 2 run)
cp results/sweeps/longer/sweep.csv before.csv
exits 0 "$CHORUS" resume "$cell" epochs=3 --quiet
check "its row of the sheet waits" test "$(field results/sweeps/longer/sweep.csv 2 state)" = waiting
check "without its results" test -z "$(field results/sweeps/longer/sweep.csv 2 last_test_acc)"
check "the other row is as it was" cmp -s <(sed -n 1,2p before.csv) \
    <(sed -n 1,2p results/sweeps/longer/sweep.csv)

# ---- one run that cannot be read does not keep the others back ----
for lr in 0.01 0.02 0.05; do
    exits 0 "$CHORUS" run tiny.ini lr=$lr epochs=2 --results some --quiet
done
exits 0 "$CHORUS" plot @all -o names.tex --results some
check "curves are named by what differs" grep -q "addlegendentry{lr=0.02 train}" names.tex
check "legends below their own panels" test "$(grep -c "legend style={at={(0.5,-0.2)}" names.tex)" = 2
exits 0 "$CHORUS" run tiny.ini lr=0.01,0.02 seed=1,2 epochs=2 --results bands --quiet
exits 0 "$CHORUS" plot @all --metric test_acc --over seed --band sd -o bands.tex --results bands
check "bands in pgfplots" test "$(grep -c "fill opacity=0.18, forget plot" bands.tex)" = 2
check "with the values of their outlines" grep -q ",epoch of band of test_acc: lr=0.02,band of test_acc: lr=0.02$" bands.csv
exits 0 "$CHORUS" report @all -o wide --results some
exits 0 "$CHORUS" compare --help
check "what a wide table takes in LaTeX is said" grep -q "^  --tex .*booktabs.*graphicx" out
check "a table wider than a page is scaled down" grep -q "resizebox{.ifdim.width>.linewidth" wide/tables/runs.tex
check "without columns that tell nothing" grep -q "^the same in all rows: .*state = done" wide/tables/runs.tex
check "which are no columns then" eval '! grep -q "& state &" wide/tables/runs.tex'
check "gnuplot's loss and accuracy, each in its range" test "$(grep -c "^set yrange \[[0-9.]*:[0-9.]*\]" wide/plot.gp)" = 2
check "named by what differs" grep -q "title 'lr=0.02 test'" wide/plot.gp
if command -v gnuplot >/dev/null; then
    check "gnuplot draws them" sh -c 'cd wide && gnuplot plot.gp 2>&1 && grep -q "lr=0.05" curves-gnuplot.svg'
else
    skip "gnuplot draws them" "there is no gnuplot"
fi
if command -v pdflatex >/dev/null && kpsewhich pgfplots.sty booktabs.sty >/dev/null; then
    {
        printf '%s\n' '\documentclass[a4paper]{article}' '\usepackage[margin=15mm]{geometry}' \
            '\usepackage{pgfplots,booktabs,graphicx}' \
            '\pgfplotsset{compat=1.17}' '\begin{document}'
        printf '\\noindent\\input{%s}\n\n' bands.tex wide/tables/runs.tex
        echo '\end{document}'
    } >paper.tex
    check "LaTeX takes bands and the wide table" sh -c \
        'pdflatex -interaction=batchmode -halt-on-error paper.tex >/dev/null || { tail -n 20 paper.log; false; }'
    check "no line of which is too wide" eval '! grep -q "^Overfull .hbox" paper.log'
else
    skip "LaTeX takes bands and the wide table" "there is no pdflatex with booktabs and pgfplots"
fi
awk 'BEGIN { srand(7); split("кот,пёс,=1+1", word, ","); for (i = 0; i < 120; i++) { line = word[i % 3 + 1]
    for (k = 0; k < 64; k++) line = line "," int(rand() * 200); print line } }' >letters.csv
exits 0 "$CHORUS" run tiny.ini data=./letters.csv train_limit=90 test_limit=20 batch=20 epochs=1 --quiet && words=$(cat out)
exits 0 "$CHORUS" plot "$words" --kind confusion -o words.tex
check "letters that LaTeX lacks are told" grep -q "stand as ? in PDF and LaTeX" err
check "and are not in the file" eval '! grep -q "[^ -~]" words.tex'
check "the number tells the class" grep -q "{[0-2] ???}" words.tex
exits 0 "$CHORUS" plot "$words" --kind confusion -o words.svg
check "an SVG has them" grep -Eq ">[0-2] пёс<" words.svg
exits 0 "$CHORUS" predict "$words" --confusion --csv -
check "no class is a formula" grep -q "^'=1+1," out
bad=$(ls -d some/2* | sed -n 2p) torn=$(ls -d some/2* | sed -n 3p)
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { $at["parameters"] = "many" } 1' "$bad/run.csv" >r.csv && mv r.csv "$bad/run.csv"
for verb in "compare @all --csv left.csv" "export @all -o left.csv" "export @all --wide -o left.csv" \
    "plot @all -o left.svg" "report @all -o left"; do
    # shellcheck disable=SC2086
    exits 0 "$CHORUS" $verb --results some --force
    check "${verb%% *} leaves it out in a sentence" grep -q \
        "^chorus: ${bad##*/} is left out: .*/run.csv:2 cannot be read: its column parameters holds 'many'" err
done
exits 0 "$CHORUS" export @all -o left.csv --results some --force
check "and takes the others" test "$(rows left.csv)" = 4
printf '7,8\n9,9\n' >>"$torn/epochs.csv"
for verb in "compare @all --csv left.csv" "export @all -o left.csv" "export @all --wide -o left.csv" \
    "plot @all -o left.svg"; do
    # shellcheck disable=SC2086
    exits 0 "$CHORUS" $verb --results some --force
    check "${verb%% *} leaves out one whose epochs.csv is broken" grep -q \
        "^chorus: ${torn##*/} is left out: .*/epochs.csv:[34]" err
done
refused "where it is the only one" "epochs.csv:" "$CHORUS" export "${torn##*/}" --results some
refused "of a table too" "cannot be read: " "$CHORUS" compare "${torn##*/}" --results some
exits 2 "$CHORUS" compare "${bad##*/}" "${torn##*/}" --results some
check "where none is left" grep -q "none of these 2 runs can be read" err

# ---- what is not empty stays, whatever verb is told to write there ----
echo "# mine" >notes.md && cp notes.md notes.tex && cp notes.md notes.csv && cp notes.md notes.svg
cp notes.md notes.safetensors && cp notes.md notes && cp tiny.ini again.ini
printf 'label,pixel1\n3,0\n' >set.csv
stays()
{
    local file=$1
    shift
    cp "$file" was
    refused "$1 leaves $file alone" "$file: this file is not empty; --force replaces it" "$CHORUS" "$@"
    check "it stays" cmp -s "$file" was
}
stays notes.md compare "$one" "$two" --csv notes.md
stays notes.md compare "$one" "$two" --md -o notes.md
stays notes.tex compare "$one" "$two" -o notes.tex
stays notes compare "$one" "$two" -o notes
stays set.csv compare "$one" "$two" --csv set.csv
stays again.ini export "$one" -o again.ini
stays notes.csv export "$one" -o notes.csv
stays again.ini predict "$one" --csv again.ini
stays set.csv predict "$one" --confusion --csv set.csv
stays notes.svg plot "$one" -o notes.svg
stays notes.tex plot "$one" -o notes.tex
stays notes.safetensors weights "$one" -o notes.safetensors
for file in own.csv own.md own.tex own.html own.json own.txt own; do
    exits 0 "$CHORUS" compare "$one" "$two" -o $file
    stays $file compare "$two" "$one" -o $file
    exits 0 "$CHORUS" compare "$two" "$one" -o $file --force
done
check "--force replaces it" test "$(head -n 1 own.csv | cut -d, -f1)" = run
exits 0 "$CHORUS" export "$one" -o own.csv --force
exits 0 "$CHORUS" predict "$one" --csv own.csv --force
check "whoever wrote it" grep -q "^image,label," own.csv
exits 0 "$CHORUS" plot "$one" -o own.svg
exits 0 "$CHORUS" plot "$one" -o own.svg --size 90x60mm --force
exits 0 "$CHORUS" plot "$one" -o own.pdf
exits 0 "$CHORUS" plot "$one" "$two" -o own.pdf --force
exits 0 "$CHORUS" weights "$one" -o own.safetensors
exits 0 "$CHORUS" weights "$two" -o own.safetensors --force
: >mine.csv
exits 0 "$CHORUS" compare "$one" "$two" --csv mine.csv
check "an empty file is nobody's" grep -q "^run," mine.csv
refused "before any work" "--force replaces it" "$CHORUS" compare nobody --csv mine.csv

# ---- a network and a data set that were changed under their names ----
# table SHIFT: 120 rows of three classes, whose labels are shifted by so much
table()
{
    awk -v by="$1" 'BEGIN { srand(3); for (i = 0; i < 120; i++) { line = (i + by) % 3
        for (k = 0; k < 4; k++) line = line "," i % 3 + rand(); print line } }'
}
table 0 >rows.csv
printf 'param width 8\ninput auto\ndense $width\nrelu\ndense classes\n' >own.net
own="model=./own.net data=./rows.csv train_limit=90 test_limit=20 batch=10 epochs=2 lr=0.1"
exits 0 "$CHORUS" run $own seed=1,2 --name narrow --quiet
sed -i 's/width 8/width 16/' own.net
exits 0 "$CHORUS" run $own seed=2,3 --name wide --quiet
exits 0 "$CHORUS" compare narrow wide --csv -
check "an edited network differs" grep -q "^run,state,seed,network_hash," out
exits 0 "$CHORUS" compare narrow wide --over seed
check "no mean is over two networks" test "$(grep -c '^own-....  2  #' out)" = 2
check "and no run of one repeats one of the other" eval '! grep -q "repeats another" out'
exits 0 "$CHORUS" plot narrow wide --over seed --frame 90x20
check "each has its curve" test "$(grep -o '#........ test' out | sort -u | wc -l)" = 2
exits 0 "$CHORUS" report narrow wide -o networks
check "and its row in a report" test "$(wc -l <networks/tables/seeds.csv)" = 3

exits 0 "$CHORUS" run $own --quiet && before=$(cat out)
exits 0 "$CHORUS" run $own mode=ensemble members=2 --quiet && two=$(cat out)
cp rows.csv kept.csv
table 1 >rows.csv
exits 0 "$CHORUS" run $own --quiet && after=$(cat out)
exits 0 "$CHORUS" compare "$before" "$after" --csv -
check "changed data differ" grep -q "^run,state,data_hash," out
refused "more epochs on other data" "rows.csv has changed since run" "$CHORUS" resume "$before" epochs=3
check "which leave the run as it was" state_is "$before" done
exits 0 "$CHORUS" predict "$before"
check "predict says so" grep -q "rows.csv has changed since .* was trained on it" err
exits 0 "$CHORUS" ensemble "$two"
check "ensemble too" grep -q "rows.csv has changed since .* was trained on it" err
cp kept.csv rows.csv
exits 0 "$CHORUS" ensemble "$two" --json
check "what was said of them is not kept" near "$(number test_acc)" "$(column "$two" last_test_acc)"
check "nor is there more to say" eval '! grep -q "has changed" err'
exits 0 "$CHORUS" run ${own/limit=90/limit=100} seed=2 --quiet && more=$(cat out)
exits 0 "$CHORUS" ensemble "$before" "$more" --json && answered=$(number test_acc)
average=$(sed -n 's/.*"folder": "\([^"]*\)".*/\1/p' out)
check "an average of other data has several" test "$(column "$average" data_hash)" = several
kept=$(stat -c %i "$average/predictions.safetensors")
exits 0 "$CHORUS" ensemble "$average" --json
check "its kept answers are taken" test "$(stat -c %i "$average/predictions.safetensors")" = "$kept"
check "and are what they were" test "$(number test_acc)" = "$answered"
exits 0 "$CHORUS" resume "$before" epochs=3 --quiet
check "on its own data it goes on" test "$(rows "$before/epochs.csv")" = 3
sweep="model=./own.net data=./rows.csv train_limit=90 test_limit=20 batch=10 epochs=2 lr=0.01,0.1"
exits 0 "$CHORUS" run $sweep --name again
check "a sweep has no more cells than its own" eval '! grep -q "sweep.csv has" err'
table 1 >rows.csv
exits 0 "$CHORUS" run $sweep --name again
check "a changed set is cells anew" grep -q "^2 cells: 2 done" err
check "and those of the earlier one are told" grep -q \
    "^results/sweeps/again/sweep.csv has 2 cells more that were run under this name: .*; chorus ls again lists all runs" err
exits 0 "$CHORUS" run $sweep --name again --json
check "and have no part in its best" eval 'grep -q "\"results\": 2, \"left\": 0, \"others\": 2, " out &&
    grep -q ",$(sed "s/.*\"best_run\": \"\([^\"]*\)\".*/\1/" out),done,.*,yes$" results/sweeps/again/sweep.csv'
exits 0 "$CHORUS" run $sweep --name again --max-cells 1 --quiet
exits 0 "$CHORUS" ls again results/sweeps/again
check "they are no cells of its grid" grep -qF "again: 4 results; --max-cells 1 leaves out 1 of the 2 cells" err
check "which is said once" test "$(grep -c "max-cells" err)" = 1

# ---- a cell that went on is another setting ----
exits 0 "$CHORUS" run $sweep --name further
cell=$(awk -F, '$5 == 0.1 { print $2 }' results/sweeps/further/sweep.csv)
exits 0 "$CHORUS" resume "$cell" epochs=40
check "its cell waits again" grep -q ",,waiting,went on to 40 epochs: no result of this cell any more,0.1,," \
    results/sweeps/further/sweep.csv
exits 0 "$CHORUS" run $sweep --name further --dry-run
check "it would be run" grep -q "^# with a result     1 of 2: not run again; 1 would run$" out
exits 0 "$CHORUS" run $sweep --name further --json
check "and is" grep -q "^1 of 2 cells have a result already, 1 to run$" err
check "which makes it whole" grep -q '"results": 2, "left": 0' out
check "in a folder of its own" \
    eval 'awk -F, "\$5 == 0.1 && \$3 == \"done\" { print \$2 }" results/sweeps/further/sweep.csv | grep -v "^$cell$"'
exits 0 "$CHORUS" run $sweep --name further
check "once" grep -q "^2 of 2 cells have a result already, 0 to run$" err

# ---- an average of finished runs is known at its end alone ----
base="model=./own.net data=./rows.csv train_limit=90 test_limit=20 batch=10 lr=0.1"
exits 0 "$CHORUS" run $base epochs=3 seed=1,2 --name pair --quiet
exits 0 "$CHORUS" run $base epochs=3 mode=ensemble members=4 devices=1 --name four --quiet
exits 0 "$CHORUS" run $base epochs=1 --name brief --quiet
exits 0 "$CHORUS" ensemble pair && average=$(tail -n 1 out)
exits 0 "$CHORUS" compare "$average" brief --equal epochs --csv -
check "it costs no more in an epoch" grep -q "an average of runs: known at its end alone" out
exits 0 "$CHORUS" compare "$average" four --target 0.01 --csv - && cp out target.csv
check "nor came it to an accuracy at an epoch" test "$(field target.csv 1 target_epoch),$(field target.csv 2 target_epoch)" = ",1"
exits 0 "$CHORUS" compare "$average" four --target 0.01
check "which is said" grep -q "target_\* of an average of runs is empty too" out
exits 0 "$CHORUS" compare "$average" four --scaling --csv -
check "nor has it a speed" eval '! grep -q "^${average##*-}" out && test "$(rows out)" = 1'
exits 0 "$CHORUS" plot four --kind prefix -o prefix.svg
check "the band of all sets is one" eval '! grep -q "a sample" err prefix.svg'
exits 0 "$CHORUS" run $base epochs=1 mode=ensemble members=12 devices=1 --name twelve --quiet
exits 0 "$CHORUS" report twelve -o twelve
check "that of a sample is said to be" grep -q "more than 256 sets, mean and band are those of a sample" twelve/index.html

# ---- accuracies on different test data are not ranked ----
exits 0 "$CHORUS" run tiny.ini test_limit=20 epochs=1 --results tests --quiet
exits 0 "$CHORUS" run tiny.ini test_limit=30 epochs=1 --results tests --quiet
exits 0 "$CHORUS" compare @all --results tests --md
check "no row is the best of other data" eval '! grep -qF "**" out'
check "and it is said" grep -q "tested on different data (data, test\\\\_limit)" out
exits 0 "$CHORUS" compare @all --over seed --results tests --csv differences.csv
check "nor are they subtracted" test "$(field differences.csv 2 difference)$(field differences.csv 1 difference)" = ""
exits 0 "$CHORUS" run tiny.ini test_limit=30 epochs=1 seed=9 --results tests --quiet
exits 0 "$CHORUS" compare @ @2 --results tests --md
check "those of the same are" grep -qF "**" out

# ---- an average has nothing to go on with ----
refused "stop says so" "an average of finished runs" "$CHORUS" stop "$average"
exits 0 "$CHORUS" watch "$average"
check "what was not trained has no training loss" eval '! grep -q nan err'

# ---- the columns of a table are no image ----
printf '%s\n' 0,1,2 1,3,4 0,1,3 1,3,5 >rows.csv
exits 0 "$CHORUS" run model=tiny data=rows.csv:rows.csv batch=2 epochs=1 --quiet && rows=$(cat out)
exits 0 "$CHORUS" predict "$rows" --draw
check "they are not drawn" grep -q "^row 0: " out
exits 0 "$CHORUS" predict "$rows"
check "nor called images" test "$(grep -c image out)" = 0
refused "an empty word" "an empty word ('')" "$CHORUS" run first ''
refused "a device" "/dev/zero is a device" "$CHORUS" run /dev/zero
printf 'a,b,label\n1,2,0\n3,4,1\n1,3,0\n3,5,1\n' >table.csv
refused "augment of a table" "augment = crop:2+erase: it is for images" \
    "$CHORUS" run model=tiny data=table.csv batch=2 epochs=1 augment=crop:2+erase
refused "which flips nothing either" "augment = flip: it is for images" \
    "$CHORUS" run model=tiny data=table.csv batch=2 epochs=1 augment=flip

finish
