# tests/ui/lib.sh: sourced by the tests of the workbench, after tests/cli/lib.sh's own: a home in which
# nothing is anybody's, results that are the same on every machine, and scripts of keys.

build=$(cd "${BUILD:-build}" && pwd) || exit 1
here=$(cd "${BASH_SOURCE%/*}" && pwd)
. "$here/../cli/lib.sh"
export HOME=$work/home XDG_CONFIG_HOME=$work/home/config XDG_STATE_HOME=$work/home/state
export XDG_DATA_HOME=$work/home/data CHORUS_FAKE=only
# Who else computes on this machine is seen in the cache: nobody does, for these.
export CHORUS_CACHE=$cache/own
mkdir -p "$HOME"

# one RESULTS NAME ARGUMENTS...: a run of the fake backend in that folder.
one()
{
    local results=$1
    shift
    "$CHORUS" run tiny.ini "$@" --results "$results" --quiet </dev/null >/dev/null 2>>prepare.err
}

# prepare RESULTS: a single model, two of other learning rates, one that diverged, an ensemble of 8, one
# with a hostile name, a sweep; then every name, time and speed is made the same everywhere.
prepare()
{
    one "$1" name=first epochs=6
    one "$1" name=second epochs=6 lr=0.02 schedule=cosine
    one "$1" name=third epochs=6 batch=100 lr=0.1 devices=2
    CHORUS_FAKE_SCRIPT='diverge=20' one "$1" name=lost epochs=3 lr=5
    one "$1" name=eight mode=ensemble members=8 epochs=5
    one "$1" name=hostile epochs=2
    CHORUS_FAKE_SCRIPT='oom_batch=200' one "$1" batch=50,100,200 lr=0.01,0.05,0.1 epochs=3 name=board
    python3 "$here/settle.py" "$1"
}

# script LINES...: of keys, in ./script
script()
{
    printf '%s\n' "$@" >script
}
