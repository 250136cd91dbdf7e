# data = synthetic: LeNet must learn all of it to above 95 % within an epoch.
. "${BASH_SOURCE%/*}/lib.sh"

exits 0 "$CHORUS" run model=lenet data=synthetic epochs=1 batch=64 optimizer=adam lr=0.002 seed=1 \
    backend=cpu --quiet
acc=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "test_acc") c = i }
               NR == 2 { print $c }' "$(tail -n 1 out)/epochs.csv")
check "$acc after an epoch" awk -v a="$acc" 'BEGIN { exit !(a > 0.95 && a <= 1) }'
finish
