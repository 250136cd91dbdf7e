# What files, folders and arguments hold never drives the terminal: escapes.py plants it in some of them.
. "${BASH_SOURCE%/*}/lib.sh"

has_terminals || {
    skip "no terminal is driven" "$lack"
    finish
}
cat >board.ini <<'END'
model = ./tiny.net
data = synthetic
train_limit = 200
test_limit = 100
batch = 40
epochs = 1
lr = 0.05, 0.1
END
tiny=(tiny.ini train_limit=200 test_limit=100)
exits 0 "$CHORUS" run "${tiny[@]}" epochs=2 name=one --quiet
exits 0 "$CHORUS" run board.ini --quiet
exits 0 "$CHORUS" run "${tiny[@]}" epochs=1 name=later --queue
mv results whole
((failed == 0)) || finish
python3 "$OLDPWD/tests/cli/escapes.py" "$CHORUS" "$work/whole"
