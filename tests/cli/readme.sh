# The commands of README.md, in its order, each with fewer images: what it shows must work.
readme=$PWD/README.md
. "${BASH_SOURCE%/*}/lib.sh"

unset CHORUS_FAKE
mkdir bin && ln -s "$CHORUS" bin/chorus && PATH=$work/bin:$PATH

if chorus data | grep -q '^fashion-mnist .* missing'; then
    skip "the commands of README.md" "Fashion-MNIST is not here"
    finish
fi
# Whether a sweep is at work.
sweep_runs()
{
    ! flock -n results/sweeps/long/work true
}

few="train_limit=2560 test_limit=500"
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
    *--background) until_true 20 grep -q ,running, results/*/run.csv ;;
    # the next cell is at work: @ is it
    "chorus stop @"*) until_true 20 eval '! sweep_runs || state_is "$(ls -d results/2*/ | tail -n 1)" running' ;;
    esac
done < <(awk '/^```sh/ { inside = 1; next } /^```/ { inside = 0 } inside && /^chorus / { sub(/ +#.*/, ""); print }' "$readme")
check "there are commands in it" test "$n" -ge 15
check "the figure is one" grep -q '</svg>' curves.svg
check "the weights are there" test -s lenet.safetensors
check "each image with its members' answers" grep -q "^image,label,.*member0_p0" images.csv
check "each epoch of each run beside it" grep -q "^run,sweep,cell,name," all.csv
check "the one run that has a name of its own" test "$(chorus ls lucky | grep -c ' done ')" = 1
check "the experiment of one's own is a file" grep -q '^model' mine.ini
finish
