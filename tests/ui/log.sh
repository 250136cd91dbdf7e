# tests/ui/log.sh: what the Log screen tells of a run that goes on here, and log.txt of the same run.
. "${BASH_SOURCE%/*}/lib.sh"

mkdir -p experiments
sed "s#\./tiny.net#$PWD/tiny.net#" tiny.ini >experiments/aaa.ini
script "calm" "keys 1 BackTab g Down Enter" "calm" "keys r" "wait done" "keys 1 r" "calm" "keys 1 2" "wait done" \
    "calm" "keys :" "keys Ctrl-U" "type data check nowhere" "keys Enter" "calm" "wait chorus data check nowhere" "keys Esc 7" "calm" "save all.txt" \
    "keys /" "type epoch 4 of" "keys Enter" "calm" "save found.txt" "keys Esc" "keys Up Up Up Up" "keys o" "calm" \
    "save only.txt" "keys L" "calm" "save file.txt"
check "the script is played" timeout 100 "$CHORUS" --results results --keys script --frame 160x45 </dev/null
set -- results/2*
for words in "tiny on synthetic: 1,200 training images, 30 steps an epoch; fake (none), threads = " \
    "batch 40, lr 0.05, seed 0, 4 epochs, fp32, 1 device (1 real), 13.7 MB a device; backend = auto is fake: it is" \
    "epoch 1 of 4: test 0.4933 loss 1.9710, train 0.3450 loss 1.1043, the best so far" \
    "checkpoint at step 120, epoch 4, the best too" "an earlier run has the same settings: ${1#results/}"; do
    check "the screen says: $words" grep -qF "$words" all.txt
    check "log.txt says: $words" grep -qF "$words" "$2/log.txt"
done
check "of both runs" test "$(grep -c 'tiny-.* epoch 4 of 4: ' all.txt)" = 2
check "their ends" test "$(grep -c 'tiny-.* done' all.txt)" = 2
check "what a verb says has its name" grep -qE ' data +chorus: .*nowhere' all.txt
check "a search leaves what holds the words" test "$(grep -cE '^│ [0-9:]{8} ' found.txt)" = 2
check "one run alone" grep -q "log of tiny-" only.txt
check "no other's lines" test "$(grep -c '^│.* done' only.txt)" = 1
check "log.txt of that run" grep -q "epoch 4 of 4: " file.txt
script "calm" "keys 7 L" "wait log of tiny-" "keys :" "keys Ctrl-U" "type rm @" "keys Enter" \
    "wait This run is not there any more"
check "a run that is removed while its log is shown" timeout 60 "$CHORUS" --results results --keys script --frame 80x24 </dev/null
finish
