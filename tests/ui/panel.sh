# From a key in a field of Setup to the panel of what it means, through a terminal: with the answer in the same
# frame. A frame's pause behind it, 50 ms, is what a person sees.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
unset CHORUS_FAKE
# panel WHAT LIMIT FIRST: 30 keys, behind the keys FIRST. Other programs change time on a processor little, and
# the shortest of 30 times.
panel()
{
    read -r keys median longest least < <(python3 "$here/panel.py" 30 "$3" "$CHORUS" --results none --no-mouse)
    check "each of 30 keys changes the picture$1: $keys" test "$keys" -ge 28
    check "the panel is whole after $median ms of processor, in the middle" test "$median" -lt $2
    check "the soonest after $least ms" test "$least" -lt $2
}

panel "" 40 ""
if ((${CHORUS_TEST_ALL:-0})); then
    check "in less than 25" test "$median" -lt 25
    check "and after $longest ms of processor at most" test "$longest" -lt 50
    # As many kinds of cells as there can be, each of which is asked about.
    mkdir experiments
    printf '%s\n' 'data = synthetic' 'model = cnn, lenet, mlp, resnet18' 'batch = step:16:256:16' \
        'devices = 1, 2' 'threads = 1, 2, 3, 4' 'epochs = 6' >experiments/kinds.ini
    check "it has 512" grep -q "^# cells  *512:" <("$CHORUS" run experiments/kinds.ini --dry-run)
    panel " of a sweep" 50 '\x1b[Zgj\r'
    # What a large model would hold is computed at the first look alone.
    printf '%s\n' 'data = synthetic' 'model = resnet18' 'batch = step:1:512:1' 'epochs = 6' >experiments/kinds.ini
    panel " of a large model's" 50 '\x1b[Zgj\r'
    # Nearly as many cells as there can be.
    printf '%s\n' 'data = synthetic' 'threads = 1' 'lr = geom:0.001:1:800' 'batch = step:1:1024:1' 'epochs = 6' \
        >experiments/kinds.ini
    panel " of 819,200 cells" 50 '\x1b[Zgj\r'
    # As many over many keys, which cost nothing.
    printf '%s\n' 'data = synthetic' 'model = mlp' 'threads = 1' 'optimizer = momentum' 'lr = geom:0.001:1:10' \
        'batch = step:16:144:16' 'seed = step:1:10:1' 'weight_decay = lin:0:0.1:10' 'grad_clip = lin:1:9:9' \
        'momentum = lin:0.1:0.9:10' 'epochs = 6' >experiments/kinds.ini
    panel " of 810,000 cells over six keys" 40 '\x1b[Zgj\r'
    # Long lists in many fields, that walk together.
    {
        printf '%s\n' 'data = synthetic' 'threads = 1' 'optimizer = momentum' 'epochs = 6' \
            'zip = lr, weight_decay, momentum, grad_clip, batch, seed, max_steps, patience'
        printf '%s = lin:0.001:0.9:1000\n' lr weight_decay momentum grad_clip
        printf '%s = step:1:1000:1\n' batch seed max_steps patience
    } >experiments/kinds.ini
    panel " of 8 lists of 1,000" 50 '\x1b[Zgj\r'
    # Each model of a long list is a file.
    mkdir models
    for ((i = 0; i < 4000; i++)); do
        printf '# %d\ninput auto\ndense classes\n' "$i" >"models/$i.net"
    done
    printf '%s\n' 'data = synthetic' 'threads = 1' "model = $(seq -s ", " 0 3999)" 'epochs = 6' >experiments/kinds.ini
    panel " of 4,000 models" 50 '\x1b[Zgj\r'
fi
finish
