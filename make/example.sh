# make/example.sh CHORUS FOLDER SCRATCH [KEY=VALUE...]: the two reports that docs/manual.md shows, from
# runs made for them: a quarter of an hour on two cores that do nothing else. What is in SCRATCH already is not run
# again. Keys (of the data) make the runs smaller, to try this.
set -e
chorus=$1 to=$2 scratch=$3
shift 3
export CHORUS_CUDA=none CHORUS_RESULTS="$scratch"

"$chorus" run lenet-board "$@"
"$chorus" run cnn-ensembles "$@"
# Trained for as long as the largest ensemble in all.
"$chorus" show mode=data-parallel model=cnn state=done >/dev/null 2>&1 || "$chorus" run --match members=8 "$@"
"$chorus" report lenet-board -o "$to/board" --title 'lenet on Fashion-MNIST: batch, learning rate, devices'
"$chorus" report model=cnn -o "$to/ensembles" \
    --title 'cnn on Fashion-MNIST: 1, 2, 4, 8 members, and one model trained as long as eight'
echo 'docs/manual.md says what they show, in numbers: compare them.'
"$chorus" ensemble members=8
"$chorus" compare model=cnn --cols test_acc,gain_mean,gain_best,train_seconds
