# What `make check-gpu` does with the program on a GPU, on the twin, with a network that is small
# enough for an emulator.

part=$(cd "${BUILD:-build}" && pwd)/normal/chorus-cuda-twin.so
if [ ! -e "$part" ]; then
    echo "skipped the_program_on_a_twin: there is no $part (it takes g++)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
net=$(mktemp --suffix=.net) || exit 1
trap 'rm -f "$net"' EXIT
printf 'input auto\navgpool 7\nconv 32 1\nrelu\nconv 32 2\nrelu\nglobalavgpool\ndense classes\n' >"$net"
CUDA_PART=$part CHORUS_TWIN_CUDNN=1 MODELS=tiny MODEL=tiny LARGE=$net LARGE_LR=0.05 FEW=32 IMAGES=640 EPOCHS=2 \
    REPEATED=tiny:200 CUT_EPOCHS=12 CUT_IMAGES=256 GPU_DATA= \
    bash tests/gpu/cli.sh
