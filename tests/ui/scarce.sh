# Where memory or threads are not to be had: the terminal is given back, one sentence says it, exit code 1,
# and a run goes on from its checkpoint.
. "${BASH_SOURCE%/*}/lib.sh"

harm=$build/normal/tests/torture/harm.so # tests/torture/memory.sh tries more with it
unset CHORUS_FAKE CHORUS_FAKE_SCRIPT
ulimit -c 0

# harmed ENVIRONMENT... COMMAND...
harmed()
{
    env LD_PRELOAD="$harm" "$@"
}

# fails_for WORDS COMMAND...: exit code 1 and one sentence with these words, in ./err
fails_for()
{
    local words=$1
    shift
    exits 1 "$@" && [ "$(grep -c '^chorus: ' err)" = 1 ] && grep '^chorus: ' err | grep -q "$words"
}

# ---- no threads ----
check "a run without threads fails in a sentence" \
    fails_for thread harmed HARM_THREADS=1+ "$CHORUS" run tiny.ini epochs=1 --quiet --results none
check "so does one that has no thread to compute in" \
    fails_for thread harmed HARM_THREADS=5+ "$CHORUS" run tiny.ini threads=2 epochs=1 --quiet --results few
exits 0 "$CHORUS" resume @ --results few --quiet
check "it goes on when there are threads" state_is "$(echo few/2*)" done
check "a benchmark without a thread to measure with says so" \
    fails_for thread harmed HARM_THREADS=2 "$CHORUS" bench model=mlp mode=ensemble --seconds 0.01
exits 0 "$CHORUS" run tiny.ini --queue
exits 1 harmed HARM_THREADS=3 "$CHORUS" queue run --quiet
check "a queued run that gets none is put aside, and why" grep -q 'as 0001-tiny.ini.bad: no thread could be' err

# ---- no memory for a text ----
exits 0 "$CHORUS" help && mv out whole
cut=
for n in {1..60}; do
    harmed HARM_MEMORY=$n "$CHORUS" help >out 2>err && ! cmp -s out whole && cut+=" $n"
done
check "a text is never cut for want of memory$cut" test -z "$cut"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
# given_back NAME: after job.py
given_back()
{
    check "$1: the terminal has its modes" cmp -s before after
    check "$1: its picture" eval '! grep -qaF "[?1049h" bytes || grep -qaF "[?1049l" bytes'
    tr -d '\r' <bytes | grep -a . | tail -n 1 >last
}
python3 "$here/play.py" 24x80 "text:r starts it" key:q within:20 -- python3 "$here/job.py" \
    env LD_PRELOAD="$harm" HARM_THREADS=4+ "$CHORUS" --results none
check "the workbench without threads ends with 1" test $? = 1
given_back "the workbench without threads"
check "the workbench without threads says so" eval '[ "$(grep -c "^chorus: .*thread" last)" = 1 ]'

# ---- no memory ----
for thread in first other; do
    rm -rf ran no-memory-now
    python3 "$here/play.py" 24x80 file:no-memory-now within:30 -- python3 "$here/job.py" \
        env LD_PRELOAD="$harm" HARM_MEMORY=1+ HARM_WHEN=no-memory-now HARM_IN=$thread "$CHORUS" run tiny.ini --tui epochs=100000 --results ran &
    until_true 30 eval 'has_rows ran/2*/epochs.csv 2 && [ -s ran/2*/checkpoint.safetensors ]'
    touch no-memory-now
    wait $!
    check "no memory in the $thread thread: exit code 1" test $? = 1
    given_back "no memory in the $thread thread"
    check "it says so, last of all" grep -qa '^chorus: out of memory ([0-9]* bytes more were wanted)' last
    check "and how it goes on" grep -qaF '`chorus resume --results ran` goes on' last
    check "the log says it too" sh -c "tail -n 3 '$XDG_STATE_HOME/chorus/workbench.log' | grep -q 'out of memory'"
    timeout -s TERM 20 "$CHORUS" resume --results ran @ --quiet >said 2>&1 &
    check "and it goes on from its checkpoint" until_true 15 grep -q 'goes on at step' ran/2*/log.txt
    kill %% 2>/dev/null
    wait
done
finish
