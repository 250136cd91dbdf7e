# chorus report: a folder whose page, figures and tables other programs open.
. "${BASH_SOURCE%/*}/lib.sh"

# Two learning rates on one and two devices, from two seeds; and an ensemble of three.
exits 0 "$CHORUS" run tiny.ini epochs=3 lr=0.02,0.05 devices=1,2 repeats=2 --name board --quiet
exits 0 "$CHORUS" run tiny.ini epochs=3 mode=ensemble members=3 devices=1 lr=0.02 --quiet && ensemble=$(cat out)
one=$("$CHORUS" show @2 --json | sed -n 's/.*"folder": "\([^"]*\)".*/\1/p')

exits 0 "$CHORUS" report board "$ensemble" -o report --title "A <title> & more"
check "its page on stdout" test "$(cat out)" = report/index.html
check "needs nothing else" test "$(grep -Eoc 'src=|url\(|@import|https?://' report/index.html)" = \
    "$(grep -c 'http://www.w3.org/2000/svg' report/index.html)"
check "its title is text" grep -q "A &lt;title&gt; &amp; more" report/index.html
for figure in curves board scaling prefix; do
    check "the figure of $figure in the page" sh -c "sed -n '/<section id=\"$figure\">/,/<\\/section>/p' report/index.html |
        grep -q '^<title>'"
    for form in svg pdf tex csv; do
        check "figures/$figure.$form" test -s report/figures/$figure.$form
    done
done
for table in seeds scaling "members-${ensemble#*-*-*-*-*-}" "subsets-${ensemble#*-*-*-*-*-}" \
    "pairs-${ensemble#*-*-*-*-*-}" equal runs settings notes; do
    check "the table of $table in the page" grep -qE "<section id=\"$table\"[^>]*><h2>" report/index.html
    for form in csv md tex; do
        check "tables/$table.$form" test -s "report/tables/$table.$form"
    done
done
check "the page says what was trained on" grep -q "<td>data</td><td>synthetic</td>" report/index.html
check "with what" grep -q "<td>optimizer</td><td>[a-z]*</td>" report/index.html
check "and leaves out what differs there" eval '! grep -q "<td>seed</td>" report/index.html'
check "the same as a table" grep -q "^batch," report/tables/settings.csv
check "that best epochs were picked on test data" grep -q "picked on test" report/tables/runs.md
check "what its words mean" sh -c 'grep -q "nll: mean of -log of the label.s probability" report/index.html &&
    grep -q "ece: 15 equal bins" report/index.html && grep -q "prefix_acc: of members 0" report/index.html &&
    grep -q "mean over the sets of k" report/index.html && grep -q "at 3 times the training" report/index.html &&
    grep -q "differ, mean over pairs" report/index.html && grep -q "Student" report/index.html'
check "every epoch of every run" test "$(rows report/epochs.csv)" = 27

# The manifest says how to make it again.
check "the command" grep -qxF "command: chorus report board $ensemble -o report --title 'A <title> & more'" \
    report/manifest.txt
check "each run with its seed, version and machine" test "$(grep -cE \
    '^# done, seed [0-9]+, .* on [^ ]+ \(.*\), chorus [0-9.]+.*, 20.*Z to 20.*Z$' report/manifest.txt)" = 9
check "checksums that fit" sh -c 'cd report && sed -n "s/^\([0-9a-f]\{64\}\)  /\1  /p" manifest.txt |
    sha256sum --quiet -c'
check "of all files" test "$(grep -cE '^[0-9a-f]{64}  ' report/manifest.txt)" = \
    "$(find report -type f ! -name manifest.txt | wc -l)"
sed -n "/^run ${ensemble##*/}\$/,/^\$/p" report/manifest.txt | sed 1d >report/again.ini
check "its settings run again" exits 0 "$CHORUS" run report/again.ini --quiet --results again
check "to the same" same_run "$ensemble" "$(cat out)"
rm -r again report/again.ini

cat >wide.net <<'NET'
param   width 8
input   auto
dense   $width
relu
dense   classes
NET
exits 0 "$CHORUS" run tiny.ini model=./wide.net epochs=1 model.width=4,16 --name wide --quiet
sed -i s/relu/tanh/ wide.net
exits 0 "$CHORUS" run tiny.ini model=./wide.net epochs=1 --name other --quiet
exits 0 "$CHORUS" report wide other -o wide
check "networks of one name, each once" sh -c 'grep -q relu wide/networks/wide.net &&
    grep -q tanh wide/networks/wide-2.net && test "$(ls wide/networks | wc -l)" = 2'
check "with their parameters" test "$(sed -n 's/^model.width = //p' wide/manifest.txt | sort -n | xargs)" = "4 16"
sed -n '/^run .*-other-/,/^$/p' wide/manifest.txt | sed 1d >wide/again.ini
check "settings beside them run too" exits 0 "$CHORUS" run wide/again.ini --quiet --results again
check "to the same as well" test "$(column "$(ls -d results/*-other-*)" cell)" = "$(column "$(cat out)" cell)"
rm -r again

# What lay there, and what it may lie over.
exits 0 "$CHORUS" report board "$ensemble" -o report --title "A <title> & more"
check "again, over an earlier one" test -s report/index.html
cp -r report narrower && echo mine >narrower/mine.txt
sed -i "s|^\([0-9a-f]\{64\}\)  epochs.csv|&\n\1  ../tiny.net|" narrower/manifest.txt
exits 0 "$CHORUS" report "$one" -o narrower
check "what only the earlier one had goes" test "$(find narrower -name '*members*' -o -name 'prefix*' | wc -l)" = 0
check "what it did not make stays" test "$(cat narrower/mine.txt)" = mine -a -s tiny.net
mkdir -p thesis/figures && echo mine >thesis/figures/curves.svg
refused "somebody's folder" "no report of chorus" "$CHORUS" report "$one" -o thesis
check "what lies there stays" test "$(cat thesis/figures/curves.svg)" = mine
mv thesis/figures/curves.svg thesis/figures/mine.svg
refused "which --force lets it be written into" "--force" "$CHORUS" report "$one" -o thesis
exits 0 "$CHORUS" report "$one" -o thesis --force
check "it is whole" sh -c "cd thesis && grep -E '^[0-9a-f]{64}  ' manifest.txt | sha256sum --quiet -c"
check "and leaves what it did not write" test "$(cat thesis/figures/mine.svg)" = mine
exits 0 "$CHORUS" report "$one" -o thesis
check "from then on the folder is a report's" test "$(cat thesis/figures/mine.svg)" = mine
mkdir empty
exits 0 "$CHORUS" report "$one" -o empty
check "an empty folder is taken" test -s empty/manifest.txt
check "a seed of a single run" grep -q "<td>seed</td><td>[0-9]*</td>" empty/index.html
refused "a file" "tiny.ini is a file" "$CHORUS" report "$one" -o tiny.ini
refused "no folder" "needs -o DIR" "$CHORUS" report "$one"
refused "no runs" "needs RUNs" "$CHORUS" report -o nothing
exits 1 "$CHORUS" report "$one" -o /proc/nothing
check "a folder that cannot be" grep -q "/proc/nothing" err

exits 0 "$CHORUS" run tiny.ini mode=ensemble members=1 devices=1 epochs=1 --name alone --quiet
exits 0 "$CHORUS" report alone -o alone
check "of one member nothing is averaged" eval '! grep -q "Members of" alone/index.html'

# A run without a whole epoch beside others, and a report that fails.
exits 3 "$CHORUS" run tiny.ini lr=1e30 --name diverged --quiet
exits 0 "$CHORUS" report "$one" "$ensemble" diverged -o mixed
check "a run without an epoch stops no report" grep -q "1 run is left out: diverged" mixed/index.html
exits 0 "$CHORUS" run tiny.ini epochs=1 train_limit=100 --name short --quiet
exits 0 "$CHORUS" report "$one" "$ensemble" short diverged -o mixed
check "nor a short one an ensemble" grep -q 'ensemble,3,.*"epoch 3, its end",yes' mixed/tables/equal.csv
check "which are told apart" test "$(grep -c "its end, spent only" mixed/tables/equal.csv)" = 2
check "without what diverged" test "$(wc -l <mixed/tables/equal.csv)" = 4

# Several sizes of ensemble, one of them matched: both are read at their ends.
for size in 2 4; do
    exits 0 "$CHORUS" run tiny.ini mode=ensemble members=$size epochs=2 --name size$size --quiet
done
exits 0 "$CHORUS" report size2 size4 short -o sizes
check "without a match all are read within the cheapest ensemble" grep -q '^size4-.*"epoch 1 of 2, ' sizes/tables/equal.csv
exits 0 "$CHORUS" run --match size4 --name matched --quiet
exits 0 "$CHORUS" report size2 size4 matched -o sizes
check "an ensemble and what matches it are read at their common end" \
    test "$(grep -cE '^(size4|matched)-.*"epoch [28], its end",yes' sizes/tables/equal.csv)" = 2
check "the page says at which cost" grep -q "Single models and ensembles at [0-9,]* model-images" sizes/index.html
exits 0 "$CHORUS" run --match size2 --name less --quiet
exits 0 "$CHORUS" report size2 size4 matched less -o sizes
check "each pair has a table" eval 'ls sizes/tables/equal-[0-9]*.tex && grep -q "less-.*\"epoch 4, its end\",yes" sizes/tables/equal.csv' >/dev/null
limited()
{
    (trap '' XFSZ && ulimit -f 8 && exec "$CHORUS" report "$one" -o "$1")
}
mkdir there
for folder in half there; do
    exits 1 limited $folder
    check "no half report stays in $folder" test "$(find half there 2>/dev/null)" = there
done
exits 0 "$CHORUS" report "$one" -o half
check "nor stands in the way of the next" test -s half/index.html
cp -r half before
exits 1 limited half
check "nor lies among an earlier one's files" diff -r half before
for folder in half before; do
    rm $folder/plot.gp && mkdir $folder/plot.gp
done
refused "a folder in a file's place" "half/plot.gp is a folder" "$CHORUS" report "$one" -o half --title other
check "before any other file is replaced" diff -r half before
rmdir half/plot.gp
exits 0 "$CHORUS" report "$one" -o half
check "which can be mended" test -s half/plot.gp

# The same bytes in every locale, but for the time.
without_time()
{
    (cd "$1" && sed '/^made /d; /^command: /d; /  index.html$/d' manifest.txt)
}
(export LC_ALL=de_DE.UTF-8 && exits 0 "$CHORUS" report board "$ensemble" -o german --title "A <title> & more") 2>/dev/null
check "the same bytes where the point is a comma" test "$(without_time report)" = "$(without_time german)"
(export LC_ALL=C && exits 0 "$CHORUS" report board "$ensemble" -o c --title "A <title> & more")
check "and where characters are bytes" test "$(without_time report)" = "$(without_time c)"

# Notes, tags and names of every kind.
exits 0 "$CHORUS" note "$one" "the first <one>" && exits 0 "$CHORUS" tag "$one" +handed-in
exits 0 "$CHORUS" report "$one" -o noted
check "notes and tags on the page" grep -q "<td>handed-in</td><td>the first &lt;one&gt;</td>" noted/index.html
exits 0 "$CHORUS" note "$one" "=HYPERLINK(1)"
exits 0 "$CHORUS" report "$one" -o noted
check "a note is no formula" grep -q ",'=HYPERLINK(1)$" noted/tables/notes.csv
cp -r "$one" results/loud
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /_loss$/) c[i] = 1 }
    NR > 1 { for (i in c) if ($i != "") $i = 7000 } { print }' "$one/epochs.csv" >results/loud/epochs.csv
exits 0 "$CHORUS" report "$one" results/loud -o loud
check "a loss that came apart does not hide the others" grep -q "The loss is on a logarithmic scale" loud/index.html
check "as it need not elsewhere" eval '! grep -q "logarithmic" noted/index.html'
rm -r results/loud
cp -r "$one" "results/it's @2" && sed -i "2s/^[^,]*/it's @2/" "results/it's @2/run.csv"
exits 0 "$CHORUS" report "results/it's @2" "$one" -o quoted
check "names are quoted for gnuplot" grep -qF "it''s @2" quoted/plot.gp
rm -r "results/it's @2"

# ---- programs that open it ----
if command -v gnuplot >/dev/null; then
    for folder in report quoted; do
        check "gnuplot draws $folder" sh -c "cd $folder && gnuplot plot.gp >said 2>&1 && test ! -s said || {
            cat said; false; }"
    done
    for figure in curves board scaling prefix; do
        check "the figure of $figure too" grep -q '<path stroke=\|<polygon' report/$figure-gnuplot.svg
    done
    check "every curve and band of the page" test "$(grep -c 'gnuplot_plot_[0-9]*[a-z]*"' report/curves-gnuplot.svg)" = \
        "$(head -n 1 report/figures/curves.csv | tr , '\n' | grep -c '^"*epoch of ')"
    check "the words of the board" grep -q '±' report/board-gnuplot.svg
else
    skip "gnuplot draws it" "there is no gnuplot"
fi
if command -v pdftoppm >/dev/null; then
    for file in report/figures/*.pdf; do
        check "another program draws ${file##*/}" sh -c "pdftoppm -r 40 $file page >said 2>&1 && test ! -s said &&
            test \"\$(pdftotext $file - | wc -w)\" -ge 8"
    done
else
    skip "another program draws the PDFs" "there is no pdftoppm"
fi
check "every CSV has its names once and its numbers" eval 'opens_whole $(find report -name "*.csv")'
python=${CHORUS_PYTHON:-python3}
if "$python" -c "import pandas" 2>/dev/null; then
    check "pandas reads every CSV with all its names" "$python" -c '
import csv, glob, pandas
files = glob.glob("report/**/*.csv", recursive=True)
assert len(files) == 14, files
for file in files:
    rows = list(csv.reader(open(file)))
    t = pandas.read_csv(file)
    assert list(t.columns) == rows[0], (file, set(t.columns) ^ set(rows[0]))
    assert len(t) == len(rows) - 1, file'
else
    skip "pandas reads every CSV with all its names" "there is no pandas"
fi
if command -v pdflatex >/dev/null && kpsewhich pgfplots.sty >/dev/null && kpsewhich booktabs.sty >/dev/null; then
    {
        printf '%s\n' '\documentclass{article}' '\usepackage[utf8]{inputenc}' '\usepackage{booktabs}' \
            '\usepackage[a0paper,landscape]{geometry}' '\usepackage{pgfplots}\pgfplotsset{compat=1.17}' '\begin{document}'
        for file in report/tables/*.tex report/figures/*.tex; do
            printf '\\noindent\\input{../%s}\\clearpage\n' "${file#report/}"
        done
        echo '\end{document}'
    } >all.tex
    cp all.tex report/figures/
    check "LaTeX compiles every table and figure" sh -c 'cd report/figures &&
        pdflatex -interaction=batchmode -halt-on-error all.tex >/dev/null || { tail -n 20 all.log; false; }'
    check "and misses no character" eval '! grep -E "Missing character|Overfull" report/figures/all.log'
else
    skip "LaTeX compiles every table and figure" "there is no pdflatex with booktabs and pgfplots"
fi
# A page in a browser: browse NAME ARGUMENTS...
browse()
{
    timeout 120 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --hide-scrollbars \
        --user-data-dir="$work/browser" "${@:2}" "file://$work/report/index.html" >"$1.log" 2>&1
}
if command -v chromium >/dev/null; then
    browse light --window-size=1000,1400 --screenshot="$work/light.png"
    browse dark --window-size=1000,1400 --blink-settings=preferredColorScheme=0 --screenshot="$work/dark.png"
    browse print --no-pdf-header-footer --print-to-pdf="$work/print.pdf"
    check "a browser draws the page" test -s light.png
    check "without an error of the page" test "$(cat light.log dark.log print.log | grep -c CONSOLE)" = 0
    # The first pixel of a PNG is what it is under every filter.
    check "light, and dark where that is wished" "$python" -c '
import re, zlib
def corner(file):
    data = open(file, "rb").read()
    at, pixels = 8, b""
    while at < len(data):
        n = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IDAT":
            pixels += data[at + 8:at + 8 + n]
        at += 12 + n
    return zlib.decompress(pixels)[1:4].hex()
assert corner("light.png") == "ffffff", corner("light.png")
assert corner("dark.png") == "151515", corner("dark.png")'
    if command -v pdftotext >/dev/null; then
        pdftotext -layout print.pdf print.txt
        check "and prints all of it" sh -c 'for word in Curves "Mean and deviation over seeds" "Speed by devices" \
            "All runs" "When, and notes" manifest.txt; do
            grep -qF "$word" print.txt || { echo "  without $word"; exit 1; }; done'
        # model_images, the last of 19 columns and once more of 15: of eight single models each
        check "to the last column" test "$(grep -o "3,600" print.txt | wc -l)" -ge 16
    else
        skip "and prints all of it" "there is no pdftotext"
    fi
else
    skip "a browser draws the page" "there is no chromium"
fi

finish
