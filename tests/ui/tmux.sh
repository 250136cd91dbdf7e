# A person at a terminal: begins a run, leaves it running, comes back, compares, quits. The terminal is as
# it was before.
. "${BASH_SOURCE%/*}/lib.sh"

if ! command -v tmux >/dev/null; then
    skip "everything in tmux" "there is no tmux"
    finish
fi
export CHORUS_FAKE_SCRIPT="step_ms=4 stuck=1000 stuck_file=$PWD/none" # which ends no third epoch
unset TMUX
tm="tmux -L chorus-$$ -f /dev/null"
trap '$tm kill-server 2>/dev/null; clean_up' EXIT
$tm new-session -d -s s -x 110 -y 32 "env PS1='ready> ' bash --norc --noprofile --noediting" 2>tmux.err || {
    skip "everything in tmux" "tmux does not start: $(cat tmux.err)"
    finish
}
$tm set-option -g escape-time 0

seen()
{
    $tm capture-pane -p -t s >screen
    grep -qF -- "$1" screen
}

# shows NAME TEXT: ok once the terminal shows it
shows()
{
    if until_true 30 seen "$2"; then
        ok "$1"
    else
        fail "$1" "never '$2' in:
$(cat screen)"
    fi
}

press()
{
    $tm send-keys -t s "$@"
}

# What a program may leave turned on.
modes()
{
    local device
    device=$($tm display-message -p -t s '#{pane_tty}')
    stty -a <"$device"
    $tm display-message -p -t s \
        '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{mouse_button_flag} #{mouse_sgr_flag} #{keypad_flag} #{keypad_cursor_flag}'
}

prompt()
{
    [ "$($tm display-message -p -t s '#{alternate_on}')" = 0 ] && seen 'ready>'
}

until_true 10 prompt
modes >before
press "$CHORUS --results kept" Enter
shows "it opens on Setup" "what it means"
check "on the other screen" test "$($tm display-message -p -t s '#{alternate_on}')" = 1
check "with the mouse" test "$($tm display-message -p -t s '#{mouse_any_flag}')" = 1
shows "where the file is in sight" "d2l-lenet-1"
# Two fields: epochs and the learning rate behind it. What stands in one is selected as it opens.
shown_since()
{
    cp screen before.screen
    press "$1"
    until_true 5 eval '! seen "" || ! cmp -s screen before.screen'
}
for _ in $(seq 20); do
    seen "passes over the training images" && break
    shown_since Down
done
press Enter
shows "a field opens" "Enter takes it"
press -l 40
press Tab
sleep 0.3
press -l 0.003
press Enter
shows "epochs is what was typed" "epochs          40"
shows "so is lr" "lr              0.003"
press r
shows "r runs the experiment" "epoch 1/40"
shows "it runs" "running"
folder=$(ls -d kept/2* | head -n 1)
check "two epochs are waited for" until_true 120 has_rows "$folder/epochs.csv" 2
shows "the third runs" "/40"
press q
shows "q asks" "leave it running"
press l
until_true 30 prompt
check "the terminal is back" prompt
modes >after
check "as it was" diff before after
check "the run goes on" until_true 20 sh -c "'$CHORUS' ls --results kept | grep -q running"
check "with both values" grep -q '^lr = 0.003' "$folder/experiment.ini"
one kept name=other epochs=2
press "clear; $CHORUS --results kept" Enter
shows "back in Results" "runs  2"
press Enter
shows "Enter opens one" "epoch"
press 3 Home
shows "Results again" "runs  2"
press Space Space
shows "Space marks two" "2 marked"
press 4
shows "Compare has both" "2 runs"
press q
until_true 20 prompt
check "it leaves" prompt
modes >after
check "and the terminal is as it was" diff before after
"$CHORUS" stop --results kept @ --now >/dev/null 2>&1 || true
column "$folder" pid >run.pid 2>/dev/null
finish
