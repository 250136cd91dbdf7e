# Keys that come faster than screens are read and drawn, as over a slow line: they do what they do one by one.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
prepare results

# The second time is for a machine so busy that a screen came to rest before it was whole.
same()
{
    python3 "$here/pieces.py" 24x80 "$1" -- "$CHORUS" --results results ||
        python3 "$here/pieces.py" 24x80 "$1" -- "$CHORUS" --results results || { diff one once || diff one pieces; }
}

# The axes of a board, the end of a help page, a place in curves, and of a list: each behind the screen.
for keys in "5 a" "5 a a down 3 4 tab" "5 ? G" "2 right right" "1 down down enter" "5 enter j f" "4 down t"; do
    check "$keys" same "$keys"
done
for seed in 2 6 7; do
    check "random keys, seed $seed" same $seed
done
finish
