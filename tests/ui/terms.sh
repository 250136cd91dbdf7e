# Terminals of all kinds, signals, sizes, and what comes from files: what the program does to a terminal,
# byte by byte.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
prepare results

# play SCRIPT.py's words: see play.py; the bytes go to ./bytes, the exit code is the program's
play()
{
    python3 "$here/play.py" "$@"
}

for term in linux xterm xterm-256color tmux tmux-256color screen vt100; do
    if ! infocmp $term >/dev/null 2>&1; then
        skip "TERM=$term" "this machine does not know it"
        continue
    fi
    TERM=$term play 24x80 "text:runs" key:q -- "$CHORUS" --results results
    check "TERM=$term" test $? = 0
    check "nothing of the files' drives $term" sh -c "! grep -qaF '$(printf '\033[31mred')' bytes"
done
for term in dumb no-such-terminal ''; do
    TERM=$term play 24x80 -- "$CHORUS" --results results
    code=$?
    check "TERM=$term ends with 2" test $code = 2
    check "and a sentence" grep -qa TERM bytes
done
NO_COLOR=1 play 24x80 "text:runs" key:q -- "$CHORUS" --results results
check "NO_COLOR" sh -c "! grep -qaE '\[[0-9;]*3[0-7]m' bytes"
LC_ALL=C play 24x80 "text:runs" key:2 "text:epoch" key:q -- "$CHORUS" --results results
check "a locale without UTF-8" sh -c "! LC_ALL=C grep -qa '[^ -~[:cntrl:]]' bytes"
play 24x80 "text:runs" key:q -- "$CHORUS" --ascii --results results
check "--ascii" sh -c "! LC_ALL=C grep -qa '[^ -~[:cntrl:]]' bytes"
play 24x80 "text:runs" key:q -- "$CHORUS" --no-mouse --results results
check "--no-mouse" sh -c "! grep -qaE '[?;]1000h' bytes"
play 24x80 "text:runs" key:q -- "$CHORUS" --results results
check "the mouse" grep -qaE '[?;]1000h' bytes
check "direction overrides stay out" sh -c "! grep -qaF '$(printf '\xe2\x80\xae')' bytes"
check "bells too" sh -c "! grep -qaF '$(printf '\a')' bytes"

play 24x80 "text:runs" storm:60 "text:runs" key:q -- "$CHORUS" --results results
check "a storm of sizes" test $? = 0

export CHORUS_FAKE_SCRIPT='step_ms=10'
play 24x80 "text:r starts it" key:r "text:img/s" "sleep:3" signal:TERM within:5 -- \
    "$CHORUS" --results term
check "SIGTERM ends with 143" test $? = 143
check "with the terminal given back" grep -qaF '[?1049l' bytes
check "and a checkpoint" test -s "$(echo term/2*/checkpoint.safetensors)"
play 24x80 "text:r starts it" signal:SEGV within:5 -- "$CHORUS" --results crash
check "a crash gives the terminal back" grep -qaF '[?1049l' bytes
check "and says so" grep -qa "the program crashed" bytes

check "without a terminal: usage, exit code 2" exits 2 "$CHORUS"
"$CHORUS" </dev/null 2>err | cat >out
check "into a pipe" test "${PIPESTATUS[0]}" = 2
"$CHORUS" <&- >&- 2>&-
check "with all closed" test $? = 2
finish
