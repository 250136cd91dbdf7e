#!/bin/bash
# Hundreds of wrong inputs: keys, files, models, data, commands. For each the program must end with
# exit 2, say exactly one line on stderr that starts with "chorus: " and names the thing, print
# nothing on stdout, and write nothing anywhere.
set -u
CHORUS=$(realpath "${CHORUS:?the path of the program}") || exit 1
top=$(mktemp -d "${TMPDIR:-/tmp}/chorus-bad-XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
cd "$top" || exit 1
unset CHORUS_RESULTS CHORUS_DATA CHORUS_FAKE NO_COLOR
export HOME=$top/home XDG_DATA_HOME=$top/home/data CHORUS_CACHE=off LC_ALL=C
mkdir -p home work
cd work || exit 1

passed=0 failed=0
fail()
{
    echo "FAILED $1: $2"
    [ -s ../err ] && sed 's/^/    stderr: /' ../err | head -5
    failed=$((failed + 1))
}

everything() # that lies here: names, sizes, times of change
{
    find .. -mindepth 1 -not -path ../out -not -path ../err -printf '%p %s %T@\n' | sort
}

# bad WORDS ARGS...: every WORD (separated by |) must stand in the line.
bad()
{
    local words=$1 name before status word
    shift
    name=$(printf '%q ' "$@")
    name="${name:0:150}($words)"
    before=$(everything)
    timeout 20 "$CHORUS" "$@" >../out 2>../err </dev/null
    status=$?
    if [ $status -ne 2 ]; then
        fail "$name" "exit $status"
    elif [ -s ../out ]; then
        fail "$name" "it printed on stdout: $(head -c 100 ../out)"
    elif [ "$(wc -l <../err)" -ne 1 ] || [ "$(tail -c 1 ../err | od -An -c | tr -d ' ')" != '\n' ]; then
        fail "$name" "not one line on stderr"
    elif ! grep -q '^chorus: ' ../err; then
        fail "$name" "stderr does not begin with \"chorus: \""
    elif LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x1f\x7f]' ../err; then
        fail "$name" "a control character on stderr"
    elif [ "$before" != "$(everything)" ]; then
        fail "$name" "it wrote something: $(diff <(echo "$before") <(everything) | tail -1)"
    else
        while IFS= read -r -d '|' word; do
            if [ -n "$word" ] && ! grep -q -F -e "$word" ../err; then
                fail "$name" "no \"$word\""
                return
            fi
        done <<<"$words|"
        passed=$((passed + 1))
        echo "ok $name"
    fi
}

# ini WORDS: the experiment on stdin, as x.ini.
ini()
{
    cat >x.ini
    bad "$1" run x.ini
    rm -f x.ini
}

# net WORDS LINES...: a model of these lines, on small made-up images.
net()
{
    local words=$1
    shift
    printf '%s\n' "$@" >x.net
    bad "$words" run model=x.net data=synthetic train_limit=64 test_limit=16 batch=16 epochs=0
    rm -f x.net
}

# csv WORDS: the data on stdin, as x.csv.
csv()
{
    cat >x.csv
    bad "$1" run model=tiny data=x.csv batch=2 epochs=0
    rm -f x.csv
}

# ---- keys on the command line ----

while IFS=$'\t' read -r assignment words; do
    case $assignment in '' | '#'*) continue ;; esac
    bad "command line|${assignment%%=*}|$words" run synthetic "$assignment" epochs=0
done <<'CASES'
name=	no value
name=a/b	a/b
name=..	..
name=.hidden	.hidden
name=two words	two words
name=-x	-x
model=	no value
model=""	no value
model=cnn,	cnn,|missing
model.=1	model.
data=	no value
data=mnist,mnist	mnist stands in it twice
data=train.csv:	train.csv:
normalize=	no value
normalize=256	255, standard, none
normalize=auto	255, standard, none
normalize=standrad	did you mean standard
valid=	no value
valid=-1	-1
valid=1.5	1.5
valid=100%	100%
valid=-5%	-5%
valid=ten	ten
valid=99999999999	99999999999
mode=	no value
mode=ensamble	did you mean ensemble
mode=parallel	data-parallel, ensemble
mode=ensemble, ensemble	ensemble stands in it twice
backend=	no value
backend=gpu	auto, cpu, cuda, ref
backend=fake	auto, cpu, cuda, ref
backend=CPU	CPU
devices=	no value
devices=0	1 to 1024
devices=-1	-1
devices=1025	1025
devices=1.5	1.5
devices=many	many
devices=gpu:	gpu:
devices=gpu:0+0	twice
devices=gpu:x	gpu:x
backend=gpu	backend = gpu: there is no such value, did you mean cuda?
backend=GPU	did you mean cuda?
data=:a.csv	the training file is missing in front of ':'
devices=gpu:0,gpu:0	gpu:0 stands in it twice
devices=1,2,02	2 stands in it twice
threads=	no value
threads=0	0
threads=9999	9999
threads=half	half
threads=0/device	0/device
members=	no value
members=0	1 to 4096
members=4097	4097
members=few	few
members=2.0	2.0
batch=	no value
batch=0	0
batch=-32	-32
batch=1e2	1e2
batch=9999999999	9999999999
batch=all	all
batch=32/gpu	32/gpu
batch=0/device	0/device
batch=64,,128	missing
batch=64,0	batch = 0
batch=64.0	64.0
epochs=	no value
epochs=-1	-1
epochs=1000001	1000001
epochs=0.5	0.5
epochs=forever	forever
optimizer=	no value
optimizer=rmsprop	sgd, momentum, nesterov, adam, adamw
optimizer=adma	did you mean adam
optimizer=sgd,adm	did you mean adam
momentum=	no value
momentum=1	1
momentum=-0.5	-0.5
momentum=high	high
beta1=	no value
beta1=1.5	1.5
beta2=	no value
beta2=1	1
beta2=-1	-1
epsilon=	no value
epsilon=0	0
epsilon=-1e-8	-1e-8
weight_decay=	no value
weight_decay=-0.1	-0.1
weight_decay=nan	nan
lr=	no value
lr=abc	abc
lr=-1	-1
lr=nan	nan
lr=inf	inf
lr=1e999	1e999
lr=0.1x	0.1x
lr=0x1p-4	0x1p-4
lr="0.1	closing quote
lr=0.1,0.10	0.1 stands in it twice
lr=0.1,nan	lr = nan
lr=geom:0.01:1	command line: lr|geom:A:B:N
lr=geom:0:1:5	above 0
lr=lin:0.1:1:1	from 2 to
lr=lin:0:1:99999999999	from 2 to
lr=step:0.1:1:0.7	0.8 and 1.5
lr=loguniform:0.001:1	samples = N
lr_rule=	no value
lr_rule=square	none, linear, sqrt
lr_batch=	no value
lr_batch=0	0
lr_batch=x	x
schedule=	no value
schedule=cosin	did you mean cosine
schedule=exp	constant, cosine, step
warmup=	no value
warmup=-1	-1
warmup=long	long
lr_min=	no value
lr_min=-1	-1
step_epochs=	no value
step_epochs=0	0
step_factor=	no value
step_factor=0	0
step_factor=2	2
grad_clip=	no value
grad_clip=0	0
grad_clip=-1	-1
grad_clip=inf	inf
loss_reduction=	no value
loss_reduction=max	mean, sum
shuffle=	no value
shuffle=true	yes, no
shuffle=maybe	maybe
member_order=	no value
member_order=random	same, own
init=	no value
init=normal	normal
init=normal:	normal:
init=normal:-1	normal:-1
init=normal:0.1:weights	normal:0.1:weights
init=ones	ones
weights=	no value
precision=	no value
precision=fp8	fp32, tf32, bf16
precision=half	half
sync_bn=	no value
sync_bn=1	no, yes
augment=	no value
augment=rotate	rotate
augment=flip+flip	twice
augment=crop	crop
augment=crop:x	crop:x
augment=crop:0	crop:0
augment=crop:1000	crop:1000
augment=flip+	flip+
seed=	no value
seed=-1	-1
seed=abc	abc
seed=0.5	0.5
seed=99999999999999999999	99999999999999999999
seed=1,2,x	seed = x
repeats=	no value
repeats=0	0
repeats=1000001	1000000
repeats=2,3	one number
repeats=x	x
train_limit=	no value
train_limit=0	0
train_limit=-1	-1
train_limit=some	some
test_limit=	no value
test_limit=0	0
test_limit=1.5	1.5
log_every=	no value
log_every=0	0
log_every=often	often
keep=	no value
keep=none	last, best, all, every:N
keep=last+last	twice
keep=every	every
keep=every:0	every:0
target_acc=	no value
target_acc=0	0
target_acc=95	95
target_acc=95%	95%
max_steps=	no value
max_steps=0	0
max_steps=-1	-1
max_minutes=	no value
max_minutes=0	0
max_minutes=soon	soon
patience=	no value
patience=0	0
patience=2.5	2.5
on_end=	no value
samples=40	samples = 40|loguniform
samples=x	samples = x
zip=devices	devices is no list
name=a,b	one value
epoch=3	did you mean epochs
LR=0.1	LR
learningrate=0.1	learningrate
optimiser=adam	did you mean optimizer
nosuchkey=1	nosuchkey
CASES

# A value with control characters, and very long ones.
bad 'lr' run $'lr=0.1\e[31m' epochs=0
bad 'name' run $'name=a\nb' epochs=0
bad 'model' run "model=$(printf 'm%.0s' {1..5000})" epochs=0
bad 'data' run "data=/$(printf 'd%.0s' {1..5000})" epochs=0
bad 'no key' run "$(printf 'k%.0s' {1..5000})=1"
bad 'lr' run "lr=$(printf '9%.0s' {1..5000})"
bad 'twice|lr' run lr=0.1 lr=0.2
bad 'model.a-b' run model.a-b=1

# ---- keys against each other ----

s='data=synthetic train_limit=640 test_limit=64 epochs=0'
bad 'members = 4|data-parallel|ensemble' run $s members=4
bad 'member_order|ensemble' run $s member_order=own
bad 'sync_bn|ensemble' run $s mode=ensemble sync_bn=yes
bad 'momentum = 0.9|sgd' run $s momentum=0.9
bad 'momentum = 0.9|adam' run $s optimizer=adam momentum=0.9
bad 'beta1|nesterov' run $s optimizer=nesterov beta1=0.9
bad 'beta2|sgd' run $s beta2=0.99
bad 'epsilon|sgd' run $s epsilon=1e-6
bad 'lr_batch|lr_rule' run $s lr_batch=64
bad 'lr_min|cosine' run $s lr_min=0.01
bad 'step_epochs|schedule' run $s step_epochs=3
bad 'step_factor|cosine' run $s schedule=cosine step_factor=0.5
bad 'init|weights' run $s weights=/w.safetensors init=he
bad 'batch = 100|8 devices|96 and 104' run $s devices=8 batch=100
bad 'chorus: devices = 1000|they cannot share batch = 128|smallest batch is 1000' \
    run first devices=1000
bad 'devices = 7|they do not divide batch = 128|126 and 133' run first devices=7
bad 'batch = 4|8 devices' run $s devices=8 batch=4
bad 'batch' run $s devices=1024 batch=2147483647/device
bad 'members = 2|4 devices' run $s mode=ensemble members=2 devices=4
bad 'members = 3|4' run $s mode=ensemble devices=4 members=3
bad 'gpu:0|cpu' run $s backend=cpu devices=gpu:0
bad 'precision = fp64|ref' run $s precision=fp64
bad 'precision = fp64|ref' run $s backend=cpu precision=fp64
bad 'warmup = 11|epochs = 10' run data=synthetic train_limit=640 warmup=11
bad 'lr_min = 0.5|0.1' run $s schedule=cosine lr_min=0.5
bad 'member_order = own|shuffle' run $s mode=ensemble shuffle=no member_order=own

# ---- against the data ----

bad 'batch = 641|640 images|batch=640 is the most' run $s batch=641
bad 'batch|1024|640' run $s devices=8 batch=128/device
bad 'batch|128|100' run data=synthetic train_limit=640 test_limit=64 epochs=0 valid=540 batch=128
bad 'valid = 640' run $s valid=640 batch=8
bad 'valid = 99.9%' run data=synthetic train_limit=10 test_limit=10 epochs=0 valid=99.9% batch=1
bad 'valid = 1%' run data=synthetic train_limit=10 test_limit=10 epochs=0 valid=1% batch=1
bad 'train_limit = 60001|60,000' run data=synthetic train_limit=60001 epochs=0
bad 'test_limit = 10001|10,000' run data=synthetic train_limit=64 test_limit=10001 epochs=0 batch=8

# ---- experiments in files ----

ini 'x.ini:2|lr|no value' <<<$'batch = 8\nlr ='
ini 'x.ini:1|lr 0.1|key = value' <<<'lr 0.1'
ini 'x.ini:3|lr|line 1' <<<$'lr = 0.1\nbatch = 8\nlr = 0.1'
ini 'x.ini:1|[model]' <<<$'[model]\nname = lenet'
ini 'x.ini:1|did you mean epochs' <<<'epoch = 3'
ini 'x.ini:2|lr|twice' <<<$'\nlr = 0.1, 0.1'
ini 'x.ini:1|lr|above 0' <<<'lr = geom:-0.1:1:3'
ini 'x.ini:1|samples|0' <<<'samples = 0'
ini 'x.ini:1|zip|devices is no list' <<<'zip = devices, batch, lr'
ini 'x.ini:3|zip|2 values and batch 3' <<<$'lr = 1, 2\nbatch = 8, 16, 32\nzip = lr, batch'
ini '2,000,000 cells' <<<$'seed = lin:1:2000:2000\nlr = lin:1:1000:1000'
ini 'x.ini:1|no cell of this sweep can run|batch = 100' <<<$'batch = 100, 98\ndevices = 8'
ini 'x.ini:1|momentum|no value of optimizer' <<<$'momentum = 0.9\noptimizer = sgd, adam'
ini 'x.ini:2|repeats|seed' <<<$'seed = 1, 2\nrepeats = 2'
ini 'x.ini:1|lr|no number' <<<'lr = 0.1 ; an old comment'
ini 'x.ini:1|no key' <<<'= 5'
ini 'x.ini:1|data|closing quote' <<<'data = "a,b'
ini 'x.ini:2|members = 4|data-parallel' <<<$'mode = data-parallel\nmembers = 4'
ini 'x.ini:2|momentum|sgd' <<<$'optimizer = sgd\nmomentum = 0.9'
ini 'x.ini:1|batch = 100|8 devices' <<<$'batch = 100\ndevices = 8'
ini 'x.ini:1|precision = fp64|ref' <<<'precision = fp64'
ini 'x.ini:2|warmup' <<<$'epochs = 2\nwarmup = 3'
ini 'x.ini:3|mode|did you mean ensemble' <<<$'\n\nmode = ensembel'
ini 'x.ini:1|model.width|key = value' <<<$'model.width 4'
ini 'x.ini:3|devices = 4|members (2)' <<<$'mode = ensemble\nmembers = 2\ndevices = 4'
ini 'x.ini:2|model.width|line 1' <<<$'model.width = 4\nmodel.width = 5'
ini 'x.ini:4|batch|1000|640' <<<$'data = synthetic\ntrain_limit = 640\ntest_limit = 10\nbatch = 1000\nepochs = 0'
ini 'x.ini:6|valid' <<<$'data = synthetic\ntrain_limit = 64\ntest_limit = 10\nbatch = 8\nepochs = 0\nvalid = 64'
ini 'x.ini:2|train_limit' <<<$'data = synthetic\ntrain_limit = 60001\nepochs = 0'
ini 'x.ini:2|no-such-net' <<<$'data = synthetic\nmodel = no-such-net'
ini 'x.ini:1|no-such-data' <<<$'data = no-such-data'
ini 'x.ini:4|model.colour' <<<$'data = synthetic\ntrain_limit = 64\nmodel = mlp\nmodel.colour = red\ntest_limit = 8'
ini 'x.ini:2|byte 0' < <(printf 'lr = 0.1\nba\0tch = 2\n')
ini 'x.ini:1' < <(printf '\xff\xfel\0r\0=\0')
ini 'x.ini:1|lr' < <(printf 'lr = 0.1\rbatch = 3\r')
ini 'x.ini:1|lr' < <(printf 'lr = \x1b[2J\n')
ini 'x.ini:1' < <(printf '\x1b]0;title\x07 = 1\n')
ini 'x.ini:1' < <(head -c 4096 /dev/zero | tr '\0' '\377')
ini 'x.ini:1|65536' < <({ printf 'lr = 0.1 #'; head -c 70000 /dev/zero | tr '\0' x; })
ini 'x.ini' < <(head -c 5000000 /dev/zero | tr '\0' '\n')
bad 'none.ini' run none.ini
bad 'no/such/dir/x.ini' run no/such/dir/x.ini
mkdir folder.ini
bad 'folder.ini|folder' run folder.ini
rmdir folder.ini
ln -s loop.ini loop.ini
bad 'loop.ini' run loop.ini
rm loop.ini
bad 'one experiment|first|synthetic' run first synthetic
bad 'frist|did you mean first' run frist
bad 'no-such-experiment' run no-such-experiment
bad '@' run @
bad '@2' run @2
bad '@best' run @best
bad '7f3a' run 7f3a
bad 'there is no file lenet.net; a model|run model=lenet.net' run lenet.net
bad 'there is no file x/iris.csv; a data set|run data=x/iris.csv model=mlp' run x/iris.csv
: >w.safetensors
bad 'w.safetensors|run weights=w.safetensors' run w.safetensors
rm w.safetensors
mkdir -p ../pile/of
: >../pile/of/notes.txt
bad 'no data set|chorus data' run data=../pile epochs=0
: >../pile/flowers.csv
bad 'pile: |data=|pile/flowers.csv' run data=../pile epochs=0
rm -r ../pile
bad 'weights|no file or folder /nope|chorus ls' run $s weights=/nope
: >empty.ini
bad 'lr' run empty.ini lr=x
rm empty.ini
bad '' run ''

# ---- models ----

bad 'no-such-net' run $s model=no-such-net
bad 'lenett|did you mean lenet' run $s model=lenett
bad 'none.net' run $s model=none.net
bad 'no/such' run $s model=no/such
mkdir dir.net
bad 'dir.net' run $s model=dir.net
rmdir dir.net
bad 'model.colour|lenet' run $s model.colour=red
bad 'width' run $s model=mlp model.width=0
bad 'width' run $s model=mlp model.width=-5
bad 'width' run $s model=mlp model.width=wide
bad 'width' run $s model=mlp model.width=99999999999
net 'x.net'
net 'x.net' '# nothing'
net 'x.net|input' 'dense classes'
net 'x.net' 'input auto'
net 'x.net:2|convv|conv' 'input auto' 'convv 8 3' 'dense classes'
net 'x.net:2|batchnrom|batchnorm' 'input auto' 'batchnrom' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv 8' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv 0 3' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv -8 3' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv 8 0' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv 8 x' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv 8 3.5' 'dense classes'
net 'x.net:2|conv|28' 'input auto' 'conv 8 29' 'dense classes'
net 'x.net:2|stride' 'input auto' 'conv 8 3 stride' 'dense classes'
net 'x.net:2|stride' 'input auto' 'conv 8 3 stride 0' 'dense classes'
net 'x.net:2|pad' 'input auto' 'conv 8 3 pad -1' 'dense classes'
net 'x.net:2|pad' 'input auto' 'conv 8 3 pad 1 same' 'dense classes'
net 'x.net:2|dilation' 'input auto' 'conv 8 3 dilation 2' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv 99999999 3' 'dense classes'
net 'x.net:2|conv' 'input auto' 'conv 999999999999999999999 3' 'dense classes'
net 'x.net:2|dense' 'input auto' 'dense' 'dense classes'
net 'x.net:2|dense' 'input auto' 'dense 0' 'dense classes'
net 'x.net:2|dense' 'input auto' 'dense ten' 'dense classes'
net 'x.net:2|dense' 'input auto' 'dense 10 20' 'dense classes'
net 'x.net|dense|10' 'input auto' 'dense 9'
net 'x.net:2|relu' 'input auto' 'relu 6' 'dense classes'
net 'x.net:2|avgpool' 'input auto' 'avgpool' 'dense classes'
net 'x.net:2|avgpool' 'input auto' 'avgpool 0' 'dense classes'
net 'x.net:2|avgpool|28' 'input auto' 'avgpool 29' 'dense classes'
net 'x.net:2|maxpool' 'input auto' 'maxpool 2 stride 0' 'dense classes'
net 'x.net:2|maxpool' 'input auto' 'maxpool 2 3' 'dense classes'
net 'x.net:2|dropout' 'input auto' 'dropout' 'dense classes'
net 'x.net:2|dropout' 'input auto' 'dropout 1' 'dense classes'
net 'x.net:2|dropout' 'input auto' 'dropout -0.5' 'dense classes'
net 'x.net:2|dropout' 'input auto' 'dropout nan' 'dense classes'
net 'x.net:2|batchnorm' 'input auto' 'batchnorm 5' 'dense classes'
net 'x.net:2|globalavgpool' 'input auto' 'globalavgpool 2' 'dense classes'
net 'x.net:1|input' 'input' 'dense classes'
net 'x.net:1|input' 'input 28' 'dense classes'
net 'x.net:1|input' 'input 0 28 28' 'dense classes'
net 'x.net:1|input' 'input 1 28 28 28' 'dense classes'
net 'x.net:1|input' 'input 1 100000 100000' 'dense classes'
net 'x.net:2|input' 'input auto' 'input auto' 'dense classes'
net 'x.net:1|input' 'relu' 'dense 5' 'input auto' 'dense classes'
net 'x.net:3|init' 'input auto' 'dense classes' 'init'
net 'x.net:3|init' 'input auto' 'dense classes' 'init normal'
net 'x.net:3|init' 'input auto' 'dense classes' 'init normal -1'
net 'x.net:3|init' 'input auto' 'dense classes' 'init normal 0.1 biases'
net 'x.net:3|init' 'input auto' 'dense classes' 'init zeros'
net 'x.net:4|init' 'input auto' 'dense classes' 'init he' 'init he'
net 'x.net:1|param' 'param' 'input auto' 'dense classes'
net 'x.net:1|param' 'param width' 'input auto' 'dense classes'
net 'x.net:2|param|width' 'param width 8' 'param width 9' 'input auto' 'dense classes'
net 'x.net:2|$width' 'input auto' 'dense $width' 'dense classes'
net 'x.net:2|residual' 'input auto' 'residual' 'dense classes'
net 'x.net|residual' 'input auto' 'residual {' 'relu' 'dense classes'
net 'x.net|}' 'input auto' '}' 'dense classes'
net 'x.net:4|28x28x8|28x28x1' 'input auto' 'residual {' 'conv 8 3 same' '}' 'dense classes'
net 'x.net' 'input auto' 'residual {' '} shortcut {' 'conv 8 3 same' '}' 'dense classes'
net 'x.net' 'input auto' 'residual {' 'conv 8 3 same' '} shortcut {' '} shortcut {' '}' 'dense classes'
net 'x.net' 'input auto' 'dense 1000000' 'dense 1000000' 'dense 1000000' 'dense classes'
printf 'input auto\nden\0se classes\n' >x.net
bad 'x.net' run $s model=x.net
head -c 5000 "$CHORUS" >x.net
bad 'x.net' run $s model=x.net
head -c 70000 /dev/zero | tr '\0' 'r' >x.net
bad 'x.net' run $s model=x.net
head -c 5000000 /dev/zero | tr '\0' '\n' >x.net
bad 'x.net' run $s model=x.net
rm x.net
for ((i = 0; i < 100; i++)); do echo 'residual {'; done >x.lines
net 'x.net' 'input auto' "$(cat x.lines)"
rm x.lines

# ---- data ----

bad 'mnist|chorus data fetch mnist' run data=mnist
bad 'no-such-data' run data=no-such-data
bad 'minst|did you mean mnist' run data=minst
bad 'none.csv' run data=none.csv
bad 'none.csv' run data=none.csv:also.csv
bad 'no/such/folder' run data=no/such/folder
mkdir images
bad 'images' run data=images
mkdir images/cat images/dog
: >images/cat/1.png
bad 'images|class' run data=images
mv images/cat/1.png images/cat/1.PNG
bad 'images|class' run data=images
rm -r images
csv 'x.csv|empty' </dev/null
csv 'x.csv' <<<'label,a,b'
csv 'x.csv' <<<'1'
csv 'x.csv:2' <<<$'label,a,b\n0,1'
csv 'x.csv:3' <<<$'label,a,b\n0,1,2\n1,2,3,4'
csv 'x.csv:2|x' <<<$'label,a,b\n0,1,x\n1,2,3\n0,1,2\n1,3,4'
csv 'x.csv:2' <<<$'label,a,b\n0,1,\n1,2,3\n0,1,2\n1,3,4'
csv 'x.csv:2' <<<$'label,a,b\n,1,2\n1,2,3\n0,1,2\n1,3,4'
csv 'x.csv' <<<$'label,a,b\n0,1,2\n0,2,3\n0,1,2\n0,3,4\n0,1,2\n0,3,3'
csv 'x.csv' <<<$'label,a,label\n0,1,2\n1,2,3'
csv 'x.csv' <<<$'label,a,b\n0,"1,2\n1,2,3'
csv 'x.csv' <<<$'label,a,b\n0,nan,2\n1,2,3\n0,1,2\n1,3,4\n0,1,2\n1,2,2'
csv 'x.csv:3|column 2 (a)|1e300|too large' <<<$'label,a,b\n0,1,2\n1,1e300,2\n0,1,2\n1,3,4'
printf 'label,a,b\n0,1,2\n1,2,1\n0,1,2\n1,3,4\n' >table.csv
bad 'lenet takes images|table|2 columns|model=mlp' run model=lenet data=table.csv batch=2
printf 'label,a,b\n0,1,2\n1,2,1\n2,3,4\n0,1,2\n1,3,4\n2,3,3\n' >three.csv
printf 'input auto\ndense 2\n' >two.net
bad 'two.net|3 classes' run model=./two.net data=three.csv batch=2
grep -q "takes images" ../err && fail "too few outputs are no fault of the table" "$(cat ../err)"
printf 'input 5 1 1\ndense classes\n' >five.net
bad 'five.net|1x1x5' run model=./five.net data=three.csv batch=2
grep -q "takes images" ../err && fail "a row of pixels is no image" "$(cat ../err)"
rm three.csv two.net five.net
bad 'batch=3 is the most' run model=mlp data=table.csv
bad 'devices=3 is the most' run model=mlp data=table.csv devices=4
rm table.csv
csv 'x.csv' <<<$'label,a,b\n0,1e999,2\n1,2,3\n0,1,2\n1,3,4\n0,1,2\n1,2,2'
csv 'x.csv' < <(printf 'label,a\n0,\0\n1,2\n')
csv 'x.csv' < <(head -c 3000 "$CHORUS")
csv 'x.csv' < <({ printf 'label,a\n0,'; head -c 200000 /dev/zero | tr '\0' 1; printf '\n1,2\n'; })

# An IDX set with something wrong in one of its files.
be()
{
    printf "\\x$(printf %02x $(($1 >> 24 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))"
    printf "\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 & 255)))"
}
images() # COUNT HEIGHT WIDTH
{
    printf '\0\0\x08\x03'
    be "$1"
    be "$2"
    be "$3"
    head -c $(($1 * $2 * $3)) /dev/zero
}
labels() # COUNT
{
    printf '\0\0\x08\x01'
    be "$1"
    for ((i = 0; i < $1; i++)); do printf "\\x$(printf %02x $((i % 3)))"; done
}
fresh()
{
    rm -rf idx
    mkdir idx
    images 12 4 4 >idx/train-images-idx3-ubyte
    labels 12 >idx/train-labels-idx1-ubyte
    images 6 4 4 >idx/t10k-images-idx3-ubyte
    labels 6 >idx/t10k-labels-idx1-ubyte
}
idx() # WORDS
{
    bad "$1" run model=tiny data=idx batch=4 epochs=0
}
fresh
timeout 20 "$CHORUS" run model=tiny data=idx batch=4 epochs=0 --results ../ok >../out 2>../err
if [ $? -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok the IDX set that the next cases spoil"
else
    fail "the IDX set that the next cases spoil" "it cannot be read"
fi
rm -rf ../ok
for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    fresh
    rm "idx/$file-ubyte"
    idx 'idx'
    fresh
    : >"idx/$file-ubyte"
    idx "$file"
    fresh
    truncate -s 6 "idx/$file-ubyte"
    idx "$file"
    fresh
    truncate -s -1 "idx/$file-ubyte"
    idx "$file"
    fresh
    echo x >>"idx/$file-ubyte"
    idx "$file"
    fresh
    printf '\x01' | dd of="idx/$file-ubyte" bs=1 conv=notrunc status=none
    idx "$file"
    fresh
    printf '\x0d' | dd of="idx/$file-ubyte" bs=1 seek=2 conv=notrunc status=none
    idx "$file"
    fresh
    printf '\x09' | dd of="idx/$file-ubyte" bs=1 seek=3 conv=notrunc status=none
    idx "$file"
    fresh
    printf '\xff\xff\xff\xff' | dd of="idx/$file-ubyte" bs=1 seek=4 conv=notrunc status=none
    idx "$file"
    fresh
    printf '\0\0\0\0' | dd of="idx/$file-ubyte" bs=1 seek=4 conv=notrunc status=none
    idx "$file"
    fresh
    gzip -c "idx/$file-ubyte" >"idx/$file-ubyte.gz"
    rm "idx/$file-ubyte"
    truncate -s -5 "idx/$file-ubyte.gz"
    idx "$file"
    fresh
    rm "idx/$file-ubyte"
    head -c 500 "$CHORUS" >"idx/$file-ubyte.gz"
    idx "$file"
done
fresh
labels 11 >idx/train-labels-idx1-ubyte
idx '11|12'
fresh
images 6 5 5 >idx/t10k-images-idx3-ubyte
idx '4x4|5x5'
fresh
printf '\xff' | dd of=idx/t10k-labels-idx1-ubyte bs=1 seek=9 conv=notrunc status=none
idx 't10k-labels'
fresh
head -c 12 /dev/zero | dd of=idx/train-labels-idx1-ubyte bs=1 seek=8 conv=notrunc status=none
idx 'train-labels'
fresh
bad 'batch|13|12' run model=tiny data=idx batch=13 epochs=0
bad 'train_limit = 13|12' run model=tiny data=idx batch=4 epochs=0 train_limit=13
bad 'test_limit = 7|6' run model=tiny data=idx batch=4 epochs=0 test_limit=7
bad 'valid = 12|12' run model=tiny data=idx batch=4 epochs=0 valid=12
bad 'lenet.net:6|conv 50 5' run model=lenet data=idx batch=4 epochs=0
printf 'input 1 28 28\ndense classes\n' >x.net
bad 'x.net:1|28x28x1|4x4x1' run model=x.net data=idx batch=4 epochs=0
printf 'input auto\ndense 2\n' >x.net
bad 'x.net:2|dense' run model=x.net data=idx batch=4 epochs=0
rm x.net
bad 'idx' run model=tiny data=idx/train-images-idx3-ubyte batch=4 epochs=0
rm -r idx

# ---- weights to start from ----

t='data=synthetic train_limit=64 test_limit=16 batch=16 epochs=0 model=tiny'
bad 'none.safetensors' run $t weights=none.safetensors
bad 'weights' run $t weights=@
bad 'weights' run $t weights=7f3a
: >w.safetensors
bad 'w.safetensors' run $t weights=w.safetensors
head -c 1000 "$CHORUS" >w.safetensors
bad 'w.safetensors' run $t weights=w.safetensors
printf '\xff\xff\xff\xff\xff\xff\xff\x7f{}' >w.safetensors
bad 'w.safetensors' run $t weights=w.safetensors
printf '\x02\0\0\0\0\0\0\0{}' >w.safetensors
bad 'w.safetensors' run $t weights=w.safetensors
printf '\x08\0\0\0\0\0\0\0{"a":1}}' >w.safetensors
bad 'w.safetensors' run $t weights=w.safetensors
rm w.safetensors
mkdir w
bad '/w' run $t weights=./w
rmdir w

# ---- what is another thing than asked for: the next step ----

mkdir folder
bad 'model = folder/ is a folder|.net file|chorus models' models folder/
bad '/folder is a folder|.net file|chorus models' run data=synthetic model=./folder
bad 'a blank parts lr=0.1, from 0.2' run synthetic lr=0.1, 0.2
bad 'a blank parts lr=0.1, from 0.2' run lr=0.1, 0.2 0.4
bad 'a blank parts lr from =|one word' run synthetic lr = 0.1
bad 'a blank parts lr from =0.1' run lr =0.1
bad 'a blank parts lr= from 0.1' run lr= 0.1
bad 'not both synthetic and 0.2' run synthetic lr=0.1 0.2
bad 'there is no file first.ini; did you mean first?' run first.ini
bad 'there is no file experiments/first; did you mean first?' run experiments/first
bad 'there is no file ./none.ini|chorus help run' run ./none.ini
bad 'there is no file none.ini|chorus help run' run none.ini
rmdir folder

# ---- commands ----

bad 'trian|' trian
bad 'rnu|did you mean run' rnu first
bad 'plto|did you mean plot' help plto
bad 'epcohs|did you mean epochs' help epcohs
bad 'zzzzzz|chorus help keys' help zzzzzz
bad '--frobnicate' run --frobnicate
bad '--quite' run first --quite
bad '--name' run first --name
bad '--name|a/b' run first --name a/b
bad '--results' run first --results
for option in --tui --failed; do
    bad "$option" run first $option
done
for option in --jobs --match --order --max-cells; do
    bad "$option" run first $option 4
done
for verb in resume watch pause go stop show predict 'weights -o x.safetensors' plot compare \
    ensemble export 'report -o x' tag rm; do
    bad 'no-such-run' $verb no-such-run
    bad '@' $verb @
    bad '@0' $verb @0
    bad '--no-such-option' $verb --no-such-option
done
for verb in pause go stop show predict weights plot compare ensemble export report tag note rm; do
    bad "$verb" $verb
done
bad 'no-such-model' models no-such-model
bad 'none.net' models none.net
bad 'frob' data frob
bad 'data check' data check
bad 'none.csv' data check none.csv
bad 'data fetch' data fetch
bad 'no-such-set' data fetch no-such-set
bad '--first' predict @ --first
bad 'x' predict @ --first x
bad '-o' weights @
bad '--frame' plot @ --frame 5
bad '--frame' plot @ --frame 0x0
bad '--frame' plot @ --frame 99999999999x2
bad '.svg, .pdf or .tex' plot @ -o x.png
bad '--kind' plot @ --kind pie
bad '--size' plot @ -o x.svg --size 0x0
bad '--smooth' plot @ --smooth -1
bad '--over' plot @ --over nothing
bad '--equal' compare @ --equal hours
bad '--target' compare @ --target nan
bad '--digits' compare @ --digits 99
bad '--head' compare @ --head test_acc
bad '-o DIR' report @
bad '--match' run --match no-such-run

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
