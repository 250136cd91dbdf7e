# chorus models: the list, one model layer by layer, JSON, wrong input.
. "${BASH_SOURCE%/*}/lib.sh"

has()
{
    grep -qE -- "$1" out
}

check "the list" exits 0 "$CHORUS" models
check "it says nothing on stderr" test ! -s err
check "lenet's size" has '^lenet +built in +129,068 +13\.259 +two convolutions'
check "cnn's size" has '^cnn +built in +824,458 +27\.411 '
check "mlp's size" has '^mlp +built in +1,863,690 +9\.564 '
check "resnet18's size" has '^resnet18 +built in +11,175,818 +2733\.'

mkdir models
printf '# mine: of my own\ninput auto\ndense classes\n' >models/mine.net
printf '# lenet: changed\ninput auto\ndense classes\n' >models/lenet.net
printf 'input auto\nconv 3 99\n' >models/broken.net
echo text >models/notes.txt
exits 0 "$CHORUS" models
check "a file of ./models" has '^mine +\./models +7,850 +0\.031 +of my own$'
check "a file that a built-in model hides" has '^models/lenet\.net +\./models +7,850 .*changed$'
check "a file that is wrong is told" has '^broken +\./models .*broken.net:2: conv 3 99: a kernel of'
check "other files are none" test "$(grep -c notes out)" = 0

exits 0 "$CHORUS" models lenet
check "one model" has '^ +6 +Conv_1 +conv 5x5 +13x13x20 +9x9x50 +25,050 +12\.150$'
check "its parameters" has '^129,068 parameters, 516 kB in fp32$'
check "its work" has '^13\.26 MFLOP an image forward and backward, 4\.50 of them forward$'
exits 0 "$CHORUS" models models/lenet.net
check "a path is the file" has '^7,850 parameters'
exits 0 "$CHORUS" models resnet18
check "running statistics" has '^11,175,818 parameters, 44\.7 MB in fp32, and 7,808 running statis'
check "a block's end" has 'Residual_2 +add Residual_2/Conv_2 +14x14x128 +14x14x128$'
exits 0 "$CHORUS" models mlp model.width=64 --shape 32x32x3 --classes 100
check "a param, a shape, classes" has '^207,332 parameters'
exits 0 "$CHORUS" models --help
check "--help" has '^usage: chorus models '

if command -v python3 >/dev/null; then
    exits 0 "$CHORUS" models --json
    check "the list as JSON" python3 -c '
import json
rows = {row["model"]: row for row in json.load(open("out"))}
assert rows["lenet"]["parameters"] == 129068 and rows["lenet"]["where"] == "built in"
assert rows["mine"]["where"] == "./models" and rows["mine"]["summary"] == "of my own"
assert rows["broken"]["parameters"] is None and "conv 3 99" in rows["broken"]["error"]'
    exits 0 "$CHORUS" models resnet18 --json
    check "a model as JSON" python3 -c '
import json
net = json.load(open("out"))
assert net["parameters"] == 11175818 == sum(l["parameters"] for l in net["layers"])
assert abs(net["flops_per_image"] - sum(l["flops_per_image"] for l in net["layers"])) < 1
assert net["layers"][-1]["output"] == [1, 1, 10] and net["input"] == [28, 28, 1]'
else
    skip "the list as JSON" "there is no python3"
    skip "a model as JSON" "there is no python3"
fi

rm models/broken.net
refused "an unknown model" "here or in ./models; did you mean lenet?" \
    "$CHORUS" models lenett
refused "a missing file" "model = gone.net: there is no such file; \`chorus models\` lists" "$CHORUS" models gone.net
refused "two models" "takes one model and its model.NAME=VALUE, not cnn too" \
    "$CHORUS" models lenet cnn
refused "a param that is none" "the model has no param widht; it has width" \
    "$CHORUS" models mlp model.widht=3
refused "a shape that is none" "is not a shape like 28x28x1" "$CHORUS" models lenet --shape 28x28
refused "a shape too small" "lenet.net:5: avgpool 2: a window of 2x2 does not fit into 1x1x20" \
    "$CHORUS" models lenet --shape 3x3x1
refused "no classes" "--classes 0 is not a whole number from 1" "$CHORUS" models lenet --classes 0
refused "an unknown option" "models has no option --jsn; did you mean --json?" "$CHORUS" models --jsn
finish
