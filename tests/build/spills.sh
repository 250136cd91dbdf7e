#!/bin/bash
# The products' innermost loops keep their sums in registers, of every instruction set: what the compiler makes of
# them is looked at.
program=${CHORUS:-build/chorus}
if ! command -v objdump >/dev/null || ! command -v python3 >/dev/null; then
    echo "skipped products keep their sums in registers: no objdump or no python3 is here"
    echo "0 passed, 0 failed, 1 skipped"
elif [ "$(uname -m)" != x86_64 ]; then
    echo "skipped products keep their sums in registers: of other processors nothing is known"
    echo "0 passed, 0 failed, 1 skipped"
elif python3 tests/build/spills.py "$program"; then
    echo "ok products keep their sums in registers"
    echo "1 passed, 0 failed, 0 skipped"
else
    echo "FAILED products keep their sums in registers"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
