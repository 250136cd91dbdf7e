# make/detect.sh FOLDER: finds the libraries of this machine by compiling and linking a real call of
# each, and writes FOLDER/config.mk and FOLDER/config.h. CC, FLAGS, LDFLAGS and FLAVOUR come from the
# environment. Where one is missing that the program can not do without, config.mk defines MISSING: one
# sentence with which make stops.

out=$1
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$out" || exit 1
: >"$t/config.mk"
: >"$t/config.h"
missing=

# shellcheck disable=SC2086 # CC and the flags are lists of words
links() # links FLAGS...: whether the program on stdin compiles and links
{
    cat >"$t/probe.c"
    $CC $FLAGS "$t/probe.c" $LDFLAGS "$@" -o "$t/probe" >"$t/log" 2>&1
}

# Only what changed is replaced: config.h is read by every source file.
finish()
{
    cmp -s "$t/config.h" "$out/config.h" || cp "$t/config.h" "$out/config.h" || exit 1
    cp "$t/config.mk" "$out/config.mk.$$" && mv "$out/config.mk.$$" "$out/config.mk"
    exit
}

stop()
{
    printf 'MISSING := %s\n' "$(echo "$1" | sed 's/[$]/$$/g; s/#/\\#/g')" >>"$t/config.mk"
    finish
}

line()
{
    printf '  %-8s %-20s %s\n' "$@"
}

found() # found NAME VARIABLE LIBS WHERE
{
    line found "$1" "$4"
    printf 'LIBS_%s := %s\n' "$2" "$3" >>"$t/config.mk"
    printf '#define CHORUS_HAVE_%s 1\n' "$2" >>"$t/config.h"
}

required() # required NAME VARIABLE LIBS PACKAGE
{
    # shellcheck disable=SC2086
    if links $3; then
        found "$1" "$2" "$3" "($4)"
    else
        line missing "$1" "$4 brings it"
        missing="$missing${missing:+ and }$1 (Debian's package $4)"
    fi
}

if ! echo 'int main(void) { _Static_assert(1, ""); return 0; }' | links -pthread -lm; then
    stop "$CC does not build a C11 program of the flavour $FLAVOUR here: $(grep -m 1 . "$t/log")"
fi

required ncursesw NCURSES -lncursesw libncurses-dev <<'C'
#include <ncurses.h>
int main(void)
{
    return addwstr(L"x") + get_wch(&(wint_t){0});
}
C
required libcsv CSV -lcsv libcsv-dev <<'C'
#include <csv.h>
int main(void)
{
    struct csv_parser p;
    return csv_init(&p, CSV_STRICT) + (int)csv_parse(&p, "a\n", 2, 0, 0, 0);
}
C
required zlib Z -lz zlib1g-dev <<'C'
#include <zlib.h>
int main(void)
{
    z_stream z = {0};
    return inflateInit2(&z, 31) + inflate(&z, Z_FINISH);
}
C

if [ "$FLAVOUR" = kit ]; then
    line off libcurl "this flavour needs no library where it runs"
elif links -lcurl <<'C'; then
#include <curl/curl.h>
int main(void)
{
    CURL *c = curl_easy_init();
    return !c || curl_easy_setopt(c, CURLOPT_URL, "http://localhost/") || curl_easy_perform(c);
}
C
    found libcurl CURL -lcurl "(libcurl4-openssl-dev)"
else
    line missing libcurl "libcurl4-openssl-dev brings it; without it \`chorus data fetch\` is off"
fi

cuda=${CUDA_HOME:-/usr/local/cuda}
target=$(uname -m)-linux
[ "$target" = aarch64-linux ] && target=sbsa-linux
cuda_links() # the first folder of the toolkit with which the program on stdin links: src/cuda/rt/libs.c's
{
    cat >"$t/cuda.c"
    for cuda_lib in lib64 lib "targets/$target/lib"; do
        cuda_lib=$cuda/$cuda_lib
        [ -d "$cuda_lib" ] || continue
        links "-I$cuda/include" "-I$cuda/targets/$target/include" "-L$cuda_lib" -lcudart_static \
            -ldl -lrt -pthread <"$t/cuda.c" && return
    done
    return 1
}
if [ "$FLAVOUR" = nocuda ]; then
    line off CUDA "this flavour goes without"
elif ! cuda_links <<'C'; then
#include <cuda_runtime_api.h>
int main(void)
{
    int n = 0;
    return cudaGetDeviceCount(&n);
}
C
    line none CUDA "optional; CUDA_HOME says where the toolkit is, if not in /usr/local/cuda"
elif ! [ -x "$cuda/bin/nvcc" ] || ! "$cuda/bin/nvcc" --version >"$t/log" 2>&1; then
    line none nvcc "$cuda/bin has no nvcc that runs: the program goes without GPUs"
else
    line found CUDA "($cuda)"
    printf 'CUDA := %s\nCUDA_LIB := %s\nCUDA_INCLUDE := %s\n' "$cuda" "$cuda_lib" \
        "$cuda/include $cuda/targets/$target/include" >>"$t/config.mk"
    # The rest is opened when the program runs; of cuDNN the build needs the headers.
    if links -c "-I$cuda/include" "-I$cuda/targets/$target/include" <<'C'; then
#include <cudnn.h>
int n = CUDNN_VERSION;
C
        line found "cuDNN's headers" "($cuda)"
        printf 'CUDNN := 1\n' >>"$t/config.mk"
    else
        line none "cuDNN's headers" "optional; residual networks train on kernels of our own"
    fi
fi
if ! ${CXX:-g++} --version >/dev/null 2>&1; then
    line none g++ "g++ brings it; without it the CUDA part is not built, and its tests are skipped"
    sed -i '/^CUDA := /d' "$t/config.mk"
else
    echo 'HAVE_CXX := 1' >>"$t/config.mk"
fi

if [ -n "$missing" ]; then
    stop "chorus can not be built without $missing: \`make deps\` brings what is missing"
fi
finish
