# tests/ui/frames.sh [--rewrite]: each screen of the program, at a small and a large size, as it was when
# somebody last looked at it: tests/fixtures/frames. `make frames` draws them anew.
export TMPDIR=/tmp # folders with names of one length: screens show them
. "${BASH_SOURCE%/*}/lib.sh"

frames=$here/../fixtures/frames
rewrite=$1
export CHORUS_CLOCK=1795176000 # an hour and a half after the runs
prepare results
# Exactly one run; names as long as they may be, which differ at their ends.
one single name=only epochs=6
long=a-name-of-sixty-two-letters-that-no-column-has-any-room-for-at
one long name=$long-1 epochs=6
one long name=$long-2 epochs=6 lr=0.02
one long name=$long-3 mode=ensemble members=3 epochs=4
one long batch=50,100 lr=0.01,0.05 epochs=2 name=$long-s
python3 "$here/settle.py" single
python3 "$here/settle.py" long
# Half of a sweep, which another program goes on with.
CHORUS_FAKE_SCRIPT='oom_batch=200' one half batch=50,100,200 lr=0.01,0.05,0.1 epochs=3 name=half --max-cells 5
python3 "$here/settle.py" half
sed -i '1s/ --max-cells 5//' half/sweeps/tiny/sweep.ini
mkdir -p empty drawn experiments
cp -r experiments empty
cp tiny.ini experiments/small.ini

# What belongs to this machine: how many processors, in which folder.
still()
{
    sed -E -e "1s/ +cpu · .*$//" -e "s#$work#WORK#g" -e 's#(all of them: )[^│]*#\1... #' \
        -e 's/(free memory|memory free) +[0-9.]+ [GMT]B/\1 N/' -e 's/ +$//'
}

# Of these the roles of all cells too, which are their colours.
coloured=" setup-80x24 run-eight-80x24 run-lost-80x24 results-80x24 results-long-80x24 compare-80x24 sweep-80x24 \
predict-80x24 confusion-80x24 log-80x24 leave-80x24 write-80x24 "

# frame NAME SIZE RESULTS LINES...: a script that ends in this frame
frame()
{
    local name=$1-$2 size=$2 results=$3
    shift 3
    rm -rf "$HOME"
    mkdir "$HOME"
    script "$@" "save drawn/$name.raw" "roles drawn/$name.roles"
    if ! timeout 60 "$CHORUS" --results "$results" --keys script --frame "$size" >said 2>&1 </dev/null; then
        fail "$name" "$(tail -n 50 said)"
        return
    fi
    still <"drawn/$name.raw" >"drawn/$name.txt"
    compare "$name"
    if [[ $coloured == *" $name "* ]]; then
        mv "drawn/$name.roles" "drawn/$name.roles.txt"
        compare "$name.roles"
    fi
}

# compare NAME: what was drawn with what is kept
compare()
{
    local name=$1
    if [ -n "$rewrite" ]; then
        cp "drawn/$name.txt" "$frames/$name.txt" && ok "$name"
    elif diff -u "$frames/$name.txt" "drawn/$name.txt" >changes; then
        ok "$name"
    else
        fail "$name" "it changed; \`make frames\` keeps what is new
$(cat changes)"
    fi
}

both()
{
    local name=$1 results=$2
    shift 2
    frame "$name" 80x24 "$results" "$@"
    frame "$name" 160x45 "$results" "$@"
}

[ -n "$rewrite" ] && mkdir -p "$frames"
both setup empty "calm"
both setup-all empty "calm" "keys z" "calm"
frame setup-load 80x24 empty "calm" "keys L" "type e" "keys Tab" "wait empty/  experiments/" "calm"
both results results "calm"
both run results "calm" "keys / " "type first" "keys Enter Enter" "calm"
both run-eight results "calm" "keys /" "type eight" "keys Enter Enter" "calm"
frame run-device-seconds 80x24 results "calm" "keys /" "type eight" "keys Enter Enter" "calm" "keys x x x x x" "calm"
both run-lost results "calm" "keys /" "type lost" "keys Enter Enter" "calm"
both run-hostile results "calm" "keys /" "type hostile" "keys Enter Enter" "calm"
both compare results "calm" "keys / " "type first" "keys Enter Space /" "keys Ctrl-U" "type second" \
    "keys Enter Space 4" "calm"
both sweep results "calm" "keys 5" "calm"
both predict results "calm" "keys / " "type eight" "keys Enter P" "calm"
both log results "calm" "keys 7" "calm"
for name in single long; do
    both results-$name $name "calm"
    both run-$name $name "calm" "keys Home Enter" "calm"
done
both compare-single single "calm" "keys Space 4" "calm"
both compare-long long "calm" "keys / " "type epochs=6" "keys Enter * 4" "calm"
both sweep-long long "calm" "keys 5" "calm"
both predict-long long "calm" "keys Home P" "calm"
both predict-single single "calm" "keys Home P" "calm"
both compare-diverged results "calm" "keys / " "type lost" "keys Enter Space /" "keys Ctrl-U" "type first" \
    "keys Enter Space 4" "calm"
both log-none empty "calm" "keys 7" "calm"
both log-long long "calm" "keys 7" "calm" "keys L" "calm"
frame results-filter 80x24 results "calm" "keys /" "type ensemble" "calm"
frame results-fold 80x24 results "calm" "keys v" "calm"
frame results-sweeps 80x24 results "calm" "keys v v" "calm"
# What others do is seen by the locks that they hold.
exec 9<>half/sweeps/tiny/work && flock 9
both sweep-half half "calm" "keys 5" "calm" "wait sweep elsewhere"
exec 9>&-
mkdir -p "$CHORUS_CACHE/working"
other=$CHORUS_CACHE/working/$(mark 4711)-1
printf '%s\n' /elsewhere/results /elsewhere/results/2026-11-20-101530-412-cnn-7f3a >"$other"
exec 9<>"$other" && flock 9
both setup-busy empty "calm" "keys r" "wait another folder" "calm"
mkdir waits
"$CHORUS" run tiny.ini name=later --queue --alone --results waits --quiet >/dev/null
both setup-behind waits "calm" "keys 1" "wait until process 4711" "calm"
exec 9>&-
both results-none empty "calm" "keys 3" "calm"
both run-none empty "calm" "keys 2" "calm"
both compare-none empty "calm" "keys 4" "calm"
both sweep-none empty "calm" "keys 5" "calm"
frame predict-follow 80x24 results "calm" "keys 6" "calm" "keys 3 /" "type eight" "keys Enter Enter" \
    "calm" "keys 6" "calm"
both predict-none empty "calm" "keys 6" "calm"
both compare-eight results "calm" "keys / " "type eight" "keys Enter Space 4" "calm"
frame confusion 80x24 results "calm" "keys / " "type eight" "keys Enter P" "calm" "keys c" "calm"
frame help 80x24 results "calm" "keys ?" "calm"
frame leave 80x24 empty "calm" "keys Right" "calm" "keys q" "calm"
frame command 80x24 results "calm" "keys :" "calm"
frame write 80x24 results "calm" "keys w" "calm"
frame one 1x1 results "calm"
frame small 59x15 results "calm"
frame least 60x16 results "calm"
frame wide 300x100 results "calm"
finish
