# Usage, help, version, exit codes.
verbs=$(grep -oE '\{"[a-z]+", cli_' src/cli/verbs.c | cut -d '"' -f 2) # the table of the program
. "${BASH_SOURCE%/*}/lib.sh"

check "verbs are found" test "$(wc -w <<<"$verbs")" -gt 20

exits 2 "$CHORUS"
check "alone: usage on stderr, exit 2" grep -q "^usage: chorus" err
check "alone: why no workbench opens" grep -q "^chorus: the workbench opens on a terminal, and standard input is none" err
check "alone: nothing on stdout" test ! -s out
exits 0 "$CHORUS" --help
check "--help" grep -q "^usage: chorus" out
exits 2 "$CHORUS" --nonsense
check "an unknown option of the workbench" grep -q "^chorus: chorus has no option --nonsense" err
exits 0 "$CHORUS" help
check "help" grep -q "^usage: chorus" out
exits 0 "$CHORUS" --version
check "--version" grep -qE "^chorus [^ ]+$" out
for verb in $verbs; do
    exits 0 "$CHORUS" $verb --help
    check "$verb --help" grep -q "^usage: chorus $verb" out
    cp out help-of-verb
    exits 0 "$CHORUS" help $verb
    check "no line of help $verb is over 100 columns" test "$(wc -L <out)" -le 100
    check "help $verb says the same" cmp -n "$(wc -c <help-of-verb)" help-of-verb out
    check "$verb stands in the usage" grep -qE "^  (.*, )?$verb( |$)" <("$CHORUS" --help)
done
for verb in compare export plot predict weights; do
    exits 0 "$CHORUS" $verb --help
    check "$verb says what --force does" grep -q -- "^  --force .*not empty" out
done
exits 0 "$CHORUS" help keys
check "help keys" grep -q "lr_rule" out
check "no line of it is over 100 columns" test "$(wc -L <out)" -le 100
exits 0 "$CHORUS" help lr_rule
check "help of a key" grep -q "linear" out
refused "help of nonsense" "nonsense" "$CHORUS" help nonsense
refused "a key as an option" "goes without dashes, as epochs=VALUE" "$CHORUS" run first --epochs 3
refused "a key by another name" "did you mean lr?" "$CHORUS" run first learning_rate=0.1
refused "a model where an experiment stands" "model=resnet18" "$CHORUS" run resnet18
exits 0 "$CHORUS" help data
check "help of a command and a key" grep -q "^data: the images to learn from" out
check "whose CSV files are described" grep -q "^A CSV file: commas, a row an image" out
refused "help of nothing" "named ''" "$CHORUS" help ''
refused "an empty command" "'' is no command" "$CHORUS" ''
refused "the name of an experiment without run" "chorus run first\` runs it" "$CHORUS" first
refused "an unknown command" "did you mean devices?" "$CHORUS" devcies
refused "an unknown command with escapes" '^[[31mx' "$CHORUS" $'\033[31mx'
refused "an empty run name" "chorus" "$CHORUS" plot ""
refused "watch of nothing" "@" "$CHORUS" watch

exits 0 "$CHORUS" devices
check "devices names the CPU" grep -q "^CPU " out
check "devices says that there is no CUDA device" grep -q "no CUDA device" out
check "devices lists ref" grep -qE " ref +[a-z]" out
check "fake is listed where it is asked for" grep -q " fake " out
CHORUS_FAKE= exits 0 "$CHORUS" devices
check "and nowhere else" test "$(grep -c fake out)" = 0
refused "devices takes no name" "no name" "$CHORUS" devices gpu
if command -v python3 >/dev/null; then
    exits 0 "$CHORUS" devices --json
    check "devices --json" python3 -c '
import json
d = json.load(open("out"))
assert d["cores"] >= 1 and d["cpu"] and d["backends"][0]["isa"] and d["backends"][0]["isa_bf16"]'
else
    skip "devices --json" "there is no python3"
fi
(unset CHORUS_FAKE && exits 2 "$CHORUS" run tiny.ini backend=fake)
check "backend = fake is refused to users" test $? = 0

refused "an option before the command" 'behind the command: `chorus ls --results /nope`' \
    "$CHORUS" --results /nope ls
refused "before its operands" 'behind the command: `chorus run first --quiet`' \
    "$CHORUS" --quiet run first
refused "one of the workbench" '--ascii is an option of the workbench, and a command' "$CHORUS" --ascii ls
check "which the line does without" grep -qF '`chorus ls --json`' <("$CHORUS" --theme mono ls --json 2>&1)
exits 2 "$CHORUS" --results ls
check "a folder of a command's name is none" grep -q "standard input is none" err

# A listing whose reader goes away is no crash.
(trap '' PIPE; "$CHORUS" help keys 2>err | true)
check "a reader that goes away" test ! -s err
if [ -w /dev/full ]; then
    "$CHORUS" help keys >/dev/full 2>err
    check "a full disk is told" test $? = 1 -a -s err
fi

finish
