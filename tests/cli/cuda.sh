# The program and its part for GPUs where there is none: no driver, an old one, a busy or missing
# device, the toolkit's stub; a part that is missing, broken or of another version. The part is the
# real one under drivers that are made up here, and the twin, which is told to act so.
root=$PWD
. "${BASH_SOURCE%/*}/lib.sh"
unset CHORUS_CUDA CHORUS_FAKE CHORUS_TWIN LD_LIBRARY_PATH

build=$root/${BUILD:-build}
[ -d "${BUILD-}" ] && [[ ${BUILD-} = /* ]] && build=$BUILD
toolkit=$(sed -n 's/^CUDA := //p' "$build/normal/config.mk" 2>/dev/null)
stubs=$(sed -n 's/^CUDA_LIB := //p' "$build/normal/config.mk" 2>/dev/null)/stubs
part=$build/chorus-cuda.so twin=$build/normal/chorus-cuda-twin.so

# says SENTENCE CODE ENV...: in surroundings where there is no GPU to compute on: devices, a run that
# asks for one, and one that takes what there is.
says()
{
    local name=$1 sentence=$2
    shift 2
    check "$name: devices has a line of it" devices_has "$sentence" "$@"
    check "$name: backend = cuda is refused with it" cuda_is_refused "$sentence" "$@"
    check "$name: auto says it and trains on the CPU" auto_goes_on "$sentence" "$@"
}

devices_has()
{
    local sentence=$1
    shift
    exits 0 env "$@" "$CHORUS" devices || return
    grep -qxF "CUDA     no CUDA device: $sentence" out || {
        cat out
        return 1
    }
    grep -q '^backend = auto takes cpu' out && env "$@" "$CHORUS" devices --json >out 2>err &&
        grep -qF "\"cuda_devices\": 0, \"cuda\": {\"reason\": \"$sentence\"" out
}

cuda_is_refused()
{
    local sentence=$1
    shift
    exits 1 env "$@" "$CHORUS" run tiny.ini backend=cuda || return
    [ "$(wc -l <err)" = 1 ] && grep -qF "backend = cuda: no CUDA device here: $sentence" err || {
        cat err
        return 1
    }
}

auto_goes_on()
{
    local sentence=$1 run
    shift
    rm -rf results
    exits 0 env "$@" "$CHORUS" run tiny.ini epochs=1 || return
    [ "$(grep -cF "$sentence; training on the CPU" err)" = 1 ] || {
        cat err
        return 1
    }
    run=$(echo results/*/)
    [ "$(column "$run" backend)" = cpu ] && state_is "$run" done
}

none="there is no NVIDIA driver here"
old="the NVIDIA driver is too old: it speaks CUDA 12.4, this program needs 13.0 or newer"
no_device="the NVIDIA driver sees no GPU here"
busy="the GPU is busy: another process holds it alone, or its compute mode forbids more (nvidia-smi tells)"
stub="the libcuda.so.1 found first is the CUDA toolkit's stub, not a driver: take its folder out of LD_LIBRARY_PATH"

# ---- the twin, told what to be ----

if [ -e "$twin" ]; then
    says "twin, no driver" "$none" CHORUS_CUDA="$twin" CHORUS_TWIN=driver=none
    says "twin, old driver" "$old" CHORUS_CUDA="$twin" CHORUS_TWIN=driver=old
    says "twin, no device" "$no_device" CHORUS_CUDA="$twin" CHORUS_TWIN=driver=nodevice
    says "twin, busy device" "$busy" CHORUS_CUDA="$twin" CHORUS_TWIN=driver=busy
    says "twin, the stub" "$stub" CHORUS_CUDA="$twin" CHORUS_TWIN=driver=stub

    twin_has()
    {
        local words=$1
        shift
        exits 0 env CHORUS_CUDA="$twin" "$@" "$CHORUS" devices || return
        grep -qE -- "$words" out || {
            cat out
            return 1
        }
    }
    check "GPUs are listed" twin_has '^ +GPU 1  Twin GPU, 8.* of memory, compute capability 9\.0$' \
        CHORUS_TWIN=gpus=2
    check "with the driver and the libraries" \
        twin_has '^ +driver 580\.65\.06 \(CUDA 13\.0\), runtime 13\.0, .*NCCL 2\.28\.9$' CHORUS_TWIN=gpus=2
    check "auto would take one" twin_has '^backend = auto takes cuda' CHORUS_TWIN=gpus=2
    check "a driver that NVML does not tell of" twin_has '^ +driver unknown \(CUDA 13\.0\)' \
        CHORUS_TWIN_NVML=missing
    check "no NCCL" twin_has 'no NCCL$' CHORUS_TWIN_NCCL=missing
    check "and why" twin_has \
        '^ +no NCCL: libnccl\.so\.2 is not on this machine; without it a data-parallel run has one GPU$' \
        CHORUS_TWIN_NCCL=missing
    check "an NCCL that is too old" twin_has \
        '^ +no NCCL: .* is NCCL 2\.16\.2, chorus needs 2\.18 or newer: CHORUS_NCCL may name another; ' \
        CHORUS_TWIN_NCCL=old
    check "no cuDNN, and why" twin_has \
        '^ +no cuDNN: CHORUS_CUDNN = off: .*; without it convolutions are chorus.s own$' CHORUS_CUDNN=off
    # shellcheck disable=SC2016 # of the shell that is started
    check "both as an object" bash -c 'CHORUS_CUDA=$2 CHORUS_TWIN_NCCL=missing CHORUS_CUDNN=off "$1" devices --json |
        python3 -c "import json, sys; c = json.load(sys.stdin)[\"cuda\"]
assert c[\"nccl\"] == c[\"cudnn\"] == 0 and \"not on this\" in c[\"no_nccl\"] and \"off\" in c[\"no_cudnn\"]"' \
        - "$CHORUS" "$twin"
    check "an older GPU is listed as not usable" twin_has \
        'capability 7\.5; not usable: compute capability 7\.5: chorus needs 8\.0 \(Ampere\) or newer$' \
        CHORUS_TWIN=sm=75
    for mode in closed held; do
        check "a GPU that is $mode is listed as busy" twin_has "; not usable: the GPU is busy: " \
            CHORUS_TWIN=driver=$mode
        check "a $mode one is refused" cuda_is_refused "GPU 0 (Twin GPU) cannot be used: $busy" \
            CHORUS_CUDA="$twin" CHORUS_TWIN=driver=$mode
        check "without a $mode one auto takes the CPU" auto_goes_on \
            "GPU 0 (Twin GPU) cannot be used: $busy" CHORUS_CUDA="$twin" CHORUS_TWIN=driver=$mode
    done

    # One that cannot be used in front of others: they keep their numbers.
    on_gpu() # on_gpu WHICH GPUS SETTINGS...
    {
        local which=$1 twin_is=gpus=$2,closed=0
        shift 2
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=$twin_is "$CHORUS" run tiny.ini backend=cuda epochs=1 "$@" &&
            ! grep -lE ',(failed|oom),' results/2*/run.csv &&
            [ "$(cat results/2*/devices.csv | grep -o 'gpu:[0-9]' | sort -u | tr '\n' ' ')" = "$which " ]
    }
    check "a GPU behind one that cannot be used is named" on_gpu gpu:1 2 devices=gpu:1
    # What NVML says of each GPU, or nothing.
    memory_of_devices() # memory_of_devices ROWS [ENV...]: "gpu:0 BYTES " for each device
    {
        local want=$1
        shift
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 "$@" "$CHORUS" run tiny.ini backend=cuda epochs=1 devices=4 &&
            [ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                { printf "%s %s ", $at["real"], $at["memory_bytes"] }' results/2*/devices.csv)" = "$want" ]
    }
    check "devices.csv has each GPU's memory in use" \
        memory_of_devices "gpu:0 67108864 gpu:0 67108864 gpu:1 134217728 gpu:1 134217728 "
    check "which is empty where NVML is missing" memory_of_devices "gpu:0  gpu:0  gpu:1  gpu:1  " \
        CHORUS_TWIN_NVML=missing
    check "jobs go to those that can be used" on_gpu "gpu:1 gpu:2" 3 devices=1 lr=0.1,0.2 --jobs 2
    not_this_one()
    {
        exits 1 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2,closed=0 "$CHORUS" run tiny.ini backend=cuda devices=gpu:$1 &&
            grep -qF "devices: $2" err
    }
    check "one that cannot be used is refused" not_this_one 0 "GPU 0 (Twin GPU) cannot be used: $busy"
    check "one that is not there is refused" not_this_one 2 "there is no GPU 2: 2 here, numbered from 0"

    # One process at a time on each: who has looked has given them back.
    alone=CHORUS_TWIN=gpus=2,alone=$PWD/alone
    in_the_background()
    {
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" "$alone" "$CHORUS" run tiny.ini backend=cuda epochs=1 --background &&
            until_true 30 grep -qs ',done,' results/2*/run.csv && grep -q ',cuda,' results/2*/run.csv
    }
    check "in the background, where a GPU is for one process" in_the_background
    has_epochs() { ls results/2*/epochs.csv >/dev/null 2>&1; }
    beside_each_other()
    {
        local pid
        rm -rf results
        env CHORUS_CUDA="$twin" "$alone" "$CHORUS" run tiny.ini backend=cuda devices=gpu:0 epochs=500 \
            >first.out 2>&1 &
        pid=$!
        until_true 30 has_epochs || return
        exits 0 env CHORUS_CUDA="$twin" "$alone" "$CHORUS" run tiny.ini backend=cuda devices=gpu:1 epochs=1 &&
            twin_has 'GPU 0 .*; not usable: the GPU is busy: ' "$alone" &&
            exits 1 env CHORUS_CUDA="$twin" "$alone" "$CHORUS" run tiny.ini backend=cuda devices=gpu:0 epochs=1
        local code=$?
        kill -TERM $pid
        wait $pid
        return $code
    }
    check "beside a process on another one" beside_each_other
    check "and refused" cuda_is_refused \
        "GPU 0 (Twin GPU) cannot be used: compute capability 7.5: chorus needs 8.0" \
        CHORUS_CUDA="$twin" CHORUS_TWIN=sm=75

    # Two GPUs that add up, and how that ends.
    fails()
    {
        local name=$1 sentence=$2 state=$3
        shift 3
        rm -rf results
        check "$name" ends "$sentence" "$state" env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 "$@" \
            timeout 120 "$CHORUS" run tiny.ini backend=cuda devices=2 epochs=2
    }
    ends()
    {
        local sentence=$1 state=$2
        shift 2
        exits 1 "$@" || return
        [ "$(grep -c '^chorus: ' err)" = 1 ] && grep '^chorus: ' err | grep -qE -- "$sentence" || {
            cat err
            return 1
        }
        if [ -z "$state" ]; then
            [ ! -e results ]
        else
            state_is "$(echo results/*/)" "$state"
        fi
    }
    two_gpus()
    {
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 timeout 120 "$CHORUS" run tiny.ini \
            backend=cuda devices=2 epochs=2 && state_is "$(echo results/*/)" done
    }
    check "two GPUs train" two_gpus

    # Sums over other GPUs are others in their last bits.
    other_gpus()
    {
        local run
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 timeout 120 "$CHORUS" run tiny.ini \
            backend=cuda devices=4 epochs=1 && run=$(echo results/*/) &&
            exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 timeout 120 "$CHORUS" resume "$run" epochs=2 &&
            ! grep -q 'bytes may differ' err &&
            exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=1 timeout 120 "$CHORUS" resume "$run" epochs=3 &&
            grep -q 'computed by 2 real devices, from here on by 1, .*bytes may differ' err
    }
    check "going on with another number of GPUs is told" other_gpus

    # A run's answers are to be had where its GPUs are not.
    answers_elsewhere()
    {
        local run here there
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=3 timeout 120 "$CHORUS" run tiny.ini \
            mode=ensemble members=3 devices=gpu:2+0 epochs=1 && run=$(echo results/*/) || return
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=3 "$CHORUS" predict "$run" --json &&
            [ ! -s err ] && here=$(grep -o '"test_acc": [^,]*' out) || return
        for there in driver=none driver=busy gpus=1; do
            exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=$there "$CHORUS" predict "$run" --json &&
                [ "$(grep -o '"test_acc": [^,]*' out)" = "$here" ] &&
                grep -qE "was trained on a GPU, and .*(driver|busy|no GPU 2).*: these answers are computed without it" err || {
                cat out err
                return 1
            }
        done
    }
    check "answers of GPUs that are not here" answers_elsewhere

    # What a GPU could not hold is said before the start, and what it has too little free for: NVML's
    # twin has 64 MiB of it in use.
    # dry STATUS TWIN
    dry() { exits "$1" env CHORUS_CUDA="$twin" CHORUS_TWIN="$2" "$CHORUS" run tiny.ini model=cnn batch=800 precision=fp32 backend=cuda --dry-run; }
    too_much()
    {
        local need
        dry 0 memory=8G && ! grep -qE '^# (cannot be|too much)' out || return
        need=$(sed -n 's/^# memory  *\([0-9]*\)[0-9.]* MB$/\1/p' out)
        dry 1 memory=$((need * 6 / 10))M &&
            grep -qE '^chorus: GPU 0 has .* MB in all, this takes .* MB: .* would fit; ' err &&
            dry 0 memory=${need}M &&
            grep -qE '^# too much now +GPU 0 has .* MB free, this takes .* MB: .* would fit; ' out || {
            cat out
            return 1
        }
    }
    check "what does not fit is said by a dry run" too_much

    # Images that a dry run has not even made are counted as those of the run; and who has them in the
    # host's memory is told, as each step then waits for its own.
    counted_alike()
    {
        local said
        rm -rf results
        set -- env CHORUS_CUDA="$twin" CHORUS_TWIN=memory=8G "$CHORUS" run tiny.ini train_limit=40000 \
            backend=cuda epochs=0
        exits 0 "$@" --dry-run && said=$(sed -n 's/^# memory  *//p' out) && [ -n "$said" ] &&
            exits 0 "$@" && grep -qF ", $said a device" results/*/log.txt && ! grep -q "the host's memory" err
    }
    check "a dry run counts images that it has not made" counted_alike
    in_the_hosts_memory()
    {
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=memory=40M "$CHORUS" run tiny.ini train_limit=40000 \
            backend=cuda epochs=0 --quiet &&
            [ "$(grep -c "^chorus: GPU 0: the training images (31.4 MB) do not fit beside the rest: they stay in the host's memory" err)" = 1 ]
    }
    check "images that stay in the host's memory are told" in_the_hosts_memory

    # Where a GPU is too small for cuDNN too, a dry run knows what will do without.
    without_cudnn()
    {
        rm -rf results
        printf 'input auto\nconv 32 1\nrelu\nconv 32 1\nrelu\ndense 10\n' >wide.net
        set -- CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE=off "$CHORUS" run tiny.ini \
            model=./wide.net precision=fp32 backend=cuda batch=64 train_limit=64 test_limit=8 epochs=1
        exits 0 env CHORUS_TWIN=memory=8G "$@" --dry-run &&
            [ "$(sed -n 's/^# memory  *\([0-9]*\)[0-9.]* MB$/\1/p' out)" -ge 80 ] &&
            exits 0 env CHORUS_TWIN=memory=55M "$@" --dry-run &&
            [ "$(sed -n 's/^# memory  *\([0-9]*\)[0-9.]* MB$/\1/p' out)" -lt 50 ] || {
            cat out err
            return 1
        }
    }
    check "a dry run does without cuDNN where its memory is short" without_cudnn

    # cuDNN's engines are written down, and missed when a run goes on without them.
    engines()
    {
        local run
        rm -rf results
        printf 'input auto\navgpool 4\nconv 32 3\nrelu\nconv 32 3\nrelu\ndense 10\n' >wide.net
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE=off timeout 120 "$CHORUS" \
            run tiny.ini model=./wide.net precision=tf32 backend=cuda train_limit=120 \
            test_limit=40 epochs=1 || return
        run=$(echo results/*/)
        column "$run" plans | grep -qxE 'cudnn 91900: 11/11/11/11 #[0-9a-f]{8}' || return
        # a checkpoint of the time before hashes: nobody knows whether plans changed
        LC_ALL=C sed -i "s|\(11/11/11/11\) #[0-9a-f]\{8\}\"|\1\"          |
            s|\(\"sha256\":\"\)[0-9a-f]\{64\}|\1$(printf '%064d' 0)|" "$run"/checkpoint.safetensors &&
            LC_ALL=C sed -i "s|0\{64\}|$(sha256sum <"$run"/checkpoint.safetensors | cut -c-64)|" \
                "$run"/checkpoint.safetensors || return
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE=off timeout 120 "$CHORUS" \
            resume "$run" epochs=2 && ! grep 'damaged\|other plans' err || return
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CUDNN=off timeout 120 "$CHORUS" \
            resume "$run" epochs=3 && [ -z "$(column "$run" plans)" ] &&
            grep -qE 'by other plans \(cudnn 91900: 11/11/11/11 #[0-9a-f]*\), from here on by these: none' err
    }
    check "cuDNN's engines are written down" engines

    # A run keeps its backend: where its GPUs are gone, what is advised instead works.
    another()
    {
        local asked=$1 run
        shift
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 timeout 120 "$CHORUS" run tiny.ini "$@" epochs=1 || return
        run=$(basename results/*/)
        exits 1 env CHORUS_CUDA="$twin" CHORUS_TWIN=driver=none timeout 120 "$CHORUS" resume @ epochs=2 &&
            grep -qF "; this run goes on where it has its GPUs: \`chorus run $run $asked weights=$run\` begins" err &&
            ! grep -q "trains on the processor" err &&
            exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=driver=none timeout 120 "$CHORUS" \
                run "$run" $asked weights="$run" epochs=1
    }
    check "a run without its GPUs" another backend=cpu backend=cuda
    check "a run without the GPUs that it names" another "backend=cpu devices=2" devices=gpu:0+1
    # Nothing is advised of GPUs where something else is missing.
    without_nccl()
    {
        rm -rf results
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 timeout 120 "$CHORUS" run tiny.ini \
            backend=cuda devices=2 epochs=1 &&
            exits 1 env CHORUS_CUDA="$twin" CHORUS_TWIN=gpus=2 CHORUS_TWIN_NCCL=missing timeout 120 \
                "$CHORUS" resume @ epochs=2 &&
            grep -q "2 GPUs needs NCCL: " err && ! grep -q "where it has its GPUs" err
    }
    check "a run that goes on without NCCL" without_nccl
    why_auto()
    {
        rm -rf results
        exits 0 env CHORUS_CUDA=none "$CHORUS" run tiny.ini epochs=1 &&
            grep -q '; backend = auto is cpu: no CUDA device here: GPUs are switched off by CHORUS_CUDA=none$' \
                results/*/log.txt
    }
    check "the log says once why auto took the CPU" why_auto
    # bench times them where that is asked for; a run takes what was found, and says so.
    tuned()
    {
        local cache=$PWD/plans.cache run kept
        rm -rf results "$cache"
        printf 'input auto\navgpool 7\nconv 32 1\nrelu\nconv 32 1\nrelu\ndense 10\n' >wide.net
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE="$cache" timeout 120 "$CHORUS" \
            run tiny.ini model=./wide.net precision=tf32 backend=cuda batch=12 train_limit=24 \
            test_limit=40 epochs=1 --results untuned || return
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE="$cache" timeout 120 "$CHORUS" \
            bench --tune --seconds 0.05 backend=cuda model=./wide.net mode=data-parallel precision=tf32 \
            batch=12 train_limit=24 test_limit=40 &&
            grep -qE 'wide.net, tf32, batch 12: cudnn 91900 tuned: 1[13]/1[13]/1[13]/1[13]' err &&
            [ "$(ls "$cache"/plans/*/*.tuned | wc -l)" = 4 ] || return
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE="$cache" timeout 120 "$CHORUS" \
            run tiny.ini model=./wide.net precision=tf32 backend=cuda batch=12 train_limit=120 \
            test_limit=40 epochs=1 || return
        run=$(echo results/*/)
        column "$run" plans | grep -qxE 'cudnn 91900 tuned: 1[13]/1[13]/1[13]/1[13] #[0-9a-f]{8}' || return
        # what began without them goes on without them
        run=$(echo untuned/*/)
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE="$cache" timeout 120 "$CHORUS" \
            resume "$run" epochs=2 && ! grep 'other plans' err &&
            column "$run" plans | grep -qxE 'cudnn 91900: 11/11/11/11 #[0-9a-f]{8}' || return
        # a plan of the same engine that computes in another way
        for kept in "$cache"/plans/*/weights*tf32; do # with a checksum of what it now is
            sed -i 's/, 0\]}$/, 1]}/' "$kept" && sed 1d "$kept" >body || return
            { sha256sum <body | cut -c-64 && cat body; } >"$kept" || return
        done
        exits 0 env CHORUS_CUDA="$twin" CHORUS_TWIN_CUDNN=1 CHORUS_CACHE="$cache" timeout 120 "$CHORUS" \
            resume "$run" epochs=3 &&
            grep -qE 'by other plans \(.* 11/11/11/11 #.*by these: .* 11/11/11/11 #.* bytes may differ' err
    }
    check "bench --tune picks cuDNN's engines by their times" tuned
    check "and its version" twin_has ', cuDNN 9\.19\.0, ' CHORUS_TWIN_CUDNN=1
    check "the twin has none by itself" twin_has ', no cuDNN, '
    fails "no NCCL for two GPUs" 'NCCL: libnccl\.so\.2 is not on this machine' "" CHORUS_TWIN_NCCL=missing
    fails "an NCCL that is too old" 'is NCCL 2\.16\.2, chorus needs 2\.18 or newer' "" CHORUS_TWIN_NCCL=old
    fails "no group can be made" 'cannot make a group of 2 GPUs: unhandled system error' failed \
        CHORUS_TWIN_NCCL=id:0:0:2
    fails "a GPU that cannot join" 'GPU 1 \(rank 1\): joining the group over 2 GPUs failed: unhandled system error' \
        failed CHORUS_TWIN_NCCL=init:1:0:2
    fails "a sum that is refused" 'GPU 1 \(rank 1\): a sum over 2 GPUs failed: unhandled cuda error' failed \
        CHORUS_TWIN_NCCL=call:1:1:1
    fails "an error in the middle" 'GPU 1 \(rank 1\): a sum over 2 GPUs failed: remote process exited' failed \
        CHORUS_TWIN_NCCL=async:1:9:6
    fails "one GPU without memory" 'ran out of memory: .*GPU [01] gave no memory for .* though 8.6 GB were free' oom CHORUS_TWIN=gpus=2,fail=take:2:2
    fails "the other without memory" 'ran out of memory: .*GPU [01] gave no memory' oom CHORUS_TWIN=gpus=2,fail=take:1:2
    fails "an error that sticks" 'illegal memory access .*\(700\); this process can compute no more on that GPU.*; given up after 3 restarts$' \
        failed CHORUS_TWIN=gpus=2,fail=kernel:200:700
else
    skip "the twin" "it was not built: is there a g++?"
fi

# ---- the real part under drivers that are made up ----

# Every function of a driver: most say that there is no device. FAKE: what cuInit gives, the version.
fake_driver()
{
    mkdir -p fake stubbed &&
        ln -sf "$stubs/libcuda.so" stubbed/libcuda.so.1 &&
        {
            cat <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static int fake(int which)
{
    int init = 100, version = 13000;
    sscanf(getenv("FAKE") ? getenv("FAKE") : "", "%d,%d", &init, &version);
    return which ? version : init;
}
int cuInit(unsigned flags) { (void)flags; return fake(0); }
int cuDriverGetVersion(int *version) { *version = fake(1); return 0; }
int cuDeviceGetCount(int *n) { *n = 0; return 0; }
int cuGetProcAddress(const char *name, void **f, int version, unsigned long flags)
{
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    (void)version, (void)flags;
    *f = self ? dlsym(self, name) : 0;
    return *f ? 0 : 500;
}
int cuGetProcAddress_v2(const char *name, void **f, int version, unsigned long flags, int *found)
{
    int error = cuGetProcAddress(name, f, version, flags);
    if (found)
        *found = error != 0;
    return error;
}
C
            nm -D --defined-only "$stubs/libcuda.so" |
                awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3)
                    if ($3 ~ /^cu/ && $3 !~ /^(cuInit|cuDriverGetVersion|cuDeviceGetCount|cuGetProcAddress(_v2)?)$/ && !seen[$3]++)
                        print "int " $3 "(void) { return 100; }" }'
        } >fake/cuda.c &&
        ${CC:-gcc} -shared -fPIC -w -Wl,-soname,libcuda.so.1 fake/cuda.c -ldl -o fake/libcuda.so.1
}

if ! [ -e "$part" ]; then
    skip "the part for GPUs" "it was not built: is there a CUDA toolkit?"
elif ! [ -e "$stubs/libcuda.so" ] || ! command -v ${CC:-gcc} nm >/dev/null; then
    skip "drivers that are made up" "this needs the toolkit's stub of libcuda.so, a compiler and nm"
elif ! fake_driver; then
    fail "a driver that is made up" "it does not compile"
else
    grep -c '^int cu' fake/cuda.c >functions
    check "the made-up driver has all functions" test "$(cat functions)" -gt 300
    real=(CHORUS_CUDA="$part")
    if /sbin/ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
        skip "no driver" "there is one on this machine"
    else
        says "no driver" "$none" "${real[@]}"
    fi
    # One of the year before its toolkit: 12.4 where that is 13.0.
    runtime=$(env "${real[@]}" "$CHORUS" devices --json | sed -n 's/.*"runtime": \([0-9]*\).*/\1/p')
    before=$((runtime / 1000 - 1))
    old="the NVIDIA driver is too old: it speaks CUDA $before.4, this program needs $((runtime / 1000)).$((runtime % 1000 / 10)) or newer"
    says "old driver" "$old" "${real[@]}" FAKE=100,${before}040 LD_LIBRARY_PATH="$work/fake"
    says "no device" "$no_device" "${real[@]}" FAKE=100,13000 LD_LIBRARY_PATH="$work/fake"
    says "busy device" "$busy" "${real[@]}" FAKE=46,13000 LD_LIBRARY_PATH="$work/fake"
    says "the toolkit's stub" "$stub" "${real[@]}" LD_LIBRARY_PATH="$work/stubbed"

    # Beside the program, and in ../lib/chorus of where it lies, the part is found without being named.
    check "beside the program" bash -c 'mkdir -p a && cp "$1" a/chorus && ln -s "$2" a/chorus-cuda.so &&
        FAKE=46,13000 LD_LIBRARY_PATH=$PWD/fake a/chorus devices | grep -q "the GPU is busy"' - \
        "$CHORUS" "$part"
    check "in ../lib/chorus" bash -c 'mkdir -p b/bin b/lib/chorus && cp "$1" b/bin/chorus &&
        ln -s "$2" b/lib/chorus/chorus-cuda.so &&
        FAKE=46,13000 LD_LIBRARY_PATH=$PWD/fake b/bin/chorus devices | grep -q "the GPU is busy"' - \
        "$CHORUS" "$part"
    check "it names no library that may be missing" \
        bash -c '! readelf -d "$1" | grep NEEDED | grep -E "libcuda|libnccl|libcudnn|libnvidia|libcublas"' - "$part"
fi

# What is declared by hand is what the library's header says.
nccl=$toolkit/include/nccl.h
if [ -n "$toolkit" ] && [ -e "$nccl" ] && [ -e "$root/src/cuda/comm.h" ]; then
    cat >nccl.c <<'C'
#include <nccl.h>
#include <stddef.h>
#include "cuda/comm/comm.h"
#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)
#define FIELD(ours, theirs) SAME(offsetof(struct cuda_nccl_config, ours), offsetof(ncclConfig_t, theirs))
FIELD(size, size);
FIELD(magic, magic);
FIELD(version, version);
FIELD(blocking, blocking);
FIELD(cluster, cgaClusterSize);
FIELD(least_blocks, minCTAs);
FIELD(most_blocks, maxCTAs);
FIELD(net, netName);
FIELD(split_share, splitShare);
SAME(sizeof(struct cuda_nccl_id), sizeof(ncclUniqueId));
SAME(CUDA_NCCL_OK, ncclSuccess);
SAME(CUDA_NCCL_CUDA_ERROR, ncclUnhandledCudaError);
SAME(CUDA_NCCL_SYSTEM_ERROR, ncclSystemError);
SAME(CUDA_NCCL_USAGE, ncclInvalidUsage);
SAME(CUDA_NCCL_REMOTE, ncclRemoteError);
SAME(CUDA_NCCL_BUSY, ncclInProgress);
SAME(CUDA_NCCL_FLOAT, ncclFloat32);
SAME(CUDA_NCCL_SUM, ncclSum);
static const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
int main(void) { return theirs.magic != CUDA_NCCL_MAGIC; }
C
    check "NCCL's declarations" bash -c '"$0" -std=c11 -I"$1/src" -isystem "$2/include" nccl.c -o nccl && ./nccl' \
        "${CC:-gcc}" "$root" "$toolkit"
else
    skip "NCCL's declarations" "there is no nccl.h to compare with"
fi

# cuDNN's names follow from ours; the attributes of an operation are told by the first one.
cudnn=$toolkit/include/cudnn_graph.h
cudnn_same()
{
    {
        printf '#include <cudnn_graph.h>\n#include "cuda/dnn/dnn_abi.h"\n'
        echo '#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)'
        sed -nE 's/.*\<(DNN_[A-Z0-9_]+) = [0-9]+.*/\1 \1/p' "$root/src/cuda/dnn_abi.h" |
            sed -E -e 's/ DNN_((TYPE|DATA|HEUR)_|CROSS)/ CUDNN_\1/' -e 's/ DNN_NOTE/ CUDNN_NUMERICAL_NOTE/' \
                -e 's/ (DNN_.*_DESCRIPTOR)$/ CUDNN_BACKEND_\1/' -e 's/ DNN_/ CUDNN_ATTR_/' \
                -e 's/BACKEND_DNN/BACKEND/' -e 's/(.*) (.*)/SAME(\1, \2);/'
        for operation in FORWARD:W:X:Y BWD_DATA:W:DX:DY BWD_FILTER:DW:X:DY; do
            IFS=: read -r pass w x y <<<"$operation"
            first=OPERATION_CONVOLUTION_$pass
            i=1
            for part in BETA CONV_DESC "$w" "$x" "$y"; do
                echo "SAME(DNN_${first}_ALPHA + $i, CUDNN_ATTR_${first}_$part);"
                i=$((i + 1))
            done
        done
    } >cudnn.c
    [ "$(grep -c '^SAME' cudnn.c)" = $(($(grep -oE '\<DNN_[A-Z0-9_]+ = [0-9]' "$root/src/cuda/dnn_abi.h" | wc -l) + 15)) ] &&
        ${CC:-gcc} -std=gnu11 -I"$root/src" -isystem "$toolkit/include" -fsyntax-only cudnn.c
}
if [ -n "$toolkit" ] && [ -e "$cudnn" ] && [ -e "$root/src/cuda/dnn_abi.h" ]; then
    check "cuDNN's declarations" cudnn_same
else
    skip "cuDNN's declarations" "there is no cudnn_graph.h to compare with"
fi

# An update ends many kernels, each compiled by itself: none of its sums is left to be contracted in one
# and not in another.
updates_round_alike()
{
    "$toolkit/bin/nvcc" -std=c++17 -O3 -gencode arch=compute_90,code=compute_90 -I"$root/src" -I"$root" -ptx \
        "$root/src/cuda/update.cu" -o update.ptx &&
        awk '/\.entry k_update\(|\.entry k_update_entry\(/ { in_it = 1 } in_it { print } in_it && /^}/ { exit }' \
            update.ptx >rule.ptx &&
        grep -q 'mul\.rn\.f32' rule.ptx && ! grep -E 'fma\.rn\.f32|mul\.f32' rule.ptx
}
if [ -x "$toolkit/bin/nvcc" ] && [ -e "$root/src/cuda/update.cu" ]; then
    check "an update's products are rounded by themselves" updates_round_alike
else
    skip "an update's products" "there is no nvcc"
fi

# ---- a part that is no part ----

says "a missing part" "chorus-cuda.so cannot be opened: $work/gone.so: cannot open shared object file: No such file or directory; CHORUS_CUDA may name another" \
    CHORUS_CUDA="$work/gone.so"
echo "this is no shared library, nor will it be one" >broken.so
says "a broken part" "chorus-cuda.so cannot be opened: $work/broken.so: file too short; CHORUS_CUDA may name another" \
    CHORUS_CUDA="$work/broken.so"
# To the loader a part that was copied in part is the end of the process; here it is one sentence.
cut_part()
{
    local sentence
    sentence=$(CHORUS_CUDA=$work/cut.so "$CHORUS" devices | sed -n 's/^CUDA *no CUDA device: //p')
    [[ $sentence == "chorus-cuda.so cannot be opened: $work/cut.so: its end is missing: 100000 bytes of at least "* ]] &&
        devices_has "$sentence" CHORUS_CUDA="$work/cut.so" &&
        cuda_is_refused "$sentence" CHORUS_CUDA="$work/cut.so" &&
        auto_goes_on "$sentence" CHORUS_CUDA="$work/cut.so"
}
[ ! -e "$twin" ] || { head -c 100000 "$twin" >cut.so && check "a part whose end is missing" cut_part; }
mkfifo pipe.so
says "a pipe in place of a part" "chorus-cuda.so cannot be opened: $work/pipe.so: not a regular file; CHORUS_CUDA may name another" \
    CHORUS_CUDA="$work/pipe.so"
no_colours()
{
    exits 0 env CHORUS_CUDA=$'/a\e[31m\nb.so' "$CHORUS" devices &&
        grep -qF 'cannot be opened: /a^[[31m^Jb.so: cannot open shared object file' out &&
        [ "$(grep -c "$(printf '\e')" out)" = 0 ]
}
check "a path that would drive the terminal" no_colours
long_path()
{
    local path
    path=/$(printf '%050d/' {1..60})x.so
    exits 0 env CHORUS_CUDA="$path" "$CHORUS" devices &&
        grep -qE '^CUDA .* cannot be opened: \.\.\.[0-9].*/x\.so: cannot open shared object file: No such file or directory; CHORUS_CUDA may name another$' out
}
check "the end of a long path, and what is wrong with it" long_path
if command -v ${CC:-gcc} >/dev/null; then
    echo 'unsigned long part[99] = {999}; void *chorus_cuda_part(void) { return part; }' >other.c
    echo 'int nothing;' >nothing.c
    ${CC:-gcc} -shared -fPIC other.c -o other.so && ${CC:-gcc} -shared -fPIC nothing.c -o nothing.so ||
        fail "other parts" "they do not compile"
    speaks=$(CHORUS_CUDA=$work/other.so "$CHORUS" devices 2>&1 | sed -n 's/.*this program speaks \([0-9]*\)).*/\1/p')
    says "a part of another version" "$work/other.so is of another version of chorus (999, this program speaks $speaks): build both anew with \`make\`" \
        CHORUS_CUDA="$work/other.so"
    says "a library that is no part" "$work/nothing.so is of another version of chorus (0, this program speaks $speaks): build both anew with \`make\`" \
        CHORUS_CUDA="$work/nothing.so"
fi

# Without a part nothing is missed: a program that was built without one says nothing of GPUs.
alone()
{
    mkdir -p c && cp "$CHORUS" c/chorus && rm -rf results && exits 0 c/chorus run tiny.ini epochs=1 &&
        ! grep -qi "cuda\|gpu" err && exits 1 c/chorus run tiny.ini backend=cuda &&
        grep -q "this program was built without CUDA" err
}
check "a program alone trains on the CPU, silently" alone

# ---- starting ----

# What the cheapest of ten takes of a processor, in milliseconds: others may be at work beside it.
cheapest()
{
    local best=999999 i took TIMEFORMAT='%3U %3S'
    for i in 1 2 3 4 5 6 7 8 9 10; do
        took=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print int(($1 + $2) * 1000) }')
        ((took < best)) && best=$took
    done
    echo "$best"
}
whole=$twin
[ -e "$part" ] && whole=$part
if [ -e "$whole" ]; then
    untouched()
    {
        LD_DEBUG=files CHORUS_CUDA=$whole "$CHORUS" "$@" >out 2>err
        ! grep -q 'chorus-cuda' out err
    }
    check "what needs no device opens no part" untouched ls
    check "nor does help" untouched --help
    with=$(cheapest env CHORUS_CUDA="$whole" "$CHORUS" devices)
    without=$(cheapest env CHORUS_CUDA=none "$CHORUS" devices)
    echo "  devices costs $with ms, $without ms without the part"
    check "looking for devices is cheap" test "$with" -lt $((without * 3 + 30))
fi

finish
