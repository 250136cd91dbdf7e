# make/venv.sh FOLDER: a Python with the packages that some tests ask for, made once.

need="numpy safetensors"
if "$1/bin/python" -c 'import numpy, safetensors.numpy' 2>/dev/null; then
    exit 0
fi
echo "The tests that open weights with Python need $need (from PyPI, into $1)."
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    echo "Python's own part of it is Debian's package python3-venv, which is installed now."
    if [ "$(id -u)" = 0 ]; then
        root=
    else
        root=sudo
    fi
    $root apt-get -q update
    $root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
        python3-venv || exit 1
fi
# shellcheck disable=SC2086 # a list of packages
python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check $need
