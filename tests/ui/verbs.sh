# What the verbs do to runs, by keys: more epochs, weights, the same cost, a picture, how a sweep is walked;
# and ':' offers the verbs themselves.
. "${BASH_SOURCE%/*}/lib.sh"

# play RESULTS LINES...: a script of keys without a terminal
play()
{
    local results=$1
    shift
    script "$@"
    timeout 120 "$CHORUS" --results "$results" --keys script --frame 120x40 >said 2>&1 </dev/null && return
    echo "ended with $?" >>said
    cat said
    return 1
}

one results name=first epochs=4
run=$(echo results/2*)
check "a figure in LaTeX" play results "calm" "keys Enter" "wait epoch 4/4" "calm" "keys w Ctrl-U" \
    "type curves.tex" "keys Enter" "wait written: curves.tex"
check "a path whose ending says no form stays, to be mended" play results "calm" "keys w Ctrl-U" "type all.xls" \
    "keys Enter" "wait all.xls: the ending says the form" "keys Backspace Backspace Backspace" "type csv" "keys Enter" \
    "wait written: all.csv"
check "so does one that cannot be written" play results "calm" "keys w Ctrl-U" "type nowhere/all.csv" "keys Enter" \
    "wait there is no folder nowhere" "wait write (" "keys Home Delete Delete Delete Delete Delete Delete Delete Delete" \
    "type un" "keys Enter" "wait written: unall.csv"
check "of Setup's files too" play results "calm" "keys 1" "calm" "keys L" "type nothere.ini" "keys Enter" \
    "wait cannot open ./nothere.ini" "wait load the file nothere.ini" "keys Ctrl-U" "type tiny.ini" "keys Enter" "wait ./tiny.ini" \
    "gone load the file" "keys D" "wait duplicate as" "keys Ctrl-U" "type nowhere/x" "keys Enter" "wait there is no folder nowhere" \
    "wait duplicate as nowhere/x" "keys Ctrl-U" "type saved" "keys Enter" "wait written to experiments/saved.ini"
check "has its values in the CSV of its own name" eval \
    'grep -q "{curves.csv}" curves.tex && grep -q "as curves.csv too" curves.tex && ! grep -q run.csv curves.tex'
check "R gives a done run more epochs" play results "calm" "keys R" \
    "wait it is done with 4 epochs; go on to" "keys Ctrl-U" "type 3" "keys Enter" "wait it has 4 epochs" "keys R" \
    "keys Ctrl-U" "type 6" "keys Enter" "wait done" "wait epoch 6" "calm" "keys :" "wait chorus" "keys Down" \
    "wait resume ${run##*/} epochs=6" "keys Esc"
check "as many as were asked for" test "$(rows "$run/epochs.csv")" = 6
check "W writes weights, from the verb that : shows then" play results "calm" "keys W" "wait weights into" \
    "keys Ctrl-U" "type its weights.safetensors" "keys Enter" "wait the weights after 6" "keys :" "keys Down" \
    "wait weights ${run##*/} -o 'its weights.safetensors'" "keys Esc" "calm"
check "a file that is there is asked about" play results "calm" "keys W Ctrl-U" "type its weights.safetensors" "keys Enter" \
    "wait is there already" "keys c" "calm" "keys W Ctrl-U" "type its weights.safetensors" "keys Enter" "wait is there already" \
    "keys r" "wait the weights after 6" "keys :" "keys Down" "wait -o 'its weights.safetensors' --force" "keys Esc" "calm"
cp "$run/run.csv" kept.csv
check "and one of a run stays" play results "calm" "keys W Ctrl-U" "type $run/run.csv" "keys Enter" "wait is in a folder of results" \
    "keys Esc"
check "as it was" cmp "$run/run.csv" kept.csv
check "an export asks too" play results "calm" "keys x e Ctrl-U" "type all.csv" "keys Enter" "wait is there already" "keys r" \
    "wait rows of epochs.csv"
check "and then replaces it" grep -q "^run," all.csv
check "they are weights" sh -c "head -c 400 'its weights.safetensors' | grep -qa F32"
check ": offers what can be done with the run at hand" play results "calm" "keys :" "wait ls" "keys Down" \
    "wait resume ${run##*/} epochs=" "keys Up Up" "wait queue" "keys Up" "wait rm ${run##*/}" "keys Esc"
check "what a list says that is empty is shown" play results "calm" "keys :" "keys Ctrl-U" "type queue" "keys Enter" \
    "wait nothing waits in" "keys :" "keys Ctrl-U" "type ls lr=7" "keys Enter" "wait matches lr=7" "keys Esc"
check "a line with an open quote stays, to be mended" play results "calm" "keys :" "keys Ctrl-U" "type ls 'lr=7" \
    "keys Enter" "wait another ' is missing" "type '" "keys Enter" "wait matches lr=7" "keys Esc"
check "one that its verb refuses does too" play results "calm" "keys :" "keys Ctrl-U" "type shw @" "keys Enter" \
    "wait (exit code 2;" "wait chorus shw @" "keys Home Right Right" "type o" "keys Ctrl-E Backspace" "type nobody" \
    "keys Enter" "wait there is no run" "wait chorus show nobody" "keys Esc" "gone chorus show"
check "and one of a watch, and of a run" play results "calm" "keys :" "keys Ctrl-U" "type watch nobody" "keys Enter" \
    "wait there is no run" "wait chorus watch nobody" "keys Ctrl-U" "type run tiny.ini lr=x" "keys Enter" \
    "wait lr = x" "wait chorus run tiny.ini lr=x" "keys Up" "wait chorus" "keys Esc"
check "and a path that W was given, or a report" play results "calm" "keys W" "wait weights into" "keys Ctrl-U" \
    "type nowhere/its.safetensors" "keys Enter" "wait there is no folder nowhere" "wait weights into the file nowhere/its" \
    "keys Esc" "calm" "keys x" "wait report" "keys r" "keys Ctrl-U" "type tiny.ini" "keys Enter" "wait (exit " \
    "wait tiny.ini" "keys Ctrl-U" "type its-report" "keys Enter" "wait its-report"
check "but not over what somebody does meanwhile" play results "calm" "keys :" "keys Ctrl-U" "type shw @" "keys Enter 1" \
    "wait (exit code 2;" "gone chorus shw"
check "Enter on a watch shows the run" play results "calm" "keys :" "keys Ctrl-U" "type watch ${run##*/}" \
    "keys Enter" "wait test accuracy" "wait log"
check ": opens the command line from the box of the one before" play results "calm" "keys :" "keys Ctrl-U" "type models" \
    "keys Enter" "wait what the command said" "keys r s" "wait what the command said" "keys :" "gone what the command" \
    "keys Ctrl-U" "type no-such-verb" "keys Enter" "wait no-such-verb" "calm"
check "p on Compare is the focused run's" play results "calm" "keys Space 4" "wait picked on test" "keys p" \
    "wait nothing is left to pause" "keys K" "wait nothing is left to stop" "keys 3 Space"
# Of a command that takes longer than the keys behind it, on a busy machine too.
awk 'BEGIN { for (i = 0; i < 1000000; i++) print i % 3 "," i "," i % 7 "," i % 11 }' >long.csv
check "a box waits for the line that is typed" play results "calm" "keys :" "keys Ctrl-U" "type data check long.csv" "keys Enter" \
    "keys :" "keys Ctrl-U" "type some words" "calm" "wait some words" "gone what the command" "keys Esc" \
    "wait what the command said" "keys Esc" "gone what the command"
mkdir begins drops
check "what is checked still begins only behind the answer to q" play begins "calm" "keys :" "keys Ctrl-U" \
    "type run tiny.ini data=long.csv model=mlp epochs=1" "keys Enter q" "wait epochs=1 has not begun yet" "sleep 4000" \
    "wait epochs=1 has not begun yet" "keys c" "gone has not begun yet" "wait  in the background, "
check "and is begun" test "$(ls -d begins/2*/ | wc -l)" = 1
check "or not at all" play drops "calm" "keys :" "keys Ctrl-U" "type run tiny.ini data=long.csv model=mlp epochs=1" \
    "keys Enter q" "wait has not begun yet" "keys l"
check "which is so" sh -c '! ls -d drops/2*/ 2>/dev/null'
check "of a command that ends meanwhile the question goes" play drops "calm" "keys :" "keys Ctrl-U" \
    "type data check long.csv" "keys Enter q" "wait A command still works" "gone A command still works" \
    "wait what the command said" "keys Esc q"
mkdir fields
check "and for the field that is open" play fields "calm" "keys :" "keys Ctrl-U" "type data check long.csv" "keys Enter" \
    "keys Enter" "wait Enter takes" "calm" "gone what the command" "keys Esc" "wait what the command said" "keys Esc"
check "run --tui means the screen that one is on" play fields "calm" "keys :" "keys Ctrl-U" \
    "type run tiny.ini --tui --dry-run" "keys Enter" "wait what the command said" "keys Esc"
check "nothing was started" test "$(ls -d results/2*/ fields/2*/ 2>/dev/null | wc -l)" = 1
{ printf 'P5\n28 28\n255\n' && head -c 784 /dev/zero; } >'my picture.pgm'
check "a picture of one's own is answered" play results "calm" "keys P" "calm" "keys i" "wait picture" \
    "type my picture.pgm" "keys Enter" "wait my picture.pgm: " "keys :" "keys Down" \
    "wait predict ${run##*/} 'my picture.pgm'" "keys Esc"
export CHORUS_FAKE_SCRIPT="step_ms=5 stuck=20 stuck_file=$PWD/gate"
(until_true 60 test -e asks-again && : >gate) &
check "M trains a single model of the same cost, now where nothing runs, and says which" play results "calm" "keys M" \
    "wait as make the cost of" "save asks-m" "keys Enter" "wait Training tiny-" "wait in the background, 6 epochs." \
    "save answer" "wait running elsewhere" "keys M" "wait  trains elsewhere, epoch 1 of 6." "wait after it, in the queue" "save asks-again" \
    "keys c" "wait done" "calm"
wait
rm -f gate
unset CHORUS_FAKE_SCRIPT
check "without the path of its folder" eval '! grep -q "behind\|beside" asks-m asks-again && grep -q "Training tiny-" answer && ! grep -q "results/2" answer'
check "one more run" until_true 30 eval '[ "$(ls -d results/2*/ | wc -l)" = 2 ]'
check "its tags are what : shows" play results "calm" "keys t" "wait tags of" "type +paper" "keys Enter" \
    "wait written into" "keys :" "keys Down" "wait tag 2" "wait +paper" "keys Esc"
check "a note that is too long stays, to be cut" play results "calm" "keys n" "wait note on" "keys Ctrl-U" \
    "type $(printf '%0600d' 7)" "keys Enter" "wait a note takes up to 511 bytes, this one has 600" "wait note on" \
    "keys$(printf ' Backspace%.0s' $(seq 89))" "keys Enter" "wait written into"
check "so is rm" play results "calm" "keys d" "wait trash" "keys t" "wait moved to" "keys :" "keys Down" "wait rm 2"
one trashed lr=0.1,0.2 epochs=1 name=pair
check "the answer of rm says how it is undone" play trashed "calm" "keys :" "keys Ctrl-U" "type rm @" "keys Enter" \
    "wait is in the trash; undo: mv"
one chosen name=older epochs=4
one chosen name=middle epochs=4
one chosen name=newest epochs=4
python3 "$here/settle.py" chosen
check "2 and 6 on Results go with the run under the cursor" play chosen "calm" "keys Down 2" "wait loss" "calm" "wait middle" \
    "keys 3" "keys Down F2" "calm" "wait older" "keys 3 Up 6" "calm" "wait middle" "keys 3 2" "calm" "wait middle"
one 'ba{ck' name=first epochs=3
one average lr=0.05 epochs=2
one average lr=0.1 epochs=3
"$CHORUS" ensemble @ @2 --results average >/dev/null 2>&1
check ": offers no resume of an average of runs" play average "calm" "wait ens" "keys :" "keys Down" "wait chorus run " \
    "keys Up Up" "wait queue" "keys Esc"
mkdir -p models && cp tiny.net models/several.net
one called model=several epochs=1
check "but of one whose model is called several" play called "calm" "wait several" "keys :" "keys Down" \
    "wait chorus resume " "keys Esc"
check ": watch takes every name of a run" play results "calm" "keys :" "keys Ctrl-U" "type watch name=first" "keys Enter" \
    "wait loss" "wait first-" "keys 3 :" "keys Ctrl-U" "type watch @99" "keys Enter" "wait there is no run '@99'" \
    "keys :" "keys Ctrl-U" "type watch @best" "keys Enter" "wait loss"
play results "calm" "keys Home Enter" "wait loss" "calm" "save none" "keys [ [ ]" "calm" "save keys"
at=$(awk '{ line = before; before = $0 } END { print index(line, "[ ]") - 1 }' none)
check "a click on one key of a pair presses that" play results "calm" "keys Home Enter" "wait loss" "calm" "click 38 $at" \
    "click 38 $at" "click 38 $((at + 2))" "calm" "save clicks"
check "it does as the key does" cmp keys clicks
check "which does something" sh -c "! cmp -s none keys"
check "a click on a hint presses its key" play chosen "calm" "click 38 95" "wait Keys of Results" "keys Esc" \
    "gone Keys of Results" "click 38 2" "wait loss" "calm" "click 38 104" "wait chorus plot" "keys Esc" "calm"
printf '3,9\n' >>"$(ls -d chosen/2*-older-*)/epochs.csv"
check "a short row of a file is told once, on Run and in the log" play chosen "calm" "keys End Enter" \
    "wait epochs.csv:6 has 2 fields, the header 26: that row is left out" "keys 3 2 7" "calm" "wait that row is left out"
printf '1\n' >>"$(ls -d chosen/2*-older-*)/epochs.csv"
check "of two it is told how many there are" play chosen "calm" "keys End Enter" \
    "wait 2 rows of epochs.csv are left out: the first, line 6, has 2 fields, the header 26"
one edited name=edited epochs=3
sed -i '2s/0\./1./' edited/2*/epochs.csv
check "Run says that epochs.csv was changed, and so does the log" play edited "calm" "keys End Enter" \
    "wait epochs.csv was changed since it was written" "keys 7" "calm" "wait was changed since it was written"
check "so does Compare" play edited "calm" "keys End Space 4" "wait epochs.csv was changed since it was written"
check "where words stand in its place it does nothing" play chosen "calm" "keys %" "wait accuracies" "click 38 95" "calm" \
    "gone Keys of Results" "click 38 117"
# Where it does not end before that is seen, a run waits in its first epoch.
export CHORUS_FAKE_SCRIPT="step_ms=5 stuck=20 stuck_file=$PWD/gate"
(until_true 60 test -e asked && : >gate) &
check "q asks no more when what ran has ended" play results "calm" "keys r" \
    "wait running" "keys q" "wait How do you want" "save asked" "gone How do you want" "wait ended by itself"
wait
rm -f gate asked
(until_true 60 test -e asked && : >gate) &
check "leaving after the epoch is taken back by q" play 'ba{ck' "calm" "keys r" "wait running" \
    "keys : Ctrl-U" "type run tiny.ini name=behind epochs=1 --queue" "keys Enter" "wait Queued: behind starts after first-" \
    "wait . 1 in the queue (1 shows it)." "wait 1 waits" "keys Esc" "keys 3" "calm" "keys End M" "wait  trains here, epoch 1 of" \
    "keys Enter" "wait Queued: tiny starts after first-" "wait . 2 in the queue (1 shows them)." "keys 1" "wait queue, 2" "keys Tab End d" "wait number 2" \
    "keys t" "wait is out of the queue" "keys 2 q" \
    "wait How do you want" "keys a" "wait leaving after this epoch; q takes that back" "keys q" "wait take it back" \
    "keys t" "wait taken back" "save asked" "wait ✓ done  behind" "calm"
wait
check "nothing was stopped, and the queue goes on" eval \
    '[ "$("$CHORUS" ls --results ba{ck --json | grep -o "\"state\": *\"done\"" | wc -l)" = 3 ]'
rm -f gate asked
(until_true 60 test -e asked && : >gate) &
check "whose end was seen on Run is no news on Results" play results "calm" "keys 3" "calm" "keys 2" "calm" "keys r" \
    "wait running" "save asked" "wait ✓ done" "calm" "keys 3" "calm" "gone since you last looked"
wait
unset CHORUS_FAKE_SCRIPT

# A sweep, as its options say.
mkdir -p swept experiments
{ sed '/^lr/d' tiny.ini && echo 'lr = 0.1, 0.2, 0.4'; } >experiments/board.ini
sed -i 's#\./tiny.net#../tiny.net#' experiments/board.ini
check "options of a sweep are asked for" play swept "calm" "keys Tab Home Down" "keys Enter" "wait 0.1, 0.2, 0.4" "calm" "keys o" \
    "wait options of the sweep" "keys Ctrl-U" "type --name mine --bad" "keys Enter" "wait known: --name" "keys o" \
    "keys Ctrl-U" "type --name mine --order grid --max-cells 2 --jobs 2" "keys Enter" "wait r starts it so" \
    "keys :" "wait --name mine --order grid --max-cells 2 --jobs 2" "keys Esc" "keys r" "wait done" \
    "keys 5" "wait mine" "calm"
check "and obeyed" grep -q '^# options:.*--order grid --max-cells 2 --jobs 2' swept/sweeps/mine/sweep.ini
check "two cells alone" test "$(ls -d swept/2*/ | wc -l)" = 2
check "R has the others too, if one says so" play swept "calm" "keys 5" "wait 2 done, 1 left by --max-cells" "keys p" \
    "wait --max-cells 2 left 1 of 3 cells: R has the rest too" "keys R" "wait What was asked for" "keys t" \
    "wait 3 done" "calm" "keys :" "keys Down" "wait resume mine --max-cells 3" "keys Esc" "keys R" "wait No cell waits"
check "it had them" test "$(ls -d swept/2*/ | wc -l)" = 3

# What a command begins goes on without this program.
mkdir begun
export CHORUS_FAKE_SCRIPT='step_ms=25'
check "q asks of what a command has begun, and stops it" play begun "calm" "keys : Ctrl-U" \
    "type run tiny.ini epochs=100000 name=mine" "keys Enter" "wait  in the background, " "wait running elsewhere" "keys q" "wait begun by a command" \
    "wait leave it running" "keys c" "gone begun by a command" "keys : Ctrl-U" "type stop @" "keys Enter" "wait is stopped" \
    "keys : Ctrl-U" "type resume @" "keys Enter" "wait  in the background, " "keys q" "wait begun by a command, computes in a process" "keys n"
check "it is stopped" until_true 30 state_is begun/2* stopped
check "and asks no more of what has ended" play begun "calm" "keys : Ctrl-U" "type resume @" "keys Enter" \
    "wait  in the background, " "keys : Ctrl-U" "type stop @" "keys Enter" "wait is stopped" "keys q" "sleep 1000000"
check "it is told beside what waits in the queue" play begun "calm" "keys : Ctrl-U" "type resume @" "keys Enter" \
    "wait  in the background, " "keys : Ctrl-U" "type run tiny.ini name=two --queue" "keys Enter" "wait queue" \
    "keys q" "wait begun by a command, computes on in any case" "wait nobody else would take" "keys c" \
    "keys : Ctrl-U" "type queue rm 1.." "keys Enter" "wait is out of the queue" "keys : Ctrl-U" "type stop @" "keys Enter" \
    "wait is stopped" "keys q" "sleep 1000000"
unset CHORUS_FAKE_SCRIPT

# The board and the line of status count alike.
mkdir less
"$CHORUS" run tiny.ini lr=0.1,0.2 epochs=1 --name pair --queue --results less >/dev/null 2>&1
(until_true 60 test -e over && sleep 2 && "$CHORUS" rm lr=0.2 --yes --results less >/dev/null 2>&1) &
check "a run that is removed elsewhere is no cell of a sweep that ended here" play less \
    "wait sweep done  pair  2 of 2 cells" "save over" "wait sweep stopped  pair  1 of 2 cells"
wait

# An average of finished runs: what it is called is said, and nothing goes on with it.
export CHORUS_FAKE=1 # whose weights are all the same
one joined name=a epochs=1 backend=cpu
one joined name=b epochs=1 backend=cpu lr=0.02
check "E says what it made" play joined "keys 3" "wait 2 runs" "keys *" "keys E" "wait The average is the run tiny-ens2-" \
    "wait : they differ in lr" "calm"
check "R does not train an average" play joined "keys 3" "wait ens2" "keys Home Enter" "wait tiny-ens2" "calm" "gone go on" \
    "keys R" "wait It is an average of runs, which cannot be trained on" "gone go on to"
check "a report says where it lies" play joined "keys 3" "wait ens2" "keys Home x r" "wait folder of the report" "keys Enter" \
    "wait The report is in report/index.html"
check "below the results too, and at home" play joined "keys 3" "wait ens2" "keys Home x r" "keys Ctrl-U" "type $work/joined/of-it" \
    "keys Enter" "wait The report is in $work/joined/of-it/index.html" "keys x r Ctrl-U" "type ~/of-it" "keys Enter" \
    "wait The report is in $HOME/of-it/index.html" "keys W" "wait weights into" "keys Ctrl-U" "type ~/its.safetensors" "keys Enter" \
    "wait $HOME/its.safetensors"
sum=$(cksum <report/manifest.txt)
check "another one has another name" play joined "keys 3" "wait ens2" "keys Home x r" "wait report-2" "keys Enter" \
    "wait report-2/index.html"
check "and leaves the first one as it is" test "$(cksum <report/manifest.txt)" = "$sum"
check ": on Compare offers the other pane's verb, and all that take several" play joined "keys 3" "wait 3 runs" "keys *" "keys 4" \
    "calm" "keys :" "wait chorus plot" "keys Down" "wait chorus compare" "keys Up Up Up" "wait chorus rm" "keys Esc"
check "x on Compare says why the axis stays where it is given, and is what it was behind it" play joined "keys 3" \
    "wait 3 marked" "keys 4" "calm" "keys b x" "wait here the x axis is what is equal" "keys b b b b v x" \
    "wait here the x axis is devices" "keys v x :" "wait --x step" "keys Esc"
export CHORUS_FAKE=only

# What a sweep is told as a whole.
one part lr=0.1,0.2 epochs=1 --name half --max-cells 1
check ": on Sweep offers what R does" play part "keys 5" "wait half" "calm" "keys :" "wait plot half" "keys Down" \
    "wait resume half" "keys Down" "wait compare half" "keys Esc"
CHORUS_FAKE_SCRIPT='step_ms=25' one works lr=0.3,0.4 epochs=4000 --name busy --background
check "what p and K do while it runs" play works "keys 5" "wait busy" "wait running" "keys :" "wait plot busy" "keys Down" \
    "wait pause busy" "keys Down" "wait stop busy" "keys Down" "wait stop busy --after-epoch" "keys Esc"
"$CHORUS" stop busy --now --results works >/dev/null 2>&1
check "it ends" until_true 30 flock -n works/sweeps/busy/work true

# A stop after the epoch, in an epoch that does not end before it is taken back.
CHORUS_FAKE_SCRIPT="stuck=5 stuck_file=$PWD/shut" one alone name=held epochs=3 --background
check "K takes another program's stop after the epoch back, which Run says" play alone "keys 2" "wait  running elsewhere" "keys K" \
    "wait after this epoch" "keys Enter" "wait epoch; R takes that back" "wait  stopping elsewhere" "keys K" "wait It stops after this epoch already" \
    "wait take the stop back" "keys Enter" "wait this epoch is taken back" "wait  running elsewhere" "keys : Down" "wait go 2" "keys Esc"
check "a pause forgets it" play alone "keys 2" "wait  running elsewhere" "keys K" "wait after this epoch" "keys Enter" \
    "wait  stopping elsewhere" "keys p" "wait  paused elsewhere" "keys K" "wait after this epoch: it goes on to its end" "keys Esc R" \
    "wait  running elsewhere" "gone stopping"
"$CHORUS" stop @ --after-epoch --results alone >/dev/null 2>&1
"$CHORUS" pause @ --results alone >/dev/null 2>&1
"$CHORUS" go @ --results alone 2>err
check "so does the command pause, and go has none to cancel" grep -q "^2.* is running$" err
"$CHORUS" stop @ --after-epoch --results alone >/dev/null 2>&1
"$CHORUS" go @ --results alone 2>err
check "go says which stop it cancels" grep -q "^2.* is running: the stop after this epoch is cancelled$" err
: >shut
check "it goes on to its end" until_true 60 eval '[ "$(rows alone/2*/epochs.csv)" = 3 ]'
rm shut
mkdir mine
CHORUS_FAKE_SCRIPT="stuck=5 stuck_file=$PWD/shut" check "so is this program's own" play mine "calm" "keys r" "wait running" "keys K a" "wait  stopping" "keys p" "wait  paused" "wait p go on" "gone R take stop back" "keys R" \
    "gone  paused" "wait  running" "keys K n" "wait  stopped"
one rests epochs=100 name=first
export CHORUS_FAKE_SCRIPT=step_ms=400
check "a paused one is paused on Results at once, which comes to rest; R lets it go on" play rests "calm" "keys r" "wait img/s" \
    "keys 3" "wait p pause" "keys p" "wait ‖ paused" "save at-once" "wait p go on" "calm" "keys R" "wait ● running" "keys 2 K n" "wait  stopped"
check "in its row too" grep -q "  paused  " at-once
CHORUS_FAKE_SCRIPT=oom=1 check "what ran out of memory at once offers nothing of weights" play rests "calm" "keys Home r" \
    "wait out of memory" "calm" "wait r again" "gone P predictions" "gone M match" "keys P" "wait it has no weights"
unset CHORUS_FAKE_SCRIPT
CHORUS_FAKE_SCRIPT="stuck=5 stuck_file=$PWD/shut" one both lr=0.3,0.4 epochs=3 --name held --background
check "so does R on Sweep, which says it too" play both "keys 5" "wait held" "wait running" "keys K" "wait end of this epoch" "keys e" \
    "wait stopping after this epoch" "wait R take stop back" "keys K" "wait It stops after this epoch" "wait take the stop back" \
    "keys Esc R" "wait has been told to go on after this epoch too" "gone stopping after this epoch" "keys : Down" "wait go held" "keys Esc"
check "and R on Run, of a cell" play both "keys 5" "wait held" "wait running" "keys K" "wait end of this epoch" "keys e" \
    "wait stopping after this epoch" "keys 2" "wait  stopping elsewhere" "wait R take stop back" "keys R" "wait this epoch is taken back" "keys 5" "gone stopping after" \
    "wait running" "keys K" "wait after the running" "keys a" "wait no further cell begins" "keys 2" "wait R take stop back" "keys K" \
    "wait The sweep was told to stop" "keys t" "wait the sweep goes on: further cells begin" "keys 5" "gone no further cell"
: >shut
check "both cells get their results" until_true 60 eval '[ "$(grep -c ,done, both/sweeps/held/sweep.csv)" = 2 ]'
finish
