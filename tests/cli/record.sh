# chorus ls, show and weights, and the folders that they read.
. "${BASH_SOURCE%/*}/lib.sh"

PYTHON=${CHORUS_PYTHON:-python3}

has()
{
    grep -qE -- "$1" out
}

says()
{
    grep -qE -- "$1" err
}

# An empty place.
check "no runs" exits 0 "$CHORUS" ls
check "an empty list says where it looked" says 'no runs in results, which is not there'
check "and prints nothing" test ! -s out
check "an empty list as JSON" test "$("$CHORUS" ls --json 2>/dev/null)" = "[]"
refused "show without a run" "no run '@' in results, which is not there" "$CHORUS" show @
refused "weights without a run" "no run '7f3a' in results, which is not there" "$CHORUS" weights 7f3a -o w

# Three runs: a single model, the same again, an ensemble.
first=$("$CHORUS" run tiny.ini keep=all+last+best --quiet) || fail "a run" "$first"
again=$("$CHORUS" run tiny.ini keep=last --quiet) || fail "the same again" "$again"
many=$("$CHORUS" run tiny.ini mode=ensemble devices=2 members=3 epochs=2 name=three --quiet) ||
    fail "an ensemble" "$many"

# The folder.
check "its files" test "$(ls "$first" | tr '\n' ' ')" = "best.safetensors checkpoint.prev.\
safetensors checkpoint.safetensors control devices.csv epoch-0001.safetensors epoch-0002.\
safetensors epoch-0003.safetensors epoch-0004.safetensors epochs.csv experiment.ini lock log.txt \
model.net run.csv steps.csv "
check "members of an ensemble alone" test -e "$many/members.csv" -a ! -e "$first/members.csv"
check "a row an epoch" test "$(rows "$first/epochs.csv")" = 4
check "a row an epoch and member" test "$(rows "$many/members.csv")" = 6
check "the name" grep -qE '^results/[0-9]{4}(-[0-9]{2}){2}-[0-9]{6}-[0-9]{3}-tiny-[0-9a-f]{4}$' \
    <<<"$first"
check "nothing half" test -z "$(find results -name '*.tmp*' -o -name '.?*')"

# ls
exits 0 "$CHORUS" ls
check "a line a run" test "$(wc -l <out)" = 4
check "the newest last" test "$(tail -n 1 out | cut -d ' ' -f 1)" = "${many#results/}"
check "what a line says" \
    has "^${many#results/} +done +tiny +synthetic +ensemble +2 +3 +40 +0\.05 +2/2 +[01]\.[0-9]{4} +test "
exits 0 "$CHORUS" ls -n 1
check "-n" test "$(wc -l <out)" = 2
exits 0 "$CHORUS" ls three
check "a part of the name" test "$(wc -l <out)" = 2
check "no name has it" exits 0 "$CHORUS" ls nonesuch
check "which is said" says "none of the 3 runs in results matches nonesuch"
refused "-n 0" "from 1 to" "$CHORUS" ls -n 0
refused "-n of nothing" "whole number" "$CHORUS" ls -n few
refused "--results of nothing" "no results in $PWD/elsewhere, which is not there" "$CHORUS" ls --results "$PWD/elsewhere"
mkdir empty && exits 0 "$CHORUS" ls --results empty
check "names the folder" says "no runs in empty"

# RUN names
refused "an ambiguous name" "part of the names of 2 runs: ${first#results/}" "$CHORUS" show -- -tiny-
refused "a filter that none passes" "no run matches 'lr=0.1'" "$CHORUS" show 'lr=0.1'
refused "a filter that many pass" "'lr=0.05' matches 3 runs: ${first#results/}" "$CHORUS" show lr=0.05
refused "a place too far" "holds 3" "$CHORUS" show @4
refused "two runs" "'@ @2' stands for 2 runs" "$CHORUS" show @ @2
for name in "mode=ensemble:$many" "@:$many" "@3:$first" "three:$many" "$again:$again" "$PWD/$first/:$first"; do
    exits 0 "$CHORUS" show "${name%:*}"
    check "RUN ${name%%:*}" test "$(head -n 1 out)" = "${name##*:results/}"
done

# show
exits 0 "$CHORUS" show "$many"
for line in 'state +done, 2 of 2 epochs$' 'mode +ensemble$' 'momentum +0\.9$' 'isa +[a-z]' \
    'parameters +1,?498$|parameters +[0-9]+$' 'best test acc .*, picked on test$' \
    'members$' ' *2 +2 +0 '; do
    check "show: $line" has "^ *$line"
done
mv "$many/members.csv" away
exits 0 "$CHORUS" show "$many"
check "show says which rows it cannot read" has "^members.csv cannot be read: .*members.csv"
mv away "$many/members.csv"
exits 0 "$CHORUS" show "$many"
check "no key that does not apply" test "$(grep -c beta1 out)" = 0
check "--help" exits 0 "$CHORUS" show --help

# A run that was killed, and one that is broken.
cp -r "$first" results/dead && sed -i '2s/,done,/,running,/' results/dead/run.csv
cp -r "$first" results/torn && printf 'run,state\nhalf' >results/torn/run.csv
exits 0 "$CHORUS" ls
check "a dead run is shown as dead" has '^dead +dead '
check "a broken one hides no other" test "$(grep -c ' done ' out)" = 3
check "and says why" has '^torn is broken: .*run.csv has 0 whole rows'
for verb in show plot compare predict resume stop ensemble "weights -o torn.safetensors"; do
    refused "${verb%% *} of a broken run" "chorus rm torn moves it to the trash" \
        "$CHORUS" $verb results/torn
done
exits 0 "$CHORUS" show results/dead
check "show of a dead run" has 'state +dead, 4 of 4 epochs; .*chorus resume'
check "no control of a dead run" exits 2 "$CHORUS" pause results/dead
rm -r results/dead results/torn

# weights
check "weights" exits 0 "$CHORUS" weights "$first" -o w.safetensors
check "say what they are" says 'w.safetensors: the weights after 4 epochs, 120 steps, 8 tensors'
exits 0 "$CHORUS" weights "$again" -o w2.safetensors
check "the same weights, the same bytes" cmp w.safetensors w2.safetensors
for at in last 4; do
    exits 0 "$CHORUS" weights "$first" -o w2.safetensors --force --at $at
    check "--at $at" cmp w.safetensors w2.safetensors
done
exits 0 "$CHORUS" weights "$first" -o w2.safetensors --force --at 1
check "--at 1 is another" test "$(cmp w.safetensors w2.safetensors >/dev/null; echo $?)" = 1
check "of the same size" test "$(wc -c <w.safetensors)" = "$(wc -c <w2.safetensors)"
best=$(column "$first" best_epoch)
exits 0 "$CHORUS" weights "$first" -o b1.safetensors --at best
exits 0 "$CHORUS" weights "$first" -o b2.safetensors --at "$best"
check "best is the best epoch's" cmp b1.safetensors b2.safetensors
cp -r "$first" elsewhere
exits 0 "$CHORUS" weights elsewhere -o w2.safetensors --force
check "wherever it lies" cmp w.safetensors w2.safetensors
# Of four epochs at most three are kept: the best, the last and the one before it that was written.
for gone in 1 2 3 4; do
    "$CHORUS" weights "$again" -o any.safetensors --at $gone >/dev/null 2>&1 || break
done
for file in checkpoint best; do
    cp "$first/$file.safetensors" own.safetensors
    refused "weights instead of a run's $file" "--force replaces it" \
        "$CHORUS" weights "$first" -o "$first/$file.safetensors"
    check "leave it as it was" cmp own.safetensors "$first/$file.safetensors"
done
refused "an epoch that was not kept" "no weights of epoch $gone" \
    "$CHORUS" weights "$again" -o n --at $gone
refused "an epoch that never was" "no weights of epoch 9" "$CHORUS" weights "$first" -o n --at 9
refused "--at of nothing" "is not best, last" "$CHORUS" weights "$first" -o n --at first
refused "a member of a single model" "single model" "$CHORUS" weights "$first" -o n --member 0
refused "a member too many" "members are 0 to 2" "$CHORUS" weights "$many" -o n --member 3
refused "a member below 0" "whole number" "$CHORUS" weights "$many" -o n --member -1
refused "an unknown layout" "flax or torch" "$CHORUS" weights "$first" -o n --layout keras
refused "no file" "needs -o FILE" "$CHORUS" weights "$first"
refused "stdout" "name a file" "$CHORUS" weights "$first" -o -
refused "a device" "not a regular file" "$CHORUS" weights "$first" -o /dev/null
check "which is still one" test -c /dev/null
refused "a folder" "not a regular file" "$CHORUS" weights "$first" -o results
check "a folder that is not there" exits 1 "$CHORUS" weights "$first" -o no/such/w
check "is named" says 'cannot create no/such/w: there is no folder no/such; make it, or name another place'

# A disk that is full: nothing half, and what was there stays.
cp w.safetensors kept.safetensors
full()
{
    (
        ulimit -f 1
        trap '' XFSZ
        exits 1 "$CHORUS" weights "$first" --at 1 -o "$1" --force
    )
}
check "a full disk" full new.safetensors
check "is told with the file" says 'cannot write new.safetensors'
check "nothing half is left" test -z "$(find . -name '*new.safetensors*')"
check "a full disk over an old file" full kept.safetensors
check "the old file stays" cmp w.safetensors kept.safetensors

# The weights go round: out of a run, into another.
for from in w.safetensors "$first" @3; do
    start=$("$CHORUS" run tiny.ini weights="$from" epochs=0 --quiet 2>err) || cat err
    exits 0 "$CHORUS" weights "$start" -o w2.safetensors --force
    check "weights = $from" cmp w.safetensors w2.safetensors
    rm -rf "$start"
done
start=$("$CHORUS" run tiny.ini epochs=0 --quiet)
check "the initial weights" exits 0 "$CHORUS" weights "$start" -o init.safetensors
check "are after 0 steps" says 'after 0 epochs, 0 steps'
exits 0 "$CHORUS" weights "$start" -o w2.safetensors --force --at 0
check "--at 0" cmp init.safetensors w2.safetensors

# A damaged checkpoint.
cp -r "$again" damaged
printf 'x' | dd of=damaged/checkpoint.safetensors bs=1 seek=2000 conv=notrunc 2>/dev/null
exits 2 "$CHORUS" weights damaged -o w2.safetensors --force
check "an older checkpoint is not the last" says 'ask for --at [0-9]'
check "with what is wrong with the newer one" says 'ask for --at [0-9]+ \(damaged/checkpoint.safetensors is damaged: its checksum'
rm damaged/checkpoint.prev.safetensors
refused "two damaged ones" "its checksum does not fit" "$CHORUS" weights damaged -o n

# JSON and Python
if command -v "$PYTHON" >/dev/null; then
    exits 0 "$CHORUS" ls --json
    check "ls --json" "$PYTHON" -c '
import csv, json
runs = json.load(open("out"))
for run in runs:
    row = next(csv.DictReader(open(run["folder"] + "/run.csv")))
    assert list(run)[:len(row)] == list(row) and list(run)[len(row):] == ["folder", "live", "dead"]
    for key, text in row.items():
        assert (run[key] is None and text == "") or str(run[key]) == text or \
            float(run[key]) == float(text), (key, text, run[key])
assert [run["members"] for run in runs][:3] == [None, None, 3]'
    exits 0 "$CHORUS" show @best --json
    check "show --json" "$PYTHON" -c '
import json
run = json.load(open("out"))
assert run["state"] == "done" and run["best_by"] == "test" and run["live"] is False'
else
    skip "ls --json" "there is no python3"
    skip "show --json" "there is no python3"
fi
if "$PYTHON" -c 'import safetensors.numpy' 2>/dev/null; then
    exits 0 "$CHORUS" weights "$first" -o torch.safetensors --layout torch
    exits 0 "$CHORUS" weights "$many" -o many.safetensors
    exits 0 "$CHORUS" weights "$many" -o one.safetensors --member 1
    exits 0 "$CHORUS" weights "$many" -o manytorch.safetensors --layout torch
    check "Flax's names and shapes" "$PYTHON" -c '
from safetensors.numpy import load_file
w = load_file("w.safetensors")
assert {k: v.shape for k, v in w.items()} == {
    "Conv_0/kernel": (3, 3, 1, 4), "Conv_0/bias": (4,), "BatchNorm_0/scale": (4,),
    "BatchNorm_0/bias": (4,), "Dense_0/kernel": (144, 10), "Dense_0/bias": (10,),
    "batch_stats/BatchNorm_0/mean": (4,), "batch_stats/BatchNorm_0/var": (4,)}, w.keys()
assert all(v.dtype == "float32" for v in w.values())
assert (w["batch_stats/BatchNorm_0/var"] > 0).all() and w["Conv_0/kernel"].std() > 0.01'
    check "PyTorch's names and layouts" "$PYTHON" -c '
from safetensors.numpy import load_file
def same(a, b):
    return a.shape == b.shape and (a == b).all()
w, t = load_file("w.safetensors"), load_file("torch.safetensors")
assert same(t["Conv_0.weight"], w["Conv_0/kernel"].transpose(3, 2, 0, 1))
dense = w["Dense_0/kernel"].reshape(6, 6, 4, 10).transpose(3, 2, 0, 1).reshape(10, 144)
assert same(t["Dense_0.weight"], dense)
for a, b in [("Conv_0.bias", "Conv_0/bias"), ("Dense_0.bias", "Dense_0/bias"),
             ("BatchNorm_0.weight", "BatchNorm_0/scale"), ("BatchNorm_0.bias", "BatchNorm_0/bias"),
             ("BatchNorm_0.running_mean", "batch_stats/BatchNorm_0/mean"),
             ("BatchNorm_0.running_var", "batch_stats/BatchNorm_0/var")]:
    assert same(t[a], w[b]), a
assert len(t) == len(w)'
    check "members are the first axis" "$PYTHON" -c '
from safetensors.numpy import load_file
many, one, t = (load_file(f + ".safetensors") for f in ("many", "one", "manytorch"))
assert many["Conv_0/kernel"].shape == (3, 3, 3, 1, 4) and one.keys() == many.keys()
assert all((many[k][1] == one[k]).all() and many[k][1].shape == one[k].shape for k in many)
assert (many["Conv_0/kernel"][0] != one["Conv_0/kernel"]).any()
assert t["Conv_0.weight"].shape == (3, 4, 1, 3, 3)
assert (t["Conv_0.weight"][2] == many["Conv_0/kernel"][2].transpose(3, 2, 0, 1)).all()'
    exits 0 "$CHORUS" predict "$many"
    check "checkpoints and predictions" "$PYTHON" -c '
import sys
from safetensors import safe_open
from safetensors.numpy import load_file
folder = sys.argv[1]
with safe_open(folder + "/checkpoint.safetensors", "np") as f:
    notes = f.metadata()
    assert notes["chorus.epoch"] == "2" and notes["chorus.members"] == "3", notes
    assert f.get_tensor("slot1/Dense_0/kernel").shape == (3, 144, 10)
    assert f.get_tensor("params/Dense_0/kernel").shape == (3, 144, 10)
load_file(folder + "/best.safetensors")
p = load_file(folder + "/predictions.safetensors")
assert p["probabilities"].shape == (3, 300, 10), {k: v.shape for k, v in p.items()}
assert abs(p["probabilities"].sum(axis=2) - 1).max() < 1e-5' "$many"
    check "a file that Python wrote" "$PYTHON" -c '
from safetensors.numpy import load_file, save_file
save_file(load_file("w.safetensors"), "python.safetensors")'
    start=$("$CHORUS" run tiny.ini weights=python.safetensors epochs=0 --quiet 2>err) || cat err
    exits 0 "$CHORUS" weights "$start" -o w2.safetensors --force
    check "starts a run" cmp w.safetensors w2.safetensors
    double=$("$CHORUS" run tiny.ini backend=ref precision=fp64 train_limit=80 epochs=1 --quiet)
    exits 0 "$CHORUS" weights "$double" -o double.safetensors
    check "fp64 stays" "$PYTHON" -c '
from safetensors.numpy import load_file
assert all(v.dtype == "float64" for v in load_file("double.safetensors").values())'
else
    for name in "Flax's names and shapes" "PyTorch's names and layouts" \
        "members are the first axis" "checkpoints and predictions" "a file that Python wrote" \
        "starts a run" "fp64 stays"; do
        skip "$name" "$PYTHON has no package safetensors"
    done
fi

# what is kept and what is not
exits 0 "$CHORUS" run tiny.ini epochs=0 --quiet && none=$(cat out)
refused "best where none is kept" "no best weights" "$CHORUS" weights "$none" -o n --at best
exits 0 "$CHORUS" run tiny.ini keep=all epochs=3 --quiet && all=$(cat out)
exits 0 "$CHORUS" weights "$all" -o b1.safetensors --force --at best
exits 0 "$CHORUS" weights "$all" -o b2.safetensors --force --at "$(column "$all" best_epoch)"
check "all epochs hold the best" cmp b1.safetensors b2.safetensors
check "what has no effect is empty" test -z "$(column "$all" beta1)$(column "$all" lr_min)"
exits 0 "$CHORUS" run tiny.ini keep=every:2 epochs=3 --quiet && every=$(cat out)
refused "a last that is not kept" "newest kept are of epoch 2" "$CHORUS" weights "$every" -o n
cp -r "$first" results/damaged && : >results/damaged/checkpoint.safetensors
mv results/damaged/epoch-0004.safetensors results/damaged/best.safetensors
check "a damaged last that another file has, too" exits 0 "$CHORUS" weights results/damaged -o w2.safetensors --force
check "is the same" cmp w.safetensors w2.safetensors
rm results/damaged/best.safetensors
"$CHORUS" weights results/damaged -o n >out 2>err
check "one that none has is said to be damaged" \
    says "^chorus: the last weights of run results/damaged, of epoch 4, are damaged: the newest kept"
check "and nothing else is said" eval '[ "$(wc -l <err)" = 1 ]'
"$CHORUS" weights results/damaged -o n --at 4 >out 2>err
check "asked for by its number, too" \
    says "^chorus: the last weights of run results/damaged, of epoch 4, are damaged: the newest kept"
rm -r results/damaged
cp -r "$first" results/damaged
"$CHORUS" weights results/damaged --at 4 -o whole.safetensors >out 2>err
: >results/damaged/epoch-0004.safetensors
check "a damaged epoch that the checkpoint has, too" exits 0 "$CHORUS" weights results/damaged --at 4 -o w3.safetensors
check "whose weights are the same" cmp -s whole.safetensors w3.safetensors
: >results/damaged/epoch-0001.safetensors
refused "a damaged epoch that no other has" "results/damaged/epoch-0001.safetensors" "$CHORUS" weights results/damaged --at 1 -o n
rm -r results/damaged

# A run whose file is cut in the middle.
exits 0 "$CHORUS" run tiny.ini --quiet
folder=$(cat out)
head -c 300 "$folder/run.csv" >cut.csv && mv cut.csv "$folder/run.csv"
for verb in stop watch show; do
    refused "$verb names the file that is damaged" "$folder/run.csv has no header row" \
        "$CHORUS" $verb "$folder"
done

finish
