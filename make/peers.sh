# make/peers.sh FOLDER: a Python with PyTorch, JAX and Flax, which `make bench` compares chorus with,
# made once from PyPI with the versions below. PyPI's PyTorch for x86 cannot be loaded without CUDA's
# libraries, so these come with it.

packages="torch==2.15.0 jax==0.10.2 jaxlib==0.10.2 flax==0.12.8 optax==0.2.8 numpy==2.4.6"

if "$1/bin/python" -c 'import torch, jax, flax, optax, numpy' 2>/dev/null; then
    exit 0
fi
if ! python3 -m venv --help >/dev/null 2>&1; then
    echo "make peers needs Python with venv: Debian has it in the package python3-venv." >&2
    exit 1
fi
echo "PyTorch and JAX are about 3 GB to download and 6 GB on disk, into $1:"
echo "  $packages"
if [ -t 0 ] && [ -t 1 ]; then
    printf 'Go ahead? [Y/n] '
    read -r answer
    case $answer in
    [nN]*) exit 1 ;;
    esac
fi
# shellcheck disable=SC2086 # a list of packages
if ! { python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check $packages; }; then
    echo "The peers could not be installed; make peers tries again." >&2
    exit 1
fi
exec "$1/bin/python" -c 'import torch, jax, flax, optax, numpy'
