# The Setup screen in the whole program, driven by scripts of keys without a terminal: what it means
# comes from the engine's planner, what it starts is the same as its command line's.
. "${BASH_SOURCE%/*}/lib.sh"
export CHORUS_CACHE=$cache/own # where nobody else is seen to compute

cat >small.ini <<'END'
# A small one for the fake backend.
model   = tiny
data    = synthetic
backend = fake
train_limit = 1000
test_limit  = 100
batch   = 100
epochs  = 2
END
mkdir experiments && cp small.ini experiments/first.ini
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache

# script NAME SIZE: presses the keys of stdin, with results in ./NAME
script()
{
    cat >keys
    if ! timeout 120 "$CHORUS" --results "$1" --keys keys --frame "$2" >out 2>err </dev/null; then
        echo "  $1: $(tail -n 30 err)"
        return 1
    fi
}

has() # FILE WORDS
{
    grep -qF -- "$2" "$1" && return 0
    echo "  $1 has no \"$2\":"
    sed 's/^/  /' "$1"
    return 1
}

first_start()
{
    script a 80x24 <<'END' || return
wait r starts it
wait 2,000
save seen
keys r
wait done
keys q
END
    has seen 'experiments/first.ini' && has seen 'steps an epoch' && ls -d a/*-tiny-* >/dev/null
}
check 'a first start is one key away from a run' first_start

edited()
{
    script b 160x45 <<'END' || return
wait 2,000
keys j j j j
keys Enter
type 50
wait steps an epoch    20
keys Enter
keys Esc
save seen
keys :
wait run experiments/first.ini batch=50
keys Esc
keys r
wait done
keys q
END
    has seen '*batch' && has seen 'A small one for the fake backend.' &&
        grep -qx 'batch = 50' b/*/experiment.ini
}
check 'what is typed into a field is what runs' edited

swept()
{
    script c 160x45 <<'END' || return
wait 2,000
keys j j j j
keys Enter
type 50,100,7000
keys Enter
keys Esc
wait skipped
wait 2 of 3
save seen
keys r
keys 5
wait 2 done
keys q
END
    has seen 'batch = 7000' && [ "$(ls -d c/*-tiny-* | wc -l)" = 2 ] && [ -d c/sweeps/first ]
}
check 'lists become a sweep, and what cannot be is told before it runs' swept

queued()
{
    mkdir -p d && CHORUS_FAKE_SCRIPT=step_ms=3000 script d 80x24 <<'END' || return
wait r starts it
keys r
wait running
keys 1
keys r
wait  trains here, epoch 1 of
wait after it, in the queue
keys a
wait queue, 1
save seen
keys 2
keys K
wait after
keys Esc
keys 1
keys Tab
keys d
wait take it out
keys t
gone queue, 1
keys q
wait now
keys n
END
    has seen ' 1 first'
}
check 'what runs already is queued behind, and taken out again' queued

missing_weights()
{
    { cat small.ini; echo 'weights = /nonexistent/w.safetensors'; } >experiments/first.ini
    script e 80x24 <<'END' || return
wait weights: cannot read
keys r
wait weights: cannot read
save seen
keys q
END
    has seen 'nothing runs' && has seen '/nonexistent/w.safetensors' && ! ls -d e/*-tiny-* 2>err
}
check 'weights that are not there are told before a start' missing_weights

answered()
{
    cp small.ini experiments/first.ini
    script g 80x24 <<'END' || return
wait 2,000
keys j Right q
wait not saved
click 2 30
click 13 5
save marked
keys Enter
gone not saved
keys q
wait not saved
click 12 30
keys Enter
sleep 500
save left
END
    has marked 'cancel' && ! [ -e left ]
}
check 'an answer is chosen by a click, and one beside it chooses none' answered

finish
