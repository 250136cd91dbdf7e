# The commands of README.md and docs/manual.md, in the order of each page, each with fewer images: what they show must
# work.
pages="$PWD/README.md $PWD/docs/manual.md"
. "${BASH_SOURCE%/*}/lib.sh"

unset CHORUS_FAKE
mkdir bin && ln -s "$CHORUS" bin/chorus && PATH=$work/bin:$PATH

if chorus data | grep -q '^fashion-mnist .* missing'; then
    skip "the commands of README.md and docs/manual.md" "Fashion-MNIST is not here"
    finish
fi
# Whether a sweep is at work.
sweep_runs()
{
    [ -e results/sweeps/long/work ] && ! flock -n results/sweeps/long/work true
}

few="train_limit=2560 test_limit=500"

# commands PAGE: one after the other, in a folder of the page's own; n: how many there are
commands()
{
    mkdir -p "${1##*/}.tried" && cd "${1##*/}.tried" || exit 1
    n=0
    while read -r line; do
        n=$((n + 1))
        case $line in
        *'>'*) command="${line%%>*} $few >${line#*>}" ;;
        *--background) command="${line/epochs=5/epochs=100000} $few" ;; # not over before it is stopped
        "chorus run"*) command="$line $few" ;;
        "chorus watch"* | "chorus resume"*) command="timeout -s INT 3 $line" ;;
        *) command=$line ;;
        esac
        eval "$command" >out.log 2>err.log </dev/null
        status=$?
        # timeout says 124 of those that would still be at it.
        case $line:$status in
        *:0 | "chorus watch"*:124 | "chorus resume"*:124) ok "$line" ;;
        *) fail "$line" "status $status: $(tail -n 3 err.log)" ;;
        esac
        case $line in
        *--background) until_true 20 eval 'grep -q ,running, results/*/run.csv' ;; # also of a folder that is new
        # the next cell is at work: @ is it
        "chorus stop @"*) until_true 20 eval '! sweep_runs || state_is "$(ls -d results/2*/ | tail -n 1)" running' ;;
        esac
    done < <(awk '/^```sh/ { inside = 1; next } /^```/ { inside = 0 } inside && /^chorus / { sub(/ +#.*/, ""); print }' "$1")
}

for page in $pages; do
    commands "$page"
    check "there are commands in ${page##*/}" test "$n" -ge 15
    check "the weights are there" test -s lenet.safetensors
    check "the one run that has a name of its own" test "$(chorus ls lucky | grep -c ' done ')" = 1
    check "the report is a page" grep -q '</html>' report/index.html
    cd "$work" || exit 1
done
cd manual.md.tried || exit 1
check "the figure is one" grep -q '</svg>' curves.svg
check "each image with its members' answers" grep -q "^image,label,.*member0_p0" images.csv
check "each epoch of each run beside it" grep -q "^run,sweep,cell,name," all.csv
check "the experiment of one's own is a file" grep -q '^model' mine.ini
cd "$work" || exit 1

# A command in a block of another kind would not be tried. Those of a GPU, and of pictures that nobody has, may be.
untried=$(awk '/^```/ { open = !open; inside = open && !/^```sh/; next }
               inside && /^chorus / { sub(/ +#.*/, ""); print }' $pages)
check "no other commands stand there" test "$untried" = "chorus devices
chorus run first backend=cuda
chorus run first devices=gpu:0+2"
finish
