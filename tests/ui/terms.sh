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

ageless() # a day may end between the two
{
    sed -E 's/ [0-9]+ (s|min|h|d) / AGE /g' "$1"
}
same_picture()
{
    diff <(ageless drawn) <(ageless seen)
}

# What each shows is what the program drew: the bytes are read as that kind of terminal reads them.
script "calm" "save drawn"
rm -rf "$HOME" && mkdir "$HOME"
exits 0 "$CHORUS" --results results --keys script --frame 80x24
check "a picture to compare with" grep -q hostile drawn
for term in linux xterm xterm-256color tmux tmux-256color screen screen-256color vt100; do
    if ! infocmp $term >/dev/null 2>&1; then
        skip "TERM=$term" "this machine does not know it"
        continue
    fi
    rm -rf "$HOME" && mkdir "$HOME"
    TERM=$term play 24x80 "raw:board" like:drawn keep:shown "key:$(tput -T $term kf1)" "text:what it means" key:3 "text:runs" key:q -- \
        "$CHORUS" --results results
    check "TERM=$term" test $? = 0
    check "nothing of the files' drives $term" sh -c "! grep -qaF '$(printf '\033[31mred')' bytes"
    check "the palette of $term stays the user's" sh -c "! grep -qaE '$(printf '\033')\](104|R)' bytes"
    python3 "$here/vt.py" 24x80 <shown >seen
    check "$term shows what was drawn" same_picture
    python3 "$here/vt.py" 24x80 <bytes >left
    check "$term has nothing where its prompt comes" test -z "$(sed -n 24p left | tr -d ' ')"
    python3 "$here/vt.py" 24x80 colours <shown >colours
    case $(tput -T $term colors) in
    256) check "$term has the theme's own colours" awk '$3 == 75 { n++ } END { exit !n }' colours ;;
    8) check "$term has eight colours" awk '$3 > 7 && $3 != "None" || $4 > 7 && $4 != "None" { exit 1 } END { exit !NR }' colours ;;
    *) check "$term has none" awk '$3 != "None" || $4 != "None" { exit 1 } END { exit !NR }' colours ;;
    esac
done
# A key that terminfo lacks is no Esc with letters behind it; what all terminals send is understood.
for term in vt100 screen-256color; do
    TERM=$term play 24x80 "text:board" $'key:\e[1;5D' $'key:\e[15;2~' $'key:\e[1;5B' key:? "text:Keys of Results" \
        $'key:\e' sleep:0.3 without:"what it means" $'key:\e[4~' $'key:\r' "text:epoch" key:3 "text:runs" $'key:\e[1~' \
        sleep:0.3 key:1 "text:what it means" key:q -- "$CHORUS" --results results
    check "keys that $term lacks" test $? = 0
done
rm -rf "$HOME" && mkdir "$HOME"
LINES=30 COLUMNS=100 play 24x80 "raw:board" like:drawn keep:shown key:q -- "$CHORUS" --results results
check "LINES and COLUMNS of another window" test $? = 0
python3 "$here/vt.py" 24x80 <shown >seen
check "do not change what is shown" same_picture
for term in dumb no-such-terminal ''; do
    TERM=$term play 24x80 -- "$CHORUS" --results results
    code=$?
    check "TERM=$term ends with 2" test $code = 2
    check "and a sentence" grep -qa "TERM=xterm chorus" bytes
done
# Every screen, one after the other, an ensemble's too.
through=(key:1 "text:what it means" key:2 "text:epoch" key:3 "text:runs" key:4 sleep:0.3 key:5 "text:board"
    key:6 sleep:0.5 key:7 sleep:0.3 key:3 "text:runs" key:q)
# colours: whether these bytes set one
colours()
{
    grep -qaE "$(printf '\033')\[([0-9;]*;)?([34][0-7]|[34]8;5;[0-9]+|9[0-7]|10[0-7])(;[0-9;]*)?m" bytes
}
TERM=xterm-256color play 24x80 "text:runs" "${through[@]}" -- "$CHORUS" --results results
check "colours" colours
NO_COLOR=1 TERM=xterm-256color play 24x80 "text:runs" "${through[@]}" -- "$CHORUS" --results results
check "NO_COLOR ends well" test $? = 0
check "without a colour" eval '! colours'
TERM=xterm-256color play 24x80 "text:runs" "${through[@]}" -- "$CHORUS" --theme mono --results results
check "so does the theme mono" eval '! colours'
LC_ALL=C play 24x80 "text:runs" "${through[@]}" -- "$CHORUS" --results results
check "a locale without UTF-8" sh -c "! LC_ALL=C grep -qa '[^ -~[:cntrl:]]' bytes"
play 24x80 "text:runs" "${through[@]}" -- "$CHORUS" --ascii --results results
check "--ascii" sh -c "! LC_ALL=C grep -qa '[^ -~[:cntrl:]]' bytes"
play 24x80 "text:runs" key:q -- "$CHORUS" --no-mouse --results results
check "--no-mouse" sh -c "! grep -qaE '[?;]1000h' bytes"
play 24x80 "text:runs" key:q -- "$CHORUS" --results results
check "the mouse" grep -qaE '[?;]1000h' bytes
# click COLUMN ROW, from 1: the mouse's button goes down and up
click()
{
    printf '\033[<0;%d;%dM\033[<0;%d;%dm' $1 $2 $1 $2
}
if [ "$(tput -T xterm kmous)" = "$(printf '\033[<')" ]; then
    TERM=xterm play 24x80 "text:runs" "key:$(click 12 1)" "text:what it means" "key:$(click 26 1)" "text:runs" \
        "key:$(click 45 4)" "text:by name" "key:$(click 26 4)" "text:by best" sleep:0.5 "key:$(click 30 6)" sleep:0.5 key:$'\r' "text:loss" key:q -- \
        "$CHORUS" --results results
    check "clicks on screens, heads and a run" test $? = 0
    TERM=xterm play 24x80 "text:runs" sleep:0.3 "key:$(click 30 6)$(click 30 6)" "text:loss" key:q -- "$CHORUS" --results results
    check "a double click that comes in one piece" test $? = 0
    rm -rf "$HOME" && mkdir "$HOME"
    TERM=xterm play 24x80 "raw:board" like:drawn "key:$(click 12 1)$(click 26 1)" sleep:0.5 like:drawn keep:shown key:q -- \
        "$CHORUS" --results results
    python3 "$here/vt.py" 24x80 <shown >seen
    check "of two clicks in one piece the first comes first" same_picture
    TERM=xterm play 24x80 "text:runs" sleep:0.3 "key:$(printf '\033[<65;30;8M\033[<65;30;8M')" sleep:0.5 "key:$(printf '\033[<64;30;8M')" \
        sleep:0.3 key:$'\r' "text:loss" key:q -- "$CHORUS" --results results
    check "the wheel" test $? = 0
    TERM=xterm play 24x80 "text:runs" "key:$(click 12 1)" sleep:0.5 "without:what it means" key:1 "text:what it means" \
        key:q -- "$CHORUS" --no-mouse --results results
    check "a mouse that somebody left switched on presses no digits" test $? = 0
else
    skip "clicks" "xterm's mouse is another one here"
fi
TERM=screen play 24x80 "text:runs" "key:$(printf '\033[M 1!\033[M#1!')" sleep:0.5 "without:what it means" key:1 "text:what it means" \
    key:q -- "$CHORUS" --no-mouse --results results
check "nor does one of an old terminal" test $? = 0
check "direction overrides stay out" sh -c "! grep -qaF '$(printf '\xe2\x80\xae')' bytes"
check "bells too" sh -c "! grep -qaF '$(printf '\a')' bytes"

play 24x80 "text:runs" storm:60 "text:runs" key:q -- "$CHORUS" --results results
check "a storm of sizes" test $? = 0

export CHORUS_FAKE_SCRIPT='step_ms=10'
for signal in $terms; do
    play 24x80 "text:r starts it" key:r "text:img/s" "sleep:3" signal:$signal within:5 -- \
        "$CHORUS" --results $signal
    check "SIG$signal ends with 143" test $? = 143
    check "with the terminal given back" grep -qaF '[?1049l' bytes
    check "and a checkpoint" test -s "$(echo $signal/2*/checkpoint.safetensors)"
done
# A logout sends both, one behind the other: the screens are being left when the second comes.
for seconds in 0.002 0.005 0.01 0.02 0.04; do
    play 24x80 "text:r starts it" key:r "text:img/s" gone:$seconds -- "$CHORUS" --results logout-$seconds
    check "SIGTERM $seconds s behind the end of a terminal is heard" until_true 8 eval '! kill -0 "$(cat gone.pid)" 2>/dev/null'
    kill -KILL "$(cat gone.pid)" 2>/dev/null
done
play 24x80 "text:r starts it" signal:SEGV within:5 -- "$CHORUS" --results crash
check "a crash gives the terminal back" grep -qaF '[?1049l' bytes
check "and says so" grep -qa "the program crashed" bytes
check "of a resume it says nothing, where nothing ran" sh -c "! grep -qa 'chorus resume' bytes"
for signal in ABRT BUS FPE ILL SYS TRAP; do
    play 24x80 "text:r starts it" signal:$signal within:5 -- "$CHORUS" --results crash
    check "SIG$signal gives the terminal back" grep -qaF '[?1049l' bytes
done

check "without a terminal: usage, exit code 2" exits 2 "$CHORUS"
"$CHORUS" </dev/null 2>err | cat >out
check "into a pipe" test "${PIPESTATUS[0]}" = 2
"$CHORUS" <&- >&- 2>&-
check "with all closed" test $? = 2
finish
