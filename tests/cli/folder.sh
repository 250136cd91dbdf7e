# Folders of pictures by class: trained on like the same images in IDX files, classes by name, what is
# refused.
. "${BASH_SOURCE%/*}/lib.sh"

export CHORUS_CACHE=off

# pixels N: 64 bytes of image N, more alike within its class of three
pixels()
{
    yes "class $(($1 % 3)) image $1, " | head -c 64
}

# number N: four bytes
number()
{
    printf "\\x00\\x00\\x00\\x$(printf %02x "$1")"
}

# part NAME FIRST COUNT: pictures of 8x8 in pets/NAME, the same as IDX files of that name
part()
{
    local i class classes=(ant bee "grey cat")
    {
        printf '\0\0\x08\x03'
        number "$3"
        number 8
        number 8
    } >"$1-images"
    {
        printf '\0\0\x08\x01'
        number "$3"
    } >"$1-labels"
    for ((i = $2; i < $2 + $3; i++)); do
        class=pets/$1/${classes[$((i % 3))]}
        mkdir -p "$class"
        pixels $i >pixels.bin
        { printf 'P5 8 8 255\n' && cat pixels.bin; } >"$class/$((100 + i)).pgm"
        cat pixels.bin >>"$1-images"
        printf "\\x$(printf %02x $((i % 3)))" >>"$1-labels"
    done
}

part train 0 60
part test 60 24
mkdir idx
mv train-images idx/train-images-idx3-ubyte
mv train-labels idx/train-labels-idx1-ubyte
mv test-images idx/t10k-images-idx3-ubyte
mv test-labels idx/t10k-labels-idx1-ubyte

# losses RUN: the rows of steps.csv without their seconds
losses()
{
    cut -d, -f1-4,6- "$1/steps.csv"
}

train=(model=mlp batch=10 epochs=2 lr=0.1 log_every=1 --quiet)
exits 0 "$CHORUS" run data=idx "${train[@]}" && idx=$(cat out)
exits 0 "$CHORUS" run data=pets "${train[@]}" && pets=$(cat out)
check "two epochs" test "$(column "$pets" epochs_done)" = 2
check "the losses of the same images in IDX files" cmp <(losses "$idx") <(losses "$pets")
exits 0 "$CHORUS" run data=pets "${train[@]}" train_limit=30 && less=$(cat out)
check "fewer" test "$(column "$less" images)" = 60
check "of all classes" test -z "$(grep 'are of class' "$less/log.txt")"
exits 0 "$CHORUS" predict "$pets" --classes
check "classes by their names" grep -q '^grey cat *8 ' out
exits 0 "$CHORUS" predict "$pets" --confusion
check "in the confusion matrix" grep -q 'grey cat' out
exits 0 "$CHORUS" predict "$pets" pets/test/bee/161.pgm
check "a picture of it" grep -qE 'ant|bee|grey cat' out
exits 0 "$CHORUS" run data=pets "${train[@]}" mode=ensemble members=2 && several=$(cat out)
exits 0 "$CHORUS" predict "$several" pets/test/bee/161.pgm
check "each member's answer by its name" grep -qE '  members: [0-2] (ant|bee|grey cat), [0-2] (ant|bee|grey cat)$' out

exits 0 "$CHORUS" data check pets
check "it is looked through" grep -q '^pets: 60 training and 24 test images of 8x8x1, 3 classes$' out
check "with nothing to say" test -z "$(grep ^note out)"
echo x >pets/train/notes.txt
exits 0 "$CHORUS" data check pets
check "what is left out" grep -q '^note .*1 file that is no picture or hidden is left out: pets/train/notes.txt$' out
exits 0 "$CHORUS" data check pets --json
check "as JSON" grep -q '"note": "1 file ' out
check "in a run's log" grep -q 'data: 1 file that is no picture' \
    "$(exits 0 "$CHORUS" run data=pets "${train[@]}" && cat out)/log.txt"
exits 0 "$CHORUS" data check pets/train
check "one part alone" grep -q '^pets/train: 50 training and 10 test images of 8x8x1, 3 classes$' out
check "it says so" grep -q '^note .*the last sixth of the pictures is the test set' out
printf 'input 1 4 4\ndense classes\n' >small.net
printf 'P6 2 2 255\nabcdefghijkl' >pets/train/bee/000.ppm
refused "another size" "pets/train/ant/100.pgm has 8x8 pixels (width x height), $work/pets/train/bee/000.ppm 2x2" \
    "$CHORUS" run data=pets/train model=mlp batch=10
check "a model that demands a size" exits 0 "$CHORUS" run data=pets model=./small.net batch=10 epochs=1
rm pets/train/bee/000.ppm
echo x >pets/train/bee/cut.png
refused "what cannot be read" "pets/train/bee/cut.png is neither PNG nor PGM nor PPM" \
    "$CHORUS" run data=pets model=mlp batch=10
rm pets/train/bee/cut.png
if [ "$(id -u)" != 0 ]; then
    chmod 0 pets/train/bee
    check "a folder that may not be read" exits 1 "$CHORUS" data check pets
    chmod 700 pets/train/bee
fi
mkdir pets/test/dog
refused "a class of the test part alone" "pets/train has no class dog, which pets/test has" \
    "$CHORUS" data check pets
finish
