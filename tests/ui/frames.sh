# tests/ui/frames.sh [--rewrite]: each screen of the program, at a small and a large size, as it was when
# somebody last looked at it: tests/fixtures/frames. `make frames` draws them anew.
export TMPDIR=/tmp # folders with names of one length: screens show them
. "${BASH_SOURCE%/*}/lib.sh"

frames=$here/../fixtures/frames
rewrite=$1
export CHORUS_CLOCK=1795176000 # an hour and a half after the runs
prepare results
mkdir -p empty drawn experiments
cp -r experiments empty
cp tiny.ini experiments/small.ini

# What belongs to this machine: how many processors, in which folder.
still()
{
    sed -E -e "1s/ +cpu · .*$//" -e "s#$work#WORK#g" -e 's#(all of them: )[^│]*#\1... #' \
        -e 's/(free memory|memory free) +[0-9.]+ [GMT]B/\1 N/' -e 's/ +$//'
}

# frame NAME SIZE RESULTS LINES...: a script that ends in this frame
frame()
{
    local name=$1-$2 size=$2 results=$3
    shift 3
    rm -rf "$HOME"
    mkdir "$HOME"
    script "$@" "save drawn/$name.raw"
    if ! timeout 60 "$CHORUS" --results "$results" --keys script --frame "$size" >said 2>&1 </dev/null; then
        fail "$name" "$(tail -n 50 said)"
        return
    fi
    still <"drawn/$name.raw" >"drawn/$name.txt"
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
both results results "calm"
both run results "calm" "keys / " "type first" "keys Enter Enter" "calm"
both run-eight results "calm" "keys /" "type eight" "keys Enter Enter" "calm"
both run-lost results "calm" "keys /" "type lost" "keys Enter Enter" "calm"
both run-hostile results "calm" "keys /" "type hostile" "keys Enter Enter" "calm"
both compare results "calm" "keys / " "type first" "keys Enter Space /" "keys Ctrl-U" "type second" \
    "keys Enter Space 4" "calm"
both sweep results "calm" "keys 5" "calm"
both predict results "calm" "keys / " "type eight" "keys Enter P" "calm"
both log results "calm" "keys 7" "calm"
frame results-filter 80x24 results "calm" "keys /" "type ensemble" "calm"
frame results-fold 80x24 results "calm" "keys v" "calm"
frame results-none 80x24 empty "calm" "keys 3" "calm"
frame run-none 80x24 empty "calm" "keys 2" "calm"
frame compare-none 80x24 empty "calm" "keys 4" "calm"
frame sweep-none 80x24 empty "calm" "keys 5" "calm"
frame predict-none 80x24 empty "calm" "keys 6" "calm"
frame compare-eight 80x24 results "calm" "keys / " "type eight" "keys Enter Space 4" "calm"
frame confusion 80x24 results "calm" "keys / " "type eight" "keys Enter P" "calm" "keys c" "calm"
frame help 80x24 results "calm" "keys ?" "calm"
frame command 80x24 results "calm" "keys :" "calm"
frame write 80x24 results "calm" "keys w" "calm"
frame one 1x1 results "calm"
frame small 59x15 results "calm"
frame least 60x16 results "calm"
frame wide 300x100 results "calm"
finish
