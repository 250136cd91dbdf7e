# How the torture is counted and repeated: tests/torture/run.sh over a small tree with one made-up part, which fails
# where ./bad says so; and the figures of docs/manual.md are those of the counts.

. tests/build/lib.sh

# holds NAME CONDITION...
holds()
{
    local name=$1
    shift
    check "$name" "$*" "$@"
}

holds "the figures of docs/manual.md are made from counts.csv" \
    cmp <(bash tests/torture/run.sh --figures) docs/manual.md

source=$PWD
tree()
{
    cd "$work" && rm -rf tree && mkdir -p tree/docs tree/tests/torture tree/build/normal && cd tree || exit 1
    cp -r "$source/tests/cli" tests && cp "$source"/tests/torture/{run,lib}.sh tests/torture
    cp "$(type -P true)" build/chorus
    cat >tests/torture/demo.sh <<'SH'
bad=$PWD/bad
. tests/torture/lib.sh
scenarios=2
few() { (($1 <= 30)) || return 2; ! grep -qx "$1 $RANDOM" "$bad" || { echo "a glass fell"; return 1; }; echo "$1 $RANDOM" >>"$bad.drawn"; }
many() { (($1 <= 5000)) || return 2; }
torture few few
torture many many
finish
SH
    touch bad
    echo "date,commit,machine,part,seed,seconds,cases,failed" >tests/torture/counts.csv
    printf '| it holds | [demo](../tests/torture/demo.sh): a glass | not counted yet |\n' >docs/manual.md
    printf 'build\nbad*\nlog\n' >.gitignore
    git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm first
}

torment()
{
    env HOURS=0.0005 BUILD=build "$@" bash tests/torture/run.sh >log 2>&1
}

row_is()
{
    grep -qE "$1" docs/manual.md || { cat docs/manual.md log; false; }
}

tree
holds "a torture in which nothing fails" torment SEED=5
holds "its figure" row_is "\| (1,[0-9]{3}|[2-5],[0-9]{3}|[0-9]{2,3}) cases, none failed \([0-9-]+, [0-9a-f]{8}, .*\) \|$"
cases=$(awk -F, 'END { print $7 }' tests/torture/counts.csv)
printf '2026-01-02,01234567,a machine,demo,5,1,%s,0\n' $((12345 - cases)) >>tests/torture/counts.csv
holds "figures add up" torment CASE=few/1
holds "and stand there" grep -q '12,345 cases, none failed (2026-01-02, 01234567, a machine)' \
    <(bash tests/torture/run.sh --figures)

tree
RANDOM=$((5 * 1000003 + 7))
echo "7 $RANDOM" >bad
torment SEED=5
holds "one that fails ends with 1" [ $? = 1 ]
holds "it says how to repeat the case" grep -q "repeat: make torture ONLY=demo SEED=5 CASE=few/7" log
holds "and why" grep -q "a glass fell" log
holds "it is counted as failed" row_is "1 of [0-9]+ cases failed"
torment SEED=5 CASE=few/7
holds "the case alone fails again" [ $? = 1 ]
holds "and is not counted" [ "$(grep -c demo tests/torture/counts.csv)" = 1 ]
holds "another one passes" torment SEED=5 CASE=few/8
: >bad
git commit -qam mended
holds "mended, it passes" torment SEED=6
holds "and counts from nothing" row_is "[0-9,]+ cases, none failed"
echo changed >>tests/torture/demo.sh
torment SEED=6
holds "a tree with changes is not counted" grep -q "^Not counted" log

torment HOURS=glass
holds "a time that is no number is refused" [ $? = 2 ]
holds "and what is one is said" grep -q "HOURS=glass is no number of hours; 0.1 is six minutes" log

printf '. tests/torture/lib.sh\nfew() { (($1 <= 3)) || return 2; }\ntorture few few\nexit 3\n' >tests/torture/demo.sh
git commit -qam "dies in the middle"
torment
holds "a part that ends in the middle fails" [ $? = 1 ]
holds "and is counted as failed" row_is "1 of 4 cases failed"

printf 'here=$PWD/waits\n. tests/torture/lib.sh\nwait_here() { echo $$ >$here; sleep 600; }\ntorture wait wait_here\nfinish\n' >tests/torture/demo.sh
HOURS=0.1 BUILD=build bash tests/torture/run.sh >log 2>&1 &
until [ -s waits ]; do sleep 0.05; done
kill $!
wait $!
holds "one that is interrupted ends with 130" [ $? = 130 ]
holds "and counts nothing" grep -q "^Interrupted: nothing is counted" log
holds "its parts end with it" [ ! -d "/proc/$(cat waits)" ]

for wrong in HOURS=0 SEED=a CASE=run CASE=run/0 CASE=glass/1; do
    torment ONLY=demo $wrong
    holds "$wrong is no success" [ $? != 0 ]
done

torment ONLY=glass
holds "a part that there is not is refused" [ $? = 2 ]
holds "and the parts are named" grep -q "there is no part glass; the parts are: demo" log
finish
