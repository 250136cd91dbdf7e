# chorus data: the list, check, fetch (from a server on the loopback).
. "${BASH_SOURCE%/*}/lib.sh"

export XDG_DATA_HOME=$work/xdg HOME=$work/home
debian=/usr/share/datasets/fashion-mnist

has()
{
    grep -qE -- "$1" out
}

# idx FILE DIM...: the header of a file of bytes; what stands on stdin follows it
idx()
{
    local file=$1 n
    shift
    {
        printf '\0\0\010'
        printf "\\$(printf %o $#)"
        for n; do
            printf "\\$(printf %o $((n >> 24 & 255)))\\$(printf %o $((n >> 16 & 255)))"
            printf "\\$(printf %o $((n >> 8 & 255)))\\$(printf %o $((n & 255)))"
        done
        cat
    } >"$file"
}

# small FOLDER: four training and three test images of 2x2
small()
{
    mkdir -p "$1"
    printf 'abcdaaaaabcdefgh' | idx "$1/train-images-idx3-ubyte" 4 2 2
    printf '\0\1\1\3' | idx "$1/train-labels-idx1-ubyte" 4
    printf 'abcdijklmnop' | idx "$1/t10k-images-idx3-ubyte" 3 2 2
    printf '\0\1\0' | idx "$1/t10k-labels-idx1-ubyte" 3
}

# ---- the list ----
check "the list" exits 0 "$CHORUS" data
check "it says nothing on stderr" test ! -s err
check "synthetic is always there" has '^synthetic +60,000 +10,000 +28x28x1 +10 +made from the seed$'
check "what is missing, with the command" has '^mnist +missing: chorus data fetch mnist$'
check "where it was looked for" \
    has "^mnist was looked for in /usr/share/datasets/mnist, $work/xdg/chorus/mnist$"
if [ -e $debian ]; then
    check "Debian's place" has "^fashion-mnist +60,000 +10,000 +28x28x1 +10 +$debian$"
else
    check "Debian's package" has 'missing: apt install dataset-fashion-mnist or chorus data fetch'
fi
small given/mnist
exits 0 "$CHORUS" data --data-dir given
check "--data-dir" has '^mnist +4 +3 +2x2x1 +10 +given/mnist$'
CHORUS_DATA=given exits 0 "$CHORUS" data --json
check "CHORUS_DATA, as JSON" \
    has '"name": "mnist", "found": true, "train": 4, "test": 3, "shape": \[2, 2, 1\], "classes": 10'
exits 0 "$CHORUS" data --json
check "missing, as JSON" has '"found": false, "looked_in": ".*", "get": "chorus data fetch mnist"'
printf x >given/mnist/train-labels-idx1-ubyte
exits 0 "$CHORUS" data --data-dir given
check "a broken one in the list" has '^mnist +broken: given/mnist/train-labels-idx1-ubyte: ends at'
check "the list goes on behind it" has '^synthetic '

# ---- check ----
small set
check "check" exits 0 "$CHORUS" data check set
check "counts and shape" has '^set: 4 training and 3 test images of 2x2x1, 4 classes$'
check "range" has '^training bytes 97 to 104, mean '
check "per class" has '^ +1 +1 +2 +1$'
check "a class that is missing" has '^odd: class 2 has no training and no test images$'
check "a class that is not tested" has '^odd: class 3 has no test images$'
check "constant images" has '^odd: 1 training image has one value everywhere$'
check "images there twice" has '^odd: 1 training image is there more than once$'
check "under another label" has '^odd: 1 training image is there again under another label$'
check "test images among training" has '^odd: 1 test image is among the training images$'
exits 0 "$CHORUS" data check set --json
check "check as JSON" has '"train": \{"images": 4, "min": 97, "max": 104, .*"of_class": \[1, 2, 0, 1\]'
exits 0 "$CHORUS" data check synthetic
check "synthetic is in order" has '^nothing odd in it$'
printf 'label,x\ncat,1\ndog,2\ncat,3\n' >pets.csv
exits 0 "$CHORUS" data check pets.csv
check "a CSV file" has '^pets.csv: 2 training and 1 test rows of 1 column, 2 classes$'
check "its classes by name" has '^ +1 +dog +1 +0$'
check "where its labels stand" has '^labels   column 1 \(label\)$'
{ echo label,x; for i in $(seq 120); do echo "$((i % 60)),$i"; done; } >many.csv
exits 0 "$CHORUS" data check many.csv
check "many odd classes are not all listed" test "$(grep -c '^odd: class' out)" = 10
check "but counted" has '^odd: and 30 classes more without training or test images$'
check "nor are all of many classes" has '^and 10 classes more'

small cut
printf 'abcda' | idx cut/train-images-idx3-ubyte 4 2 2
refused "a cut file" "4 x 2 x 2 = 16 bytes, 5 follow it: 11 are missing" "$CHORUS" data check cut
printf '' | idx cut/train-images-idx3-ubyte 2147483647 65536 65536
refused "a header that lies" "more than 8 GiB are not read" "$CHORUS" data check cut
# A set sorted by class: the last sixth is the test set, and all of its class.
{ echo label,x; for i in $(seq 60); do echo "$((i > 50)),$i"; done; } >sorted.csv
exits 0 "$CHORUS" data check sorted.csv
check "one class to learn from" has '^odd: all training images are of one class'
exits 0 "$CHORUS" run model=linear data=sorted.csv batch=10 epochs=1
check "a run says so too" grep -q '^all 50 training images are of class 0, 0: ' err
printf 'label,x\n0,1e300\n1,2\n0,3\n' >huge.csv
refused "a number beyond all floats" "huge.csv:2: column 2 (x) is 1e300, too large" "$CHORUS" data check huge.csv
{ echo label,x; for i in 1 2 3 4 5 6; do echo "$((i % 2)),${i}e-30"; done; echo 1,1e15; } >far.csv
exits 0 "$CHORUS" data check far.csv
check "one that cannot be scaled" has \
    '^odd: .*value 1 of test row 1, 1e.15, .*; normalize=none takes the numbers as they are$'
exits 0 "$CHORUS" run model=linear data=far.csv batch=2 normalize=none --dry-run
exits 0 "$CHORUS" data check far.csv --json
check "as an object too" has '"unscaled": ".*1e.15, is too large'
refused "nor trained on" "value 1 of test row 1, 1e+15" "$CHORUS" run model=linear data=far.csv batch=2

printf '1,2\n1,x,3\n' >bad.csv
refused "a ragged CSV" "bad.csv:2: 3 columns, the first row has 2" "$CHORUS" data check bad.csv
refused "a missing set" "chorus data fetch mnist" "$CHORUS" data check mnist
refused "a missing file" "nothing.csv" "$CHORUS" data check nothing.csv
mkdir -p pictures/cats
: >pictures/cats/1.png
refused "one folder of images" "pictures has one folder of a class; a model needs two" \
    "$CHORUS" data check pictures
refused "check without a set" "data check takes one" "$CHORUS" data check
refused "check with two" "data check takes one" "$CHORUS" data check set set
refused "another word" "it knows check and fetch" "$CHORUS" data destroy
refused "--from without fetch" "--from belongs to data fetch" "$CHORUS" data --from http://x/

# ---- fetch ----
refused "fetch without a name" "data fetch takes one name" "$CHORUS" data fetch
refused "fetch of what is not known" "fashion-mnist and mnist" "$CHORUS" data fetch cifar10
if exits 2 "$CHORUS" data fetch mnist --from ftp://127.0.0.1/ && grep -q 'http://' err; then
    ok "an address that is none"
elif grep -q libcurl4-openssl-dev err; then
    skip "fetch" "built without libcurl"
    finish
else
    fail "an address that is none" "$(cat err)"
fi
check "nobody there" exits 1 "$CHORUS" data fetch mnist --from http://127.0.0.1:1/
check "it names the file" grep -q '^chorus: http://127.0.0.1:1/train-images-idx3-ubyte.gz: ' err
check "nothing is left behind" test -z "$(find xdg -type f)"

if ! [ -e $debian ] || ! perl -MIO::Socket::INET -e 1 2>/dev/null; then
    skip "fetch from a server" "perl or dataset-fashion-mnist is not installed"
    finish
fi
cat >server.pl <<'END'
use IO::Socket::INET;
$| = 1;
my ($folder, $cut) = @ARGV; # cut: bytes at most a connection
my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die;
print $l->sockport, "\n";
while (my $c = $l->accept) {
    my ($name, $from) = ('', 0);
    while (<$c>) {
        $name = $1 if m{^GET /(\S+)};
        $from = $1 if /^Range: bytes=(\d+)-/i;
        last if /^\r?$/;
    }
    if (open my $f, '<:raw', "$folder/$name") {
        local $/;
        my $all = <$f>;
        my $n = length $all;
        my $some = substr $all, $from;
        print $c $from ? "HTTP/1.1 206 P\r\nContent-Range: bytes $from-@{[$n - 1]}/$n\r\n"
                       : "HTTP/1.1 200 O\r\n",
            "Connection: close\r\nContent-Length: ", length $some, "\r\n\r\n";
        print $c $cut ? substr($some, 0, $cut) : $some;
    } else {
        print $c "HTTP/1.1 404 N\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    }
    close $c;
}
END

# serve FOLDER [CUT]: its address in $url
serve()
{
    rm -f port
    perl server.pl "$@" >port 2>/dev/null &
    echo $! >server.pid
    until_true 10 test -s port
    url=http://127.0.0.1:$(cat port)/
}

serve $debian 9000000
check "fetch" exits 0 "$CHORUS" data fetch fashion-mnist --from "$url"
check "the folder is the result" has "^$work/xdg/chorus/fashion-mnist$"
check "four files" grep -q 'fashion-mnist: 4 files fetched, every checksum is right' err
for file in "$debian"/*.gz; do
    cmp -s "$file" xdg/chorus/fashion-mnist/"${file##*/}" || fail "fetched" "$file differs"
done
check "no part is left" test -z "$(find xdg -name '*.part')"
kill "$(cat server.pid)"
check "again, with no server: nothing to do" exits 0 "$CHORUS" data fetch fashion-mnist --from "$url"
check "it says so" grep -q 'all there already' err
exits 0 "$CHORUS" data check xdg/chorus/fashion-mnist
check "it can be read" has '60,000 training and 10,000 test images of 28x28x1, 10 classes$'

mkdir wrong
for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    echo "something else" | gzip >wrong/$file-ubyte.gz
done
serve wrong
check "wrong content" exits 1 "$CHORUS" data fetch mnist --from "$url"
check "is told" grep -q 'has not the checksum of train-images-idx3-ubyte.gz; nothing was kept' err
check "and not kept" test -z "$(find xdg/chorus/mnist -type f)"
kill "$(cat server.pid)"
rm server.pid
finish
