# CHORUS_TRACE: what happens inside, from every process, in lines that one can search.
. "${BASH_SOURCE%/*}/lib.sh"

exits 0 "$CHORUS" run tiny.ini backend=fake --quiet
check "nothing is traced where nobody asks" [ ! -s err ]

export CHORUS_TRACE_FILE=$work/t.log
CHORUS_TRACE=engine:2,record,io,cli exits 0 "$CHORUS" run tiny.ini backend=fake name=seen --quiet
check "a run says nothing more" [ ! -s err ]
line='^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]{6} [0-9]+/[0-9]+ (io|record|engine|cli)( [^ ]+)?: .+$'
check "each line has time, process, thread and room" [ "$(grep -cvE "$line" t.log)" = 0 ]
check "the room io tells of files" grep -qE ' io[^:]*: rename .*checkpoint\.safetensors: 0, done$' t.log
check "and why an operation failed" grep -qE ' io[^:]*: .*: -1, No such file' t.log
check "record tells of checkpoints" grep -qE ' record[^:]*: .*/checkpoint.safetensors written$' t.log
check "the engine tells of states" grep -qE ' engine [^ ]*seen[^ ]*: .*seen.* is done' t.log
check "a thread of a run names it" grep -qE " engine $(basename results/*seen*): a snapshot at step" t.log
check "the end of the command is told" grep -q ' cli: ends with 0$' t.log
check "reading is not of the first level" [ "$(grep -c ': read ' t.log)" = 0 ]

rm t.log
CHORUS_TRACE=cli exits 0 "$CHORUS" run tiny.ini backend=fake --background
until_true 20 state_is "$(ls -d results/*/ | tail -n 1)" done
check "a process that goes on in the background writes to the same file" \
    [ "$(awk '{ split($2, id, "/"); seen[id[1]] = 1 } END { for (i in seen) n++; print n }' t.log)" -ge 2 ]

rm t.log
CHORUS_TRACE=cli CHORUS_TRACE_FILE=t.log exits 0 "$CHORUS" run tiny.ini backend=fake epochs=1 --quiet \
    on_end="cd / && $CHORUS help lists"
check "and one that begins in another folder" grep -q ' cli: with lists$' t.log

CHORUS_TRACE=io:2 exits 0 "$CHORUS" ls
check "the second level tells of reading" grep -q ': read ' t.log

export CHORUS_TRACE=engine,glass
refused "a room that there is not" "glass: unknown room (allowed: io, record" "$CHORUS" ls
export CHORUS_TRACE=io:x
refused "a level that is no digit" "io:x: the level must be a digit, as in io:2" "$CHORUS" ls
export CHORUS_TRACE=io CHORUS_TRACE_FILE=$work/none/t.log
exits 1 "$CHORUS" ls
check "a file that cannot be made is told" grep -q "which CHORUS_TRACE_FILE names" err
finish
