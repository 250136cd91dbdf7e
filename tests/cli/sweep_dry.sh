#!/bin/bash
# What a sweep would mean, before it runs: its cells, those left out, its order, its time.
. "$(dirname "$0")/lib.sh"

cat >grid.ini <<'END'
model = ./tiny.net
data = synthetic
train_limit = 1200
test_limit = 300
epochs = 2
lr = 0.05, 0.1, 0.2
batch = 40, 100   # 8 devices divide the first
devices = 1, 2, 8
END

# table FILE: the rows of the table, without their numbers
table()
{
    sed -n 's/^#  *[0-9][0-9]*  \([0-9].*\)$/\1/p' "$1" | tr -s ' '
}

exits 0 "$CHORUS" run grid.ini --dry-run
check "a sweep's dry run" test $? = 0
check "it tells how many cells" grep -q '^# cells  *18: lr 3 x batch 2 x devices 3$' out
check "it tells how many are left out" grep -q '^# left out  *3$' out
check "with the reason, where it stands, and how many" \
    grep -q '^#  *3  grid.ini:7: batch = 100: 8 devices do not divide it; .*96 and 104$' out
check "corners first" test "$(table out | head -n 6 | sort | tr '\n' ';')" = \
    "0.05 100 1;0.05 40 1;0.05 40 8;0.2 100 1;0.2 40 1;0.2 40 8;"
check "every cell that can run, once" test "$(table out | sort -u | wc -l)" = 15
check "a time that nothing tells" grep -q '^# expected time  *unknown' out
check "where its results will lie" grep -q '^# sweep  *results/sweeps/grid$' out
check "nothing is written" test ! -e results
cp out first.txt
cp out grid2.ini
exits 0 "$CHORUS" run grid2.ini --dry-run
grep -v -e '^# sweep' -e '\.ini:' first.txt >a.txt
grep -v -e '^# sweep' -e '\.ini:' out >b.txt
check "what it prints is the same sweep" cmp a.txt b.txt

exits 0 "$CHORUS" run grid.ini --dry-run --order grid --max-cells 4
check "grid: the last key fastest" \
    test "$(table out | tr '\n' ';')" = "0.05 40 1;0.05 40 2;0.05 40 8;0.05 100 1;"
check "--max-cells" grep -q '^# --max-cells  *the first 4 of 15 that can run$' out

# The command line overrides and adds lists; one value ends a list.
exits 0 "$CHORUS" run grid.ini --dry-run devices=1 batch=40 lr=geom:0.1:0.4:3 repeats=2 --order grid
check "forms, repeats" test "$(table out | tr '\n' ';')" = "0.1 0;0.1 1;0.2 0;0.2 1;0.4 0;0.4 1;"
exits 0 "$CHORUS" run grid.ini --dry-run lr=0.1,0.2 devices=1,2 zip=lr,batch,devices --order grid
check "zip" test "$(table out | tr '\n' ';')" = "0.1 40 1;0.2 100 2;"
exits 0 "$CHORUS" run grid.ini --dry-run lr=loguniform:1e-3:1 samples=5 batch=40 devices=1
check "samples" test "$(table out | wc -l)" = 5
table out >a.txt
exits 0 "$CHORUS" run grid.ini --dry-run lr=loguniform:1e-3:1 samples=7 batch=40 devices=1
check "more samples begin with those of fewer" \
    test "$(table out | head -n 5)" = "$(cat a.txt)"
exits 0 "$CHORUS" run tiny.ini --dry-run mode=data-parallel,ensemble members=1,2,4
check "twins are left out" grep -q '^#  *1  .*members = 4: mode = data-parallel does not use it' out
check "twins leave one" grep -q '^# left out  *2$' out
exits 0 "$CHORUS" run tiny.ini --dry-run batch=20/device,40 devices=1,2
check "two spellings of one cell" grep -q '^#  *1  it is the cell of batch=.* devices=2$' out
exits 0 "$CHORUS" run tiny.ini --dry-run optimizer=sgd,momentum,adam momentum=0.8
check "a key that lapses in some cells" test $? = 0
check "and is no cell's loss" test "$(grep -c 'left out' out)" = 0

# What only the data or the model can tell.
exits 0 "$CHORUS" run tiny.ini --dry-run batch=40,2000
check "more than there are images" grep -q '^#  *1  .*batch = 2000 is more than the 1200' out
exits 0 "$CHORUS" run tiny.ini --dry-run model=./tiny.net,./none.net
check "a model that is not there" grep -q '^#  *1  .*none.net' out
refused "no cell is possible" "no cell of this sweep can run: " \
    "$CHORUS" run tiny.ini --dry-run batch=2000,3000
refused "a name that fits no folder" "--name: name = a/b" \
    "$CHORUS" run grid.ini --dry-run --name a/b
refused "an order that is none" "allowed: spread" "$CHORUS" run grid.ini --dry-run --order random
exits 0 "$CHORUS" run tiny.ini lr=lin:0.1:0.2:1200 --dry-run --max-cells 1100
check "many cells are told as tables tell them" grep -q '^# cells  *1,200: lr 1,200$' out
check "and how many of them run" grep -q '^# --max-cells  *the first 1,100 of 1,200 that can run$' out
refused "no cells" "--max-cells 0" "$CHORUS" run grid.ini --dry-run --max-cells 0
refused "no jobs" "--jobs x" "$CHORUS" run grid.ini --dry-run --jobs x
refused "resume takes no list" "give one value" "$CHORUS" resume epochs=1,2

# A name of its own, and names that come from elsewhere.
exits 0 "$CHORUS" run grid.ini --dry-run --name board
check "--name" grep -q '^# sweep  *results/sweeps/board$' out
exits 0 "$CHORUS" run synthetic lr=0.1,0.2 --dry-run
check "the name of what is built in" grep -q '^# sweep  *results/sweeps/synthetic$' out
exits 0 "$CHORUS" run model=cnn data=synthetic lr=0.1,0.2 --dry-run
check "the model's name without a file" grep -q '^# sweep  *results/sweeps/cnn$' out

exits 0 "$CHORUS" help lists
check "help of lists" grep -q 'geom:0.01:1:5' out
exits 0 "$CHORUS" help keys
check "help of keys names them" grep -q 'chorus help lists' out

# The object.
if command -v python3 >/dev/null; then
    exits 0 "$CHORUS" run grid.ini --dry-run --json --max-cells 2
    check "--json" python3 -c '
import json
d = json.load(open("out"))
assert d["sweep"] == "grid" and d["cells"] == 18 and d["left_out"] == 3 and d["taken"] == 2
assert len(d["list"]) == 18
assert [c["order"] for c in d["list"] if c["order"]] == [1, 2]
assert sum("8 devices" in (c["reason"] or "") for c in d["list"]) == 3
assert {c["lr"] for c in d["list"]} == {0.05, 0.1, 0.2}'
    exits 0 "$CHORUS" run tiny.ini --dry-run --json
    check "--json of one run" python3 -c '
import json
d = json.load(open("out"))
assert d["lr"] == 0.05 and d["optimizer"] == "momentum" and d["grad_clip"] is None
assert d["train_images"] == 1200 and d["steps_per_epoch"] == 30 and d["model_images"] == 4800
assert d["seconds"] is None and d["guessed_from"] == 0'
else
    skip "--json" "there is no python3"
    skip "--json of one run" "there is no python3"
fi

# Time, learned from a run: twice the epochs take twice as long, but for what beginning a run costs. One that was
# too short tells nothing of longer ones.
exits 0 "$CHORUS" run tiny.ini train_limit=40 epochs=1 --quiet && short=$(cat out)/run.csv
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) of_time[i] = $i ~ /^(train|eval|wall)_seconds$/ }
    NR > 1 { for (i in of_time) if (of_time[i]) $i = 0.002 } 1' "$short" >short.csv && mv short.csv "$short" # on a busy machine too
exits 0 "$CHORUS" run tiny.ini --dry-run --json epochs=100
check "a step tells no time" grep -q "\"seconds\": null" out
exits 0 "$CHORUS" run tiny.ini epochs=100 --quiet
exits 0 "$CHORUS" run tiny.ini --dry-run --json epochs=100,200 --order grid
if command -v python3 >/dev/null; then
    check "the time is learned here" python3 -c '
import json
d = json.load(open("out"))
a, b = (c["seconds"] for c in d["list"])
assert 0 < a < b <= 2 * a * (1 + 1e-6) and b > 1.2 * a and abs(d["seconds"] - a - b) < 1e-6 * b'
else
    skip "the time is learned here" "there is no python3"
fi
exits 0 "$CHORUS" run tiny.ini model=mlp --dry-run epochs=100,200
check "of other work it is a guess" grep -q "(a guess from 1 run of other sizes)" out
exits 0 "$CHORUS" run tiny.ini model=mlp --dry-run --json epochs=100,200
check "and --json says so" test "$(grep -c '"guessed_from": 1, "\(list\|ended\)"' out)" = 3
exits 0 "$CHORUS" run @ --dry-run lr=0.1,0.2
check "the name of a sweep made from a run" grep -q '^# sweep  *results/sweeps/tiny$' out
exits 0 "$CHORUS" run tiny.ini --dry-run epochs=100,200
check "--jobs: two at a time" eval '"$CHORUS" run tiny.ini --dry-run threads=1 epochs=100,200 --jobs 2 |
    grep -q "for 2 cells 2 at a time"'
if command -v python3 >/dev/null; then
    for jobs in 1 2; do
        "$CHORUS" run tiny.ini --dry-run --json threads=1 epochs=100,200 --jobs $jobs >jobs$jobs.json
    done
    check "take as long as the longer one" python3 -c '
import json
one, two = (json.load(open("jobs%d.json" % n)) for n in (1, 2))
assert abs(one["seconds"] - sum(c["seconds"] for c in one["list"])) < 1e-6 * one["seconds"]
assert abs(two["seconds"] - max(c["seconds"] for c in two["list"])) < 1e-6 * two["seconds"]'
fi
"$CHORUS" run tiny.ini --dry-run epochs=100,200 >out
check "and told" grep -q '^# expected time  *.* for 2 cells one after the other' out
"$CHORUS" run tiny.ini --dry-run threads=1 backend=cpu,ref >out
check "what no run tells is told too" grep -q '^# of unknown time  *1 of these cells: no earlier run tells its time' out

# What could not run has its values in the sweep's table all the same.
exits 0 "$CHORUS" run tiny.ini epochs=1 batch=40,2000 lr=0.05,0.1 --quiet
check "cells without a run keep their values" test "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR > 1 && $at["state"] == "skipped" { print $at["batch"], $at["lr"] }' results/sweeps/tiny/sweep.csv |
    sort | tr '\n' ';')" = "2000 0.05;2000 0.1;"

# The words and counts of the run itself: left out is what is no cell of it, skipped what cannot begin.
exits 0 "$CHORUS" run tiny.ini epochs=1 batch=40,100,2000 devices=1,8 --name words
cp err ran.txt
exits 0 "$CHORUS" run tiny.ini epochs=1 batch=40,100,2000 devices=1,8 --name words --dry-run
check "as many left out as the run says" eval 'grep -q "^1 of 6 cells are left out" ran.txt &&
    grep -q "^# left out  *1$" out'
check "as many skipped" eval 'grep -q "^5 cells: 3 done, 2 skipped;" ran.txt && grep -q "^# skipped  *2$" out'
check "of as many cells" grep -q '^# with a result  *3 of 5: not run again; 0 would run$' out
exits 0 "$CHORUS" run tiny.ini epochs=1 batch=40,100,2000 devices=1,8 --name words --dry-run --max-cells 2
check "no more than the run comes to" grep -q '^# skipped  *1$' out
exits 0 "$CHORUS" run tiny.ini epochs=1 batch=40,100,2000 devices=1,8 --name words --dry-run --json
check "--json counts them too" grep -q '"left_out": 1, "skipped": 2, "ended": 3, "taken": 0,' out
sed -i '0,/,done,/s//,skipped,/' results/sweeps/words/ledger.csv
exits 0 "$CHORUS" run tiny.ini epochs=1 batch=40,100,2000 devices=1,8 --name words --dry-run
check "a skipped cell is no result" eval 'grep -q "^# with a result  *2 of 5: not run again; 0 would" out &&
    grep -q "^#  *1  skipped before: --failed tries it again$" out'
exits 0 "$CHORUS" run tiny.ini epochs=1 batch=40,100,2000 devices=1,8 --name words --dry-run --failed
check "--failed has it anew" grep -q '^# with a result  *2 of 5: not run again; 1 would run$' out

# Images that are cut off behind their head, in a file whose size does not tell it.
idx()
{
    { printf '\0\0\10\3\0\0\0\60\0\0\0\4\0\0\0\4'; head -c "$1" /dev/urandom; } | gzip >cut/"$2"-images-idx3-ubyte.gz
    { printf '\0\0\10\1\0\0\0\60'; printf '\0\1%.0s' {1..24}; } | gzip >cut/"$2"-labels-idx1-ubyte.gz
}
mkdir cut
idx 700 train
idx 768 t10k
refused "a dry run reads what a run would" "ends at byte 716 of its content" \
    "$CHORUS" run model=linear data=cut batch=4 epochs=1 --dry-run
refused "a sweep's too" "cut/train-images-idx3-ubyte.gz: ends at byte 716" \
    "$CHORUS" run model=linear data=cut batch=4 epochs=1 lr=0.1,0.2 --dry-run
exits 0 "$CHORUS" run tiny.ini data=cut,synthetic train_limit=48 test_limit=48 batch=4 epochs=1 --name halved --dry-run
check "or only these are skipped" grep -q '^# skipped  *1$' out
idx 768 train
exits 0 "$CHORUS" run model=linear data=cut batch=4 epochs=1 --dry-run
check "whole ones are good" grep -q '^# training images  *48$' out

# Weights that are not there, or of another network.
refused "weights that are not there" "weights: there is no run 'nobody'" \
    "$CHORUS" run tiny.ini weights=nobody --dry-run
exits 0 "$CHORUS" run tiny.ini model=linear epochs=0 name=other --quiet
refused "weights that do not fit" "this model needs" "$CHORUS" run tiny.ini weights=other --dry-run
exits 0 "$CHORUS" run tiny.ini weights=other model=./tiny.net,linear --name weighed --dry-run
check "a cell that they do not fit fails at once" grep -q '^# failed  *1: that is their result' out
check "and takes no time" grep -q '^# expected time  *.* for 1 cell one after' out
exits 0 "$CHORUS" run tiny.ini weights=other model=./tiny.net,linear epochs=1 --name weighed
check "as the run says" grep -q '^2 cells: 1 done, 1 failed;' err

# A sweep that is there: what has a result costs nothing more.
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2 --name half --quiet
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2,0.4 --name half --dry-run
check "those with a result" grep -q '^# with a result  *2 of 3: not run again; 1 would run$' out
check "the time of what is missing" grep -q '^# expected time  *.* for 1 cell one after' out
check "and it alone" test "$(table out)" = "$(table out | grep '^0.4 ')" -a -n "$(table out)"
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2,0.4 --name half --dry-run --json
check "--json too" grep -q '"ended": 2, "taken": 1, ' out
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2 --name half --dry-run
check "nothing is missing" grep -q '^# expected time  *none: no cell is missing$' out
refused "another value of a key without a list" "was begun with epochs = 1, not 2: --name gives" \
    "$CHORUS" run tiny.ini epochs=2 lr=0.1,0.2 --name half
refused "that is queued too" "a list (epochs=1,2) adds to it" \
    "$CHORUS" run tiny.ini epochs=2 lr=0.1,0.2 --name half --queue
exits 0 "$CHORUS" run tiny.ini epochs=1,2 lr=0.1,0.2 --name half --dry-run
check "a list of it adds cells" grep -q '^# with a result  *2 of 4: not run again; 2 would run$' out
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2 log_every=7 --name half --dry-run
check "how often a row is written makes no other cell" grep -q 'none: no cell is missing$' out

# Cells that were moved run in that order, also after a run that did not go as far as them.
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2,0.4 --order grid --name half --quiet
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2,0.4 --order grid --name moved --max-cells 1 --quiet
{
    echo number,cell,waits
    n=0
    for lr in 0.1 0.4 0.2; do
        cell=$(sed -n "s/^[^,]*,\([0-9a-f]*\),[^,]*,done,.*/\1/p" results/sweeps/half/ledger.csv |
            sed -n "$(case $lr in 0.1) echo 1 ;; 0.2) echo 2 ;; *) echo 3 ;; esac)p")
        echo "$n,$cell,$([ $lr = 0.1 ] && echo no || echo yes)"
        n=$(((n + 2) % 3))
    done
} >order.csv
cp order.csv results/sweeps/moved
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2,0.4 --order grid --name moved --dry-run
check "moved cells stand as they run" test "$(table out | cut -d ' ' -f 1 | xargs)" = "0.4 0.2"
check "and it is said" grep -q '^# order  *grid: .*; but cells were moved$' out
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2,0.4 --order grid --name moved --max-cells 1 --quiet
check "a few cells alone leave the others' order" cmp order.csv results/sweeps/moved/order.csv
exits 0 "$CHORUS" run tiny.ini epochs=1 lr=0.1,0.2,0.4 --order grid --name moved --max-cells 1 --dry-run --json
check "what becomes of each is told" test "$(grep -o '"fate": "[a-z-]*"' out | xargs)" = \
    "fate: ended fate: beyond fate: beyond"
exits 0 "$CHORUS" run --help
check "as the help says" grep -q "skipped or beyond (--max-cells)" out

finish
