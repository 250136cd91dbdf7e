# The program on a GPU, from outside. CUDA_PART names the part (the twin's, to try this script without
# a GPU; IMAGES and EPOCHS make it short), else the one beside the program.

. tests/cli/lib.sh
shopt -s extglob
export CHORUS_CUDA=${CUDA_PART-} CHORUS_FAKE=0
[ -n "$CHORUS_CUDA" ] || unset CHORUS_CUDA
[ -n "${GPU_DATA-}" ] && export CHORUS_DATA=$GPU_DATA
IMAGES=${IMAGES:-6400} EPOCHS=${EPOCHS:-2} MODELS=${MODELS:-lenet cnn mlp resnet18 small} MODEL=${MODEL:-lenet}
# Repeated in every precision, at the batches of the bench; and how many epochs are long enough to be cut.
REPEATED=${REPEATED:-lenet:256 cnn:256 mlp:200 resnet18:256} CUT_EPOCHS=${CUT_EPOCHS:-2000} CUT_IMAGES=${CUT_IMAGES:-$IMAGES}
# What is large enough for cuDNN; FEW images of it take a CPU some seconds.
LARGE=${LARGE:-resnet18} FEW=${FEW:-256}

chorus() { "$CHORUS" "$@" >out 2>err; }

# train NAME SETTINGS...: trains into results/NAME and leaves its folder in $run
train()
{
    local name=$1
    shift
    "$CHORUS" run "$@" --quiet --results "results/$name" >out 2>err
    code=$?
    run=$(tail -n 1 out)
    return $code
}

cell() # cell FILE COLUMN: the last row's
{
    awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i } { last = $at } END { print last }' "$1"
}

near() # near A B LIMIT: relative
{
    awk -v a="$1" -v b="$2" -v l="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; m = b < 0 ? -b : b; exit !(a != "" && b != "" && d <= l * (m > 1e-3 ? m : 1e-3)) }'
}

common="train_limit=$IMAGES test_limit=$((IMAGES / 4)) epochs=$EPOCHS batch=128"
# What learns from its first step on: nets whose weights are N(0, 0.01) stay at chance for longer than this.
learns="init=lecun lr=0.1"

chorus devices
check devices_names_a_GPU grep -q '^CUDA     GPU 0' out
chorus devices --json
check devices_counts_it grep -q '"cuda_devices": [1-9]' out

for model in $MODELS; do
    settings="model=$model $common $learns seed=3"
    if train "$model" $settings backend=cuda; then
        ok "${model}_trains"
        gpu=$(cell "$run/epochs.csv" train_loss)
        first=$run
        train "$model-again" $settings backend=cuda
        check "${model}_twice_is_the_same" same_run "$first" "$run"
        # a CPU takes too long for the whole of it
        if [ "$model" != resnet18 ] && train "$model-cpu" $settings backend=cpu; then
            cpu=$(cell "$run/epochs.csv" train_loss)
            # Another seed's is 1 % off, bf16's on a CPU 0.03 to 2.7 %, chance more than 100 %.
            check "${model}_learns_what_the_CPU_learns ($gpu, $cpu)" near "$gpu" "$cpu" 0.003
        fi
    else
        fail "${model}_trains" "$(cat err)"
    fi
done

# Every row and every weight, in tf32 and bf16 too.
for pair in $REPEATED; do
    model=${pair%:*}
    for precision in tf32 bf16; do
        settings="model=$model $common batch=${pair#*:} $learns seed=5 precision=$precision backend=cuda"
        settings=${settings/ batch=128/}
        train "$model-$precision-1" $settings && first=$run && train "$model-$precision-2" $settings &&
            same_run "$first" "$run" && ok "${model}_in_${precision}_repeats" ||
            fail "${model}_in_${precision}_repeats" "$(tail -n 3 err)"
    done
done

train auto model=tiny $common
check auto_takes_the_GPU test "$(cell "$run/run.csv" backend_used)" = cuda
for precision in fp32 tf32 bf16; do
    train "$precision" model=$MODEL $common precision=$precision backend=cuda
    check "${precision}_is_what_was_used" test "$(cell "$run/run.csv" precision_used)" = $precision
done
run_one() { train "$1" model=$MODEL $common $learns backend=cuda devices="$2" && cell "$run/epochs.csv" train_loss; }
one=$(run_one one 1)
for devices in 2 4 8; do
    check "devices_${devices}_as_one" near "$(run_one "dp$devices" $devices)" "$one" 0.003
done
run=$(echo results/dp8/2*)
check a_row_for_each_virtual_device test "$(grep -c '^1,' "$run/devices.csv")" = 8
check the_GPU_is_named_in_its_rows test "$(cell "$run/devices.csv" real)" = gpu:0

train ens model=$MODEL $common mode=ensemble members=3 devices=1 lr=0.05 backend=cuda
check an_ensemble_of_three_on_one_device test "$(cell "$run/members.csv" member)" = 2

# What cuDNN computes: against the CPU, and of members one after another against our own kernels. In 8 steps
# resnet18's mean loss goes to 3.03 instead of 4.36 that it has without learning; another seed's is 12 % off,
# bf16's on a CPU 0.014 %.
loss_of() # loss_of NAME SETTINGS...
{
    train "$@" && cell "$run/epochs.csv" train_loss
}
large="model=$LARGE epochs=1 init=he lr=${LARGE_LR:-0.002} seed=3 test_limit=64"
few="$large train_limit=$FEW batch=$((FEW / 8))"
many="${large/epochs=1/epochs=3} train_limit=$((FEW * 4)) batch=$((FEW * 2)) mode=ensemble members=2 devices=1 backend=cuda"
cpu=$(loss_of large-cpu $few backend=cpu)
none=$(loss_of large-untrained ${few/lr=*([^ ])/lr=1e-12} backend=cuda)
check "large_learns ($cpu, $none)" eval '! near "$cpu" "$none" 0.05'
for precision in fp32 tf32 bf16; do
    case $precision in
    fp32) limit=0.002 ;;
    tf32) limit=0.005 ;;
    bf16) limit=0.01 ;;
    esac
    gpu=$(loss_of large-$precision $few backend=cuda precision=$precision)
    plans=$(cell "$(tail -n 1 out)/run.csv" plans)
    check "large_in_${precision}_as_on_the_CPU ($gpu, $cpu; ${plans:-no cuDNN})" near "$gpu" "$cpu" $limit
    dnn=$(loss_of many-$precision $many precision=$precision)
    own=$(CHORUS_CUDNN=off loss_of own-$precision $many precision=$precision)
    check "large_members_in_${precision}_as_without_cuDNN ($dnn, $own)" near "$dnn" "$own" $limit
done

# Stopped, and killed in the middle: it goes on to the same rows and weights.
long="model=$MODEL train_limit=$CUT_IMAGES test_limit=64 epochs=$CUT_EPOCHS batch=128 $learns seed=9 backend=cuda"
train whole $long
whole=$run
was_begun() { [ -n "$(echo results/$1/2*/checkpoint.safetensors)" ] && [ -e results/$1/2*/checkpoint.safetensors ]; }
for signal in KILL TERM; do
    "$CHORUS" run $long --quiet --results results/$signal >out 2>err &
    pid=$!
    until_true 60 was_begun $signal
    kill -$signal $pid 2>/dev/null
    wait $pid 2>/dev/null
    run=$(echo results/$signal/2*)
    check "SIG${signal}_came_in_the_middle ($(rows "$run/epochs.csv") epochs)" test "$(rows "$run/epochs.csv")" -lt $CUT_EPOCHS
    "$CHORUS" resume "$run" --quiet >out 2>err
    check "behind_SIG${signal}_it_goes_on_to_the_same" same_run "$whole" "$run"
done
train cut model=$MODEL $common $learns backend=cuda max_steps=7
check max_steps_ends_it test "$(cell "$run/run.csv" state)" = done

chorus run model=$MODEL $common lr=1e30 backend=cuda --results results/wild
check diverged_is_exit_3 test $? = 3
chorus run model=$MODEL $common backend=cuda devices=gpu:0+63 --results results/no
check a_GPU_that_is_not_there_is_refused grep -q 'there is no GPU 63' err

finish
