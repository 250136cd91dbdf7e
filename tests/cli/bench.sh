# chorus bench: its rows, JSON, keys, a pipe that closes, Ctrl-C, and what it refuses.
. "${BASH_SOURCE%/*}/lib.sh"

unset CHORUS_FAKE
has()
{
    grep -qE -- "$1" out
}
# count N PATTERN: so many lines
count()
{
    [ "$(grep -cE -- "$2" out)" = "$1" ] || {
        cat out
        return 1
    }
}

busy=$(awk -v cores="$(nproc --all)" '{ print ($1 > 1.4 * cores) ? "yes" : ($1 < 1.1 * cores) ? "no" : "perhaps" }' /proc/loadavg)
check "small models" exits 0 "$CHORUS" bench --seconds 0.1 model=tiny,linear threads=1
check "it says nothing on stderr" test ! -s err
says_busy=no && grep -q "^busy machine (load [0-9.]* on [0-9]* cores*): measure again" out && says_busy=yes
check "whether others computed beside it is said" test "$busy" = perhaps -o "$busy" = $says_busy
check "the fp32 peak" has '^fp32 from registers \((avx512|avx2|base)\): [1-9][0-9]* GFLOP/s on 1 thread'
check "a row of the backend people use" has '^cpu +tiny +data-parallel +fp32 +256 +[0-9,]+ +[0-9,]+ +[0-9.]+ %$'
check "an ensemble" has '^cpu +tiny +ensemble of 4 +fp32 +256 +[0-9,]+ '
check "the naive backend" has '^ref +tiny +data-parallel +fp64 +[0-9]+ +[0-9,.]+ '
# cpu in fp32 and perhaps in bf16, ref in fp32 and fp64
check "each model and mode" count 4 '^cpu +(tiny|linear) .* fp32 '
check "each in all precisions of ref" count 8 '^ref '
check "lines of 80 columns" awk 'length > 80 { exit 1 }' out

check "the usual models" exits 0 "$CHORUS" bench --seconds 0.05 backend=cpu mode=data-parallel \
    precision=fp32
check "all four" count 4 '^cpu +(lenet|cnn|mlp|resnet18) +data-parallel +fp32 '

check "keys that hold for all rows" exits 0 "$CHORUS" bench --seconds 0.1 model=tiny backend=cpu \
    precision=fp32 batch=96 devices=4 members=8 optimizer=adam lr=0.01
check "devices" has '^cpu +tiny +4 devices +fp32 +96 '
check "members" has '^cpu +tiny +ensemble of 8 +fp32 +96 '
check "no run is kept" test ! -e results
check "nothing to tune on a CPU" exits 0 "$CHORUS" bench --tune --seconds 0.05 model=tiny backend=cpu \
    precision=fp32 mode=data-parallel
check "which it says" grep -q "^nothing was tuned: plans to choose from are cuDNN's, on a GPU" err

{
    echo input auto
    echo init normal 1e6
    for _ in 1 2 3 4 5 6 7; do
        echo dense 8
    done
    echo dense classes
} >wild.net
cores=$(nproc)
check "more threads than cores" exits 0 "$CHORUS" bench --seconds 0.05 model=tiny backend=cpu \
    mode=data-parallel precision=fp32 threads=$((cores + 2))
check "the peak is of the cores that there are" has "1 thread(, [0-9]+ on $cores)?\$"
check "which is said" has "^$((cores + 2)) threads on $cores cores?: threads = all is faster\$"
exits 0 "$CHORUS" bench --seconds 0.05 batch=16 devices=3 model=tiny backend=cpu \
    threads=$((cores + 2))
check "also where some rows cannot run, of those that do" \
    has "^$((cores + 2)) threads on $cores cores?: threads = all is faster\$"
[ "$cores" = 1 ] || check "the peak is of their threads" has " on $cores\$"
check "a batch of bench's own" exits 0 "$CHORUS" bench --seconds 0.05 model=tiny devices=3 \
    precision=fp32 backend=cpu
check "is one that the devices share" count 2 '^cpu +tiny +(3 devices|ensemble of 4) +fp32 +258 +([0-9,]+|a step takes) '
check "and nothing is left out" test ! -s err
exits 0 "$CHORUS" bench --seconds 0.05 model=tiny devices=3 precision=fp32 backend=cpu train_limit=100
check "and that train_limit has images for" count 2 '^cpu +tiny +(3 devices|ensemble of 4) +fp32 +99 +([0-9,]+|a step takes) '
exits 0 "$CHORUS" bench --seconds 0.05 model=tiny precision=fp32 backend=cpu train_limit=100 valid=10%
check "without those that validate" count 2 '^cpu +tiny +(data-parallel|ensemble of 4) +fp32 +90 +([0-9,]+|a step takes) '
check "nor is it then" test ! -s err
awk 'BEGIN { for (i = 0; i < 60; i++) print "class" i % 3 "," i ".5," i * i }' >few.csv
exits 0 "$CHORUS" bench --seconds 0.05 model=linear data=few.csv precision=fp32 backend=cpu
check "and that the data has images for" count 2 '^cpu +linear +(data-parallel|ensemble of 4) +fp32 +50 +([0-9,]+|a step takes) '
check "of which nothing is left out" test ! -s err
exits 0 "$CHORUS" bench --seconds 0.05 model=linear data=few.csv precision=fp32 backend=cpu devices=4 \
    valid=10
check "also without those that validate, on devices" count 2 '^cpu +linear +(4 devices|ensemble of 4) +fp32 +40 +([0-9,]+|a step takes) '
check "a batch below what the data has" exits 0 "$CHORUS" bench --seconds 0.05 model=linear \
    data=few.csv precision=fp32 backend=cpu batch=20
check "plans are chosen with as many test images as there are" exits 0 "$CHORUS" bench --tune \
    --seconds 0.05 model=linear data=few.csv precision=fp32 backend=cpu
check "more images than the data has" exits 2 "$CHORUS" bench --seconds 0.05 model=linear \
    data=few.csv backend=cpu batch=51
check "are counted" grep -q "^chorus: batch = 51 is more than the 50 images left for training" err
exits 0 "$CHORUS" bench --seconds 0.05 model=cnn backend=cpu,ref precision=fp32 mode=data-parallel \
    valid=200
check "what cannot be with a smaller batch, and so fewer images, is told" \
    grep -q "^left out: mode = data-parallel: valid = 200" err
check "a loss that is no number" exits 0 "$CHORUS" bench --seconds 0.1 model=./wild.net \
    mode=data-parallel precision=fp32
check "a long path is cut in front, and marked" count 2 '^(cpu|ref) +\.\.\.ld\.net  data-parallel '
check "has no figure" count 2 '^(cpu|ref) .* no figure: the loss is not finite$'

if command -v python3 >/dev/null; then
    exits 1 python3 "$OLDPWD/tests/bench/bench.py" --rows , --check-rows
    check "no row of ROWS=," grep -q "^ROWS=,: the rows are lenet" err
    check "losses that are no numbers, or too far from chorus's, also of what was learned, give no figure" \
        env PYTHONPATH="$OLDPWD/tests/bench" PYTHONDONTWRITEBYTECODE=1 python3 -c '
import bench
bench.PATIENCE, bench.say = 0, lambda text: None
nan, peer = float("nan"), [2.5, 2.0]
assert bench.difference([2.5, 2.1], peer) == abs(2.1 - 2.0) / 2.0
for first in [2.5, nan], [nan, 2.0], [2.5], []:
    assert bench.difference(first, peer) > 1e9, first
    assert bench.difference(peer, first) > 1e9, first
class Learner:
    def __init__(self, name, loads=True):
        self.name, self.loads, self.loss, self.process = name, loads, 2.3, self
        self.pid = 1
    def ask(self, command):
        if command == "load" and self.loads:
            self.loss = 0.4000001
        return dict(loss=0.4 if self.name == "chorus" else self.loss, seconds=0.1)
row = dict(evaluate=(3, 3), limit=1e-4)
good = bench.evaluation([Learner("chorus"), Learner("torch")], row, "all")
assert good["epoch"] == dict(chorus=0.1, torch=0.1) and good["rate"] == 10000 / 0.1, good
assert 2e-7 < good["difference_torch"] < 3e-7 and "wrong" not in good, good
bad = bench.evaluation([Learner("chorus"), Learner("torch"), Learner("jax", False)], row, "all")
assert bad["wrong"] and "epoch" not in bad, bad
assert bad["problem"] == "losses differ from jax\x27s by 8.3e-01, more than 1e-05", bad
assert "| losses differ from jax" in bench.table_line(bad, 1e9, "now")'
    exits 0 "$CHORUS" bench --json --seconds 0.1 model=tiny,linear mode=ensemble
    check "JSON" python3 -c '
import json
b = json.load(open("out"))
assert b["peak_flops_1_thread"] > 1e8 and b["threads"] >= 1 and b["stopped"] is False
import os
assert b["busy"] is (b["load"] > 1.25 * os.sysconf("SC_NPROCESSORS_ONLN"))
assert {(r["backend"], r["model"]) for r in b["rows"]} == {
    (x, y) for x in ("cpu", "ref") for y in ("tiny", "linear")}
for r in b["rows"]:
    assert r["mode"] == "ensemble" and r["members"] == (4 if r["backend"] == "cpu" else 2)
    assert r["images_per_second"] > 0 and r["peak_images_per_second"] > 0 and r["steps"] > 0
# The naive backend is not the faster one.
rate = {(r["backend"], r["precision"]): r["images_per_second"] for r in b["rows"]
        if r["model"] == "tiny"}
assert rate["cpu", "fp32"] > rate["ref", "fp32"], rate'
else
    skip "JSON" "there is no python3"
fi

"$CHORUS" bench --seconds 2 model=tiny 2>err | head -n 4 >out
check "a reader that has enough" test ! -s err
"$CHORUS" bench --seconds 30 model=cnn backend=cpu >out 2>err &
child=$!
sleep 2
kill -INT $child 2>/dev/null # a background job of a script ignores it: as for every program
kill -TERM $child
wait $child
check "SIGTERM" test $? = 143
if command -v python3 >/dev/null; then
    CHORUS=$CHORUS check "Ctrl-C" python3 -c '
import json, os, signal, subprocess, sys, time
p = subprocess.Popen([os.environ["CHORUS"], "bench", "--json", "--seconds", "20", "model=tiny"],
                     stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                                              signal.SIG_DFL))
time.sleep(2)
caught = lambda: next(int(l.split()[1], 16) for l in open("/proc/%d/status" % p.pid) if l.startswith("SigCgt"))
while not caught() >> 1 & 1: # it does not hear SIGINT yet
    time.sleep(0.05)
begin = time.time()
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130, p.returncode
assert time.time() - begin < 5
assert not out or json.loads(out)["stopped"] is True'
fi

refused "an unknown option" "bench has no option --second; did you mean --seconds?" \
    "$CHORUS" bench --second 1
refused "no time" "--seconds 0 is not a number from 0.01 to 3600" "$CHORUS" bench --seconds 0
refused "time that is none" "--seconds soon is not a number" "$CHORUS" bench --seconds soon
refused "a word" "bench takes KEY=VALUE, not lenet" "$CHORUS" bench lenet
refused "an unknown key" "modle" "$CHORUS" bench modle=lenet
refused "an unknown model" "did you mean lenet?" "$CHORUS" bench model=tiny,lenett
refused "kernels that are nowhere" "CHORUS_ISA=nonsense: this processor" \
    env CHORUS_ISA=nonsense "$CHORUS" bench --seconds 0.05 model=tiny
refused "also beside ref" "CHORUS_ISA=nonsense: this processor" \
    env CHORUS_ISA=nonsense "$CHORUS" bench --seconds 0.05 model=tiny backend=cpu,ref
check "ref alone needs none" exits 0 env CHORUS_ISA=nonsense "$CHORUS" bench --seconds 0.05 \
    model=tiny backend=ref
exits 1 "$CHORUS" bench backend=cuda
check "no GPU is what is said" grep -q "no CUDA device" err
refused "an unknown backend" "backend = gpu" "$CHORUS" bench backend=gpu
refused "an unknown mode" "mode = both" "$CHORUS" bench mode=both
refused "a batch that is none" "batch = many" "$CHORUS" bench batch=many
refused "what no row can do" "batch = 100" "$CHORUS" bench model=tiny backend=cpu batch=100 \
    devices=8 mode=data-parallel
exits 0 "$CHORUS" bench --seconds 0.05 model=tiny,linear backend=cpu batch=16 devices=3
check "of what some rows cannot do one reason is told" \
    test "$(grep -c "^left out: mode = data-parallel: batch = 16: 3 devices do not divide it" err)$(grep -c left err)" = 11
exits 0 "$CHORUS" bench --seconds 0.05 model=tiny mode=ensemble
check "of what a backend or a precision lacks by itself none" test ! -s err
refused "what no backend can, which is not said of one that nobody named" "chorus: batch = 60001" \
    env CHORUS_CUDA=none "$CHORUS" bench model=tiny batch=60001
refused "more images than there are" "batch = 60001" "$CHORUS" bench model=tiny backend=cpu batch=60001
check "of which it speaks" grep -q "60000\|60,000" err
check "not of a key that was not given" test "$(grep -c train_limit err)" = 0
refused "a precision that the backend lacks" "backend = ref" \
    "$CHORUS" bench backend=cpu precision=fp64
finish
