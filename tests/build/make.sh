# What the Makefile promises where something is missing, odd or changed; nothing here compiles the
# program.

. tests/build/lib.sh

build=$work/build
run() { # run ARGUMENTS...: make, with its folder in $work
    make BUILD="$build" "$@" >"$work/out" 2>"$work/err"
}

# A compiler that can not find one library.
without() {
    cat >"$work/cc" <<SH
#!/bin/sh
case " \$* " in *" -l$1 "*) echo "ld: cannot find -l$1" >&2; exit 1 ;; esac
exec cc "\$@"
SH
    chmod +x "$work/cc"
}

while read -r library name package; do
    without "$library"
    rm -rf "$build"
    run CC="$work/cc"
    check "make_stops_without_$library" "status $?" test $? != 0
    check "and_names_${library}_and_make_deps" "$(cat "$work/err")" grep -qF "chorus can not be built \
without $name (Debian's package $package): \`make deps\` brings what is missing." "$work/err"
    check "in_one_sentence_without_$library" "$(cat "$work/err")" \
        test "$(wc -l <"$work/err")" = 1
    check "and_compiles_nothing_without_$library" "$(cat "$work/out")" \
        test "$(grep -c '^  CC' "$work/out")" = 0
    check "its_line_says_missing_$library" "$(cat "$work/out")" \
        grep -qE "^  missing +$name +$package brings it" "$work/out"
done <<'LIST'
ncursesw ncursesw libncurses-dev
csv libcsv libcsv-dev
z zlib zlib1g-dev
LIST

config=$build/normal/config.mk
without curl
rm -rf "$build"
run CC="$work/cc" "$config"
check without_curl_it_goes_on "status $?" test $? = 0
check without_curl_it_says_what_is_lost "$(cat "$work/out")" \
    grep -qE '^  missing +libcurl +libcurl4-openssl-dev brings it.*data fetch' "$work/out"
check without_curl_nothing_claims_it "$(cat "$build/normal/config.h")" \
    test "$(grep -c CURL "$build/normal/config.h" "$config" | grep -vc ':0')" = 0

without cudart_static
rm -rf "$build"
run CC="$work/cc" "$config"
check without_cuda_nobody_complains "$(cat "$work/err")" test ! -s "$work/err"
check without_cuda_a_line_says_so "$(cat "$work/out")" grep -qE '^  none +CUDA' "$work/out"
run FLAVOUR=nocuda "$build/nocuda/config.mk"
check the_flavour_without_cuda_does_not_look "$(cat "$work/out")" grep -qE '^  off +CUDA' "$work/out"

# Found once, and anew where what decides it changed.
rm -rf "$build"
run "$config"
check libraries_are_looked_for "$(cat "$work/out")" grep -q '^  found' "$work/out"

# One room's tests: what is linked and run of them, and which rooms have some.
of_room() { # of_room ARGUMENTS...: the test programs that `make test ARGUMENTS` links, in one line
    make -n BUILD="$build" room-tests "$@" 2>"$work/err" | grep -oE 'LINK.*tests/(unit|parity)/[a-z_/]*_test' |
        sed 's,.*tests/,,' | sort | paste -sd ' '
}
same() { # same NAME FOUND WANTED
    check "$1" "$2, not $3" test "$2" = "$3"
}
same a_room_has_its_tests "$(of_room ROOM=rng)" unit/rng/keys_test
same a_room_of_a_room_has_its_own "$(of_room ROOM=ui/log)" unit/ui/log/log_test
same only_takes_those_with_the_word "$(of_room ROOM=spec ONLY=par)" unit/spec/parse_test
same the_parity_of_a_room_is_its_own "$(of_room ROOM=ref ONLY=losses)" parity/ref_losses_test
for words in ROOM=nope 'ROOM=rng ONLY=nope' ROOM=; do
    run test $words
    check "no_tests_are_told_$words" "$(cat "$work/err")" \
        grep -q "^Makefile.*$words: no tests found. Rooms with tests: base cli .* ui/setup" "$work/err"
done

# A toolkit's libraries lie in one of several folders; the program looks in the same ones when it runs.
toolkit=$(sed -n 's/^CUDA := //p' "$config")
machine=$(sed -n 's,^CUDA_INCLUDE := .*/targets/\([^/]*\)/include$,\1,p' "$config")
if [ -n "$toolkit" ]; then
    real=$(realpath "$(sed -n 's/^CUDA_LIB := //p' "$config")")
    for folder in lib64 lib "targets/$machine/lib"; do
        rm -rf "$work/toolkit" "$work/other" && mkdir -p "$work/toolkit/$folder" &&
            ln -s "$toolkit/bin" "$toolkit/include" "$work/toolkit/" &&
            ln -s "$real"/libcudart_static.a "$work/toolkit/$folder/"
        env -u LIBRARY_PATH CUDA_HOME="$work/toolkit" make BUILD="$work/other" \
            "$work/other/normal/config.mk" >"$work/out" 2>"$work/err"
        check "a_toolkit_with_its_libraries_in_$folder" "$(grep CUDA "$work/out")" \
            grep -qxF "CUDA_LIB := $work/toolkit/$folder" "$work/other/normal/config.mk"
        CUDA_HOME="$work/toolkit" make -n BUILD="$work/other" part >"$work/out" 2>"$work/err"
        check "and_is_linked_with_it_$folder" "$(tail -n 3 "$work/err")" \
            grep -qF -- "-L$work/toolkit/$folder -lcudart_static" "$work/out"
    done
    rm -rf "$work/other"
else
    skip a_toolkit_with_its_libraries_elsewhere "there is no toolkit here"
fi
run "$config"
check and_not_again "$(cat "$work/out")" test "$(grep -c '^  found' "$work/out")" = 0
run CFLAGS=-O0 "$config"
check but_after_other_flags "$(cat "$work/out")" grep -q '^  found' "$work/out"
touch -r "$build/normal/config.h" "$work/before"
sleep 0.02
run "$config"
check config_h_stays_where_it_says_the_same "it was written anew" \
    test ! "$build/normal/config.h" -nt "$work/before"

run CC=/nowhere/cc
check without_a_compiler_it_says_so "$(cat "$work/err")" \
    grep -q '/nowhere/cc does not build a C11 program of the flavour normal here' "$work/err"

# For which GPUs: what nvcc would not understand is refused in words, and before anything is compiled.
arch() { # arch NAME VALUE WORDS
    run -n CUDA_ARCH="$2" all
    check "$1" "$(head -n 3 "$work/err")" grep -qF -- "CUDA_ARCH = $2: $3" "$work/err"
}
arch older_gpus_are_refused 75 'GPUs before 80 (Ampere) have no tensor cores'
arch also_beside_others '90a 75' 'GPUs before 80 (Ampere) have no tensor cores'
for value in sm_80 8.0 80,90 90A 'x 80'; do
    arch "what_is_no_capability_is_refused_$value" "$value" 'compute capabilities as nvcc names them'
done
for value in 80 90a '80 90a 100f' ''; do
    run -n CUDA_ARCH="$value" all
    check "these_are_none_to_refuse_$value" "status $?" test $? = 0
    if grep -q '^CUDA := ' "$config"; then
        check "and_are_compiled_for_$value" "$(grep -m 1 gencode "$work/out")" \
            grep -qE "code=(\[)?sm_${value##* }" "$work/out"
    fi
done

# What is installed has no symbols, the part for GPUs neither.
installed=$(grep -q '^CUDA := .' "$config" && echo 2 || echo 1)
run -n install
check install_strips_each_file "$(grep '^install' "$work/out")" test "$(grep -c '^install .* -s ' "$work/out")" = "$installed"
run -n install STRIP=no
check install_strips_none_where_asked "$(grep '^install' "$work/out")" test \
    "$(grep -c '^install .* -s ' "$work/out") $(grep -c '^install' "$work/out")" = "0 $installed"

run FLAVOUR=vanilla
check an_unknown_flavour_is_refused "$(cat "$work/err")" \
    grep -q 'no flavour vanilla: it is normal, asan, tsan, nocuda, kit or fuzz' "$work/err"

# Flavours lie side by side: none writes or reads a file of another.
for flavour in normal asan tsan nocuda; do
    make -n -B V=1 BUILD="$build" FLAVOUR=$flavour all tests >"$work/plan" 2>/dev/null
    others=$(printf '%s\n' normal asan tsan nocuda | grep -vx $flavour | paste -sd '|')
    check "flavour_${flavour}_keeps_to_itself" "$(grep -E "$build/($others)/" "$work/plan" | head -n 2)" \
        test "$(grep -cE "$build/($others)/" "$work/plan")" = 0
    check "flavour_${flavour}_compiles_all" "$(head "$work/plan")" \
        grep -q -- "-c src/main.c -o $build/$flavour/obj/src/main.o" "$work/plan"
done
has_flag() { # has_flag FLAVOUR FLAG FILE
    make -n -B V=1 BUILD="$build" FLAVOUR="$1" all 2>/dev/null | tr -d '\\\n' | tr ';&' '\n\n' |
        grep -- " -c $3 " | grep -q -- "$2"
}
check asan_means_both_sanitizers "no -fsanitize" has_flag asan -fsanitize=address,undefined src/main.c
check undefined_behaviour_ends_a_test "it goes on" \
    has_flag asan -fno-sanitize-recover=undefined src/main.c
check tsan_means_threads "no -fsanitize" has_flag tsan -fsanitize=thread src/main.c
make -n -B V=1 BUILD="$build" 2>/dev/null | tr -d '\\\n' | tr ';&' '\n\n' | grep ' -c src/' >"$work/all"
grep nvcc "$work/all" >"$work/nvcc"
grep -v -e cpu/kernels/avx -e nvcc "$work/all" >"$work/plan"
check no_contraction_outside_the_kernels "$(grep -v -- -ffp-contract=off "$work/plan" | head -n 1)" \
    test "$(grep -vc -- -ffp-contract=off "$work/plan")" = 0
if [ -s "$work/nvcc" ]; then
    check a_kernel_is_compiled_once_for_one_architecture "$(head -n 1 "$work/nvcc")" \
        test "$(grep -c 'arch=.*arch=' "$work/nvcc")" = 0
else
    skip a_kernel_is_compiled_once_for_one_architecture "there is no nvcc here"
fi
check no_fast_math_anywhere "$(grep -E 'fast-math|Ofast' "$work/plan")" \
    test "$(grep -cE 'fast-math|Ofast' "$work/plan")" = 0

# Help lists each target that has words, and each such target exists.
run help
for target in all run check check-all deps install clean deps-check fmt fmt-check asan tsan help; do
    check "help_lists_$target" "$(cat "$work/out")" grep -qE "^  make $target +[a-z]" "$work/out"
done
for target in $(sed -n 's/^  make \([a-z-]*\) .*/\1/p' "$work/out"); do
    check "target_${target}_exists" "make -n $target failed" \
        grep -qE "^\.PHONY:.* $target( |$)" Makefile
done
check help_needs_no_libraries "$(cat "$work/out")" test "$(grep -c '^  found' "$work/out")" = 0

mkdir "$work/empty" && cp -r Makefile make "$work/empty" && mkdir -p "$work/empty/src/net" "$work/empty/src/spec"
cp src/net/net.h "$work/empty/src/net/" && cp src/spec/spec.h "$work/empty/src/spec/"
(cd "$work/empty" && make build/normal/gen/net_builtin.c build/normal/gen/spec_builtin.c) \
    >"$work/out" 2>&1
check no_models_and_no_experiments_will_do "$(cat "$work/out")" \
    test -s "$work/empty/build/normal/gen/spec_builtin.c"

# A text becomes itself: quotes, backslashes, trigraphs, tabs, UTF-8, no line at all.
mkdir "$work/text" && cp -r Makefile make "$work/text"
cd "$work/text" || exit 1
mkdir models src src/net
printf 'a "quoted" \\n back\\slash ??/ ??= %%d\t\xc3\xa9\n\n# end\r\n' >models/odd.net
: >models/empty.net
cat >src/net/net.h <<'C'
const char *net_builtin(const char *name);
const char *net_builtin_name(int i);
C
cat >main.c <<'C'
#include "net/net.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    const char *text = argc > 1 ? net_builtin(argv[1]) : 0;
    for (int i = 0; argc == 1 && net_builtin_name(i); i++)
        puts(net_builtin_name(i));
    if (text)
        fputs(text, stdout);
    return argc > 1 && !text;
}
C
make build/normal/gen/net_builtin.c >/dev/null 2>&1
cc -std=c11 -Wall -Wextra -Werror -Isrc main.c build/normal/gen/net_builtin.c -o show 2>"$work/err"
check texts_compile_without_a_warning "$(cat "$work/err")" test ! -s "$work/err"
check texts_come_out_as_they_went_in "$(./show odd | od -c | head)" cmp -s models/odd.net <(./show odd)
check an_empty_text_is_one "status $?" ./show empty
check names_are_sorted "$(./show)" test "$(./show | tr '\n' ' ')" = "empty odd "
check a_name_that_is_not_there "status $?" test "$(./show none >/dev/null; echo $?)" = 1
finish
