#!/bin/bash
# What kernels are written in, and the kernels themselves, compile for GPUs without a warning: every
# function of cuda/kernels/dev.h is used by the kernels that test the emulator. Of the others `make check` asks the
# front end alone, for the oldest GPU; `make check-all` all of the compiler, for both.
passed=0 failed=0 skipped=0
nvcc=$(command -v "${NVCC:-nvcc}" || echo /usr/local/cuda/bin/nvcc)
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

# compiles NAME FLAGS FILE...
compiles()
{
    local name=$1 flags=$2 log
    shift 2
    if [ ! -x "$nvcc" ]; then
        echo "skipped $name: nvcc is not here"
        skipped=$((skipped + 1))
        return
    fi
    if log=$(printf '%s\n' "$@" | xargs -P 2 -I FILE sh -c '"$0" -std=c++17 '"$flags"' -Werror all-warnings \
        -Isrc -I. "$1" -o "$2/$(basename "$1").out" 2>&1' "$nvcc" FILE "$temp") && [ -z "$log" ]; then
        echo "ok $name"
        passed=$((passed + 1))
    else
        echo "$log"
        echo "FAILED $name"
        failed=$((failed + 1))
    fi
}

mapfile -t kernels < <(find src/cuda -name '*.cu' | LC_ALL=C sort)
for arch in sm_80 sm_90a; do
    compiles $arch "-O3 -arch=$arch -c" tests/unit/cuda/emu_kernels.cu
    ((${CHORUS_TEST_ALL:-0})) && compiles "kernels for $arch" "-O3 -arch=$arch -c" "${kernels[@]}"
done
compiles "kernels" "-G -arch=compute_80 -ptx" "${kernels[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
