# make/screens.sh CHORUS FOLDER: the pictures of screens that README.md and docs/manual.md show, drawn by
# the program itself from runs made for it: two to five minutes on two cores.
set -e
chorus=$1 to=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CHORUS_RESULTS="$scratch/results" XDG_CONFIG_HOME="$scratch" XDG_STATE_HOME="$scratch"
mkdir -p "$to"

"$chorus" run first train_limit=6000 test_limit=2000 epochs=3 lr=geom:0.0005:0.008:5 \
    batch=32,64,128,256 --name rates --quiet
cat >"$scratch/sweep.keys" <<END
keys 5
wait the best
svg $to/sweep.svg
END
"$chorus" --keys "$scratch/sweep.keys" --frame 110x34

"$chorus" run first epochs=4 lr=0.001 --quiet
"$chorus" run first epochs=4 lr=0.004 --quiet
"$chorus" run first epochs=4 batch=512 --quiet
cat >"$scratch/compare.keys" <<END
keys 3 /
type epochs=4
keys Enter
wait 3 runs
keys *
keys 4
wait picked on test
keys ] ] ]
svg $to/compare.svg
END
"$chorus" --keys "$scratch/compare.keys" --frame 110x34

run=$("$chorus" run first mode=ensemble devices=8 epochs=6 --background --quiet)
cat >"$scratch/run.keys" <<END
keys 3
wait running
keys Home Enter
wait epoch 5/6
sleep 1500
svg $to/run.svg
END
"$chorus" watch "$run" --quiet >"$scratch/watched" &
while [ "$(wc -l <"$run/epochs.csv")" -lt 5 ]; do sleep 1; done
"$chorus" --keys "$scratch/run.keys" --frame 110x34
"$chorus" stop "$run" --now >"$scratch/stopped"
wait
