# Plants what does not belong there in the place of each file of runs, sweeps and the queue, in their columns and lines,
# their names, and in words of the command line. Held must be: nothing outside results/ is written through a link, no
# verb waits for a pipe, each ends with a code that is promised, and no byte that drives a terminal gets out.
. "${BASH_SOURCE%/*}/lib.sh"

scenarios=4
export CHORUS_CACHE=$cache/own

if ! command -v python3 >/dev/null; then
    skip "plants" "there is no python3"
    finish
fi
for at in 2 3 5 7; do
    printf '%s\n' "keys $at" calm "save frame" >screen$at
done
sed -i 's/^train_limit.*/train_limit = 200/; s/^test_limit.*/test_limit = 100/; s/^epochs.*/epochs = 1/' tiny.ini
echo "backend = fake" >>tiny.ini
sed 's/^lr.*/lr = 0.05, 0.1/' tiny.ini >board.ini
exits 0 "$CHORUS" run tiny.ini epochs=2 name=one --quiet
exits 0 "$CHORUS" run tiny.ini name=three mode=ensemble members=3 --quiet
exits 0 "$CHORUS" run board.ini --quiet
exits 0 "$CHORUS" tag one +paper
exits 0 "$CHORUS" note one "a note"
exits 0 "$CHORUS" run tiny.ini name=later --queue
mv results whole

for kind in files bytes names words; do
    torture_program $kind "$OLDPWD/tests/torture/plants.py" $kind "$CHORUS"
done
finish
