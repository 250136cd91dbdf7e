# What `make check-gpu` does with the program on a GPU, on the twin, with a network that is small
# enough for an emulator.

part=$(cd "${BUILD:-build}" && pwd)/normal/chorus-cuda-twin.so
if [ ! -e "$part" ]; then
    echo "skipped the_program_on_a_twin: there is no $part (it takes g++)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
CUDA_PART=$part MODELS=tiny MODEL=tiny IMAGES=1024 EPOCHS=2 GPU_DATA= exec bash tests/gpu/cli.sh
