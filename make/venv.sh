# make/venv.sh FOLDER: a Python with the packages that some tests ask for, made once.

need="numpy safetensors pandas"
if "$1/bin/python" -c 'import numpy, pandas, safetensors.numpy' 2>/dev/null; then
    exit 0
fi
echo "The tests that open weights and CSVs in Python need $need (from PyPI, into $1)."
# shellcheck disable=SC2086 # a list of packages
python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check $need
