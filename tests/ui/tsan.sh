# tests/ui/tsan.sh: screens driven by a script while the fake backend trains, watched by the thread
# sanitizer: the engine's threads, the planner, the thread of tasks and the main one.
. "${BASH_SOURCE%/*}/lib.sh"

program=$build/tsan/chorus
if [ ! -x "$program" ]; then
    skip "screens under the thread sanitizer" "$program is not built"
    finish
fi
fixed=
setarch -R true 2>/dev/null && fixed="setarch -R"
prepare results
cp tiny.ini small.ini
script "calm" "keys 1" "calm" "keys r" "wait done" "keys 3" "calm" "keys * 4" "calm" "keys x m o" \
    "keys 5" "calm" "keys Down Enter" "calm" "keys 6" "calm" "keys 7" "calm" "keys 1" "calm" "keys r" \
    "calm" "keys p" "sleep 300" "keys p" "sleep 300" "keys 3" "calm" "keys / " "type eight" "keys Enter t" \
    "type +watched" "keys Enter" "sleep 300" "keys 2" "calm" "keys K n" "calm"
CHORUS_FAKE_SCRIPT="step_ms=1" timeout 300 $fixed "$program" --results results --keys script \
    --frame 120x36 >said 2>&1 </dev/null
status=$?
check "no thread reads what another one writes" test "$(grep -c "WARNING: ThreadSanitizer" said)" = 0
check "the script came to its end: it ended with $status" test "$status" -le 1
grep -A25 "WARNING: ThreadSanitizer" said | head -60
finish
