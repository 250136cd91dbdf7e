# Links and pipes planted in results/: no verb writes a file through a link, and none waits for a pipe.
# A path that the user types may be a link, and so may a folder.
. "${BASH_SOURCE%/*}/lib.sh"

cat >board.ini <<'END'
model = ./tiny.net
data = synthetic
train_limit = 200
test_limit = 100
batch = 40
epochs = 1
lr = 0.05, 0.1
END

tiny=(tiny.ini train_limit=200 test_limit=100)
run=$("$CHORUS" run "${tiny[@]}" epochs=2 name=one --quiet)
exits 0 "$CHORUS" run board.ini --quiet
exits 0 "$CHORUS" predict "$run"
exits 0 "$CHORUS" run "${tiny[@]}" epochs=1 name=later --queue
name=${run#results/}
mv results whole

# In place of results/FILE: `link` to a file outside that holds the same, `pipe`.
plant()
{
    rm -rf results outside
    cp -r whole results
    mkdir outside
    if [ -e "results/$2" ]; then
        mv "results/$2" outside/precious
    else
        echo precious >outside/precious
    fi
    if [ "$1" = link ]; then
        ln -s "$work/outside/precious" "results/$2"
        cp outside/precious precious
    else
        mkfifo "results/$2"
    fi
}

# kept KIND FILE COMMAND...: it ends, and what was linked to is as it was
kept()
{
    local kind=$1 file=$2
    shift 2
    plant "$kind" "$file"
    timeout 120 "$CHORUS" "$@" >out 2>err </dev/null
    if [ $? -ge 124 ]; then
        fail "$kind $file: $*" "it hangs or died: $(tail -n 3 err)"
    elif [ "$kind" = link ] && ! cmp -s precious outside/precious; then
        fail "$kind $file: $*" "it was written to"
    elif [ "$(ls outside)" != precious ]; then
        fail "$kind $file: $*" "left outside: $(ls outside)"
    else
        return 0
    fi
}

# all_kept FILE COMMAND...: with a link and with a pipe
all_kept()
{
    local file=$1 verb before=$failed kind
    shift
    for verb in "$@"; do
        for kind in link pipe; do
            # shellcheck disable=SC2086 # a command is several words
            kept $kind "$file" $verb
        done
    done
    [ "$before" = "$failed" ] && ok "${file#"$name"/}: ${*%% *}"
}

# Each file with each verb: tests/torture/plants.sh.
for file in run.csv epochs.csv log.txt checkpoint.safetensors; do
    all_kept "$name/$file" "resume $name epochs=3 --quiet"
done
all_kept "$name/run.csv" "tag $name +good"
all_kept "$name/predictions.safetensors" "predict $name"
all_kept "$name/.checkpoint.safetensors.tmp" "resume $name epochs=3 --quiet"
for file in sweep.csv ledger.csv; do
    all_kept "sweeps/board/$file" "run board.ini lr=0.05,0.1,0.2 --quiet"
done
item=queue/$(ls whole/queue | grep later)
all_kept "$item" "queue run --quiet"
all_kept queue/.taken "queue run --quiet"

# What is refused says why.
plant link "$name/epochs.csv"
exits 1 "$CHORUS" resume "$name" epochs=3 --quiet
check "a link to a file is refused" grep -q "epochs.csv is a link: chorus follows no link" err
plant pipe "$name/epochs.csv"
exits 1 "$CHORUS" resume "$name" epochs=3 --quiet
check "a pipe is refused" grep -q "epochs.csv is not a regular file" err
plant link sweeps/board/sweep.csv
exits 0 "$CHORUS" resume board --quiet
check "a link that is replaced becomes a file" test ! -L results/sweeps/board/sweep.csv

plant link queue/.lock
exits 1 "$CHORUS" queue run --quiet
check "nobody waits for a lock that is a link" grep -q "queue/.lock is a link" err
rm results/queue/.lock && mkdir results/queue/.lock
exits 1 timeout 60 "$CHORUS" queue run --quiet
check "nor for one that is a folder" grep -q "queue/.lock: Is a directory" err

# Folders may be links, on another disk for instance, and the run there goes on.
rm -rf results outside
cp -r whole outside
ln -s outside results
exits 0 "$CHORUS" resume "$name" epochs=3 --quiet
check "results may be a link" test "$(rows "outside/$name/epochs.csv")" = 3
rm -rf results outside
cp -r whole results
mv "results/$name" outside
ln -s "$work/outside" "results/$name"
exits 0 "$CHORUS" resume "$name" epochs=3 --quiet
check "so may the folder of a run" test "$(rows outside/epochs.csv)" = 3

# What the user types is followed.
mkdir -p there
ln -sf there/all.csv all.csv
exits 0 "$CHORUS" export "$name" -o all.csv
check "-o follows a link" test -s there/all.csv -a -L all.csv
ln -sf there/w.safetensors w.safetensors
exits 0 "$CHORUS" weights "$name" -o w.safetensors
check "weights -o follows a link" test -s there/w.safetensors -a -L w.safetensors
exits 2 "$CHORUS" weights "$name" -o /dev/null
check "weights to a device are refused" test ! -s out

finish
