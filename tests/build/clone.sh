# From a clean clone to an installed program: what `make` says and leaves, and that it does nothing
# twice. What is not committed yet is not in a clone, so this looks at the last commit.

. tests/build/lib.sh

if ! git rev-parse --verify -q HEAD >/dev/null 2>&1; then
    skip a_clone_builds "this folder is no clone itself"
    finish
fi
tree=$work/clone
git clone -q . "$tree" 2>"$work/err" || {
    bad a_clone_builds "git clone: $(cat "$work/err")"
    finish
}
here=$PWD
cd "$tree" || exit 1
# The part for GPUs takes minutes, and the tree that is tested has it.
export CUDA_HOME=/nowhere
# A third of the time of -O2; gcc then thinks that neighbours in an array overlap.
export CFLAGS="-O0 -Wno-restrict"

quiet() { [ ! -s "$1" ]; }

if ! make -j"$(nproc)" >"$work/out" 2>"$work/err"; then
    bad a_clone_builds "$(tail -n 20 "$work/err")"
    finish
fi
ok a_clone_builds
check no_compiler_warns "$(head -n 20 "$work/err")" quiet "$work/err"
check the_program_is_there "no build/chorus" test -x build/chorus
for library in ncursesw libcsv zlib libcurl "(CUDA|nvcc)"; do
    check "a_line_for_$library" "$(head "$work/out")" \
        test "$(grep -cE "^  (found|missing|none) +$library" "$work/out")" = 1
done
check libraries_come_with_their_packages "$(head "$work/out")" grep -qE 'libcsv .*libcsv-dev' "$work/out"
sources=$(find src ui -name '*.c' | grep -vc "^src/cuda/")
check a_short_line_for_each_file "$(tail "$work/out")" \
    test "$(grep -vF src/cuda/ "$work/out" | grep -cE '^  CC    (src|ui)/[a-z0-9_/]+\.c$')" = "$sources"
check nothing_else_is_said "$(grep -vE '^  [a-zA-Z]+ +[^ ]+' "$work/out")" \
    test "$(grep -cvE '^  [a-zA-Z]+ +[^ ]+' "$work/out")" = 0
check git_sees_nothing_new "$(git status --short)" test -z "$(git status --short)"

make >"$work/out" 2>&1
check a_second_make_does_nothing "$(cat "$work/out")" \
    test "$(grep -vc 'Nothing to be done' "$work/out")" = 0
touch src/base/err.c
make V=1 >"$work/out" 2>&1
check verbose_shows_the_commands "$(cat "$work/out")" grep -qE '(^|&& )cc .*-c src/base/err.c' "$work/out"
check one_file_is_compiled_anew "$(cat "$work/out")" \
    test "$(grep -cE 'cc .* -c ' "$work/out")" = 1

# A commit changes the version and nothing else.
git -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m t
make >"$work/out" 2>&1
check a_commit_compiles_the_version_alone "$(cat "$work/out")" \
    test "$(grep -c '^  CC' "$work/out")" = 1
check the_version_names_the_commit "$(build/chorus --version 2>&1)" \
    grep -q "$(git rev-parse --short=7 HEAD)" <(build/chorus --version 2>&1)

# A model more: only what holds the models is made anew. One less: it is gone again.
cp models/lenet.net models/zeta.net
make >"$work/out" 2>&1
check a_new_model_compiles_the_models_alone "$(cat "$work/out")" \
    test "$(grep -c '^  CC' "$work/out" | tr -d ' ')" -le 2
check a_new_model_is_built_in "$(build/chorus models 2>&1)" grep -q zeta <(cd / && "$tree/build/chorus" models 2>&1)
rm models/zeta.net
make >"$work/out" 2>&1
check a_lost_model_is_gone "$(build/chorus models 2>&1)" \
    test "$(cd / && "$tree/build/chorus" models 2>/dev/null | grep -c zeta)" = 0

# Installed, it runs from any folder, whatever that one is called.
root="$work/someone's own root"
make install PREFIX="/usr/my local" DESTDIR="$root" >"$work/out" 2>&1
check install_puts_it_in_place "$(cat "$work/out")" test -x "$root/usr/my local/bin/chorus"
has_symbols() { readelf -S -W "$1" | grep -q ' \.symtab '; }
check install_strips_it "it has symbols" eval '! has_symbols "$root/usr/my local/bin/chorus"'
check and_not_what_was_built "it has no symbols" has_symbols build/chorus
make install PREFIX=/symbols DESTDIR="$root" STRIP=no >"$work/out" 2>&1
check install_keeps_symbols_where_asked "$(cat "$work/out")" cmp build/chorus "$root/symbols/bin/chorus"
mkdir "$work/elsewhere"
cd "$work/elsewhere" || exit 1
mv "$tree" "$work/away"
"$root/usr/my local/bin/chorus" models >"$work/out" 2>"$work/err"
status=$?
check it_runs_from_any_folder "status $status: $(cat "$work/err")" test $status = 0
for model in "$work"/away/models/*.net; do
    name=$(basename "$model" .net)
    check "it_brings_the_model_$name" "$(cat "$work/out")" grep -qw "$name" "$work/out"
done
cd "$here" || exit 1
finish
