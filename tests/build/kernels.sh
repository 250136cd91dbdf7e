#!/bin/bash
# What kernels are written in compiles for GPUs without a warning: every function of cuda/dev.h is used
# by the kernels that test the emulator.
passed=0 failed=0 skipped=0
nvcc=$(command -v "${NVCC:-nvcc}" || echo /usr/local/cuda/bin/nvcc)

for arch in sm_80 sm_90a; do
    if [ ! -x "$nvcc" ]; then
        echo "skipped $arch: nvcc is not here"
        skipped=$((skipped + 1))
        continue
    fi
    log=$("$nvcc" -std=c++17 -O3 -arch=$arch -Werror all-warnings -Isrc -I. \
        -c tests/unit/cuda_emu_kernels.cu -o /dev/null 2>&1)
    status=$?
    if ((status == 0)) && [ -z "$log" ]; then
        echo "ok $arch"
        passed=$((passed + 1))
    else
        echo "$log"
        echo "FAILED $arch"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
