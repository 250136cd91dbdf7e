# make/kit.sh FOLDER PROGRAM PART TESTS: leaves in FOLDER what tests and measures chorus on a machine
# with a GPU but without a compiler or a package: the program, its part for GPUs, tests, data, the
# peers' scripts. At most 54 MiB.

set -e
out=$1 program=$2 part=$3 tests=$4
rm -rf "$out"
mkdir -p "$out/tests/gpu" "$out/tests/cli" "$out/tests/bench/peers" "$out/data"
cp "$program" "$out/chorus"
cp "$part" "$out/chorus-cuda.so"
cp "$tests" "$out/tests/gpu/"
strip "$out/chorus" "$out/chorus-cuda.so" "$out/tests/gpu/${tests##*/}"
cp tests/gpu/*.sh "$out/tests/gpu/"
cp tests/cli/lib.sh "$out/tests/cli/"
cp tests/bench/gpu.py "$out/tests/bench/"
[ ! -e tests/bench/gpu-peers.jsonl ] || cp tests/bench/gpu-peers.jsonl "$out/tests/bench/"
cp tests/bench/peers/*.py "$out/tests/bench/peers/"
git rev-parse --short HEAD >"$out/COMMIT" 2>/dev/null || echo unknown >"$out/COMMIT"
cp tests/gpu/README.md "$out/"
for call in first second; do
    cat >"$out/$call" <<SH
#!/bin/sh
# $call FOLDER: README.md says what it does and what its outcomes mean.
case \${1:?which folder?} in
/*) to=\$1 ;;
*) to=\$PWD/\$1 ;;
esac
cd "\$(dirname "\$0")" && KIT=\$PWD exec bash tests/gpu/stages.sh $call "\$to"
SH
    chmod +x "$out/$call"
done

# Data: where this machine has them.
copy() # copy NAME FOLDER...: the four files of the first folder that has them
{
    name=$1
    shift
    for folder in "$@"; do
        if [ -e "$folder/train-images-idx3-ubyte.gz" ] || [ -e "$folder/train-images-idx3-ubyte" ]; then
            mkdir -p "$out/data/$name"
            for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
                if [ -e "$folder/$f-ubyte.gz" ]; then
                    cp "$folder/$f-ubyte.gz" "$out/data/$name/"
                else
                    gzip -9 <"$folder/$f-ubyte" >"$out/data/$name/$f-ubyte.gz"
                fi
            done
            return
        fi
    done
    echo "gpu-kit: no $name here; tests that need it are skipped there" >&2
}
copy fashion-mnist /usr/share/datasets/fashion-mnist "${XDG_DATA_HOME:-$HOME/.local/share}/chorus/fashion-mnist" \
    "${CHORUS_DATA:-/nowhere}/fashion-mnist"
# No test needs MNIST: it goes along where there is room.
if [ "$(du -sk "$out" | cut -f 1)" -lt $((42 * 1024)) ]; then
    copy mnist "${CHORUS_DATA:-/nowhere}/mnist" "${XDG_DATA_HOME:-$HOME/.local/share}/chorus/mnist"
fi

kib=$(du -sk "$out" | cut -f 1)
echo "  KIT   $out: $((kib / 1024)) MiB"
if [ "$kib" -gt $((54 * 1024)) ]; then
    echo "gpu-kit: $out has $((kib / 1024)) MiB, more than 54" >&2
    exit 1
fi
