# make/format.sh [--check]: formats the source in place, or lists the files that it would change and
# exits 1. Versions of clang-format differ in taste: the tree follows 14, Debian 12's.

tool=
for name in clang-format-14 clang-format; do
    case $($name --version 2>/dev/null) in
    *"version 14."*) tool=$name && break ;;
    esac
done
if [ -z "$tool" ]; then
    echo "clang-format 14 is missing: Debian 12 has it in the package clang-format."
    exit 77
fi

# shellcheck disable=SC2046 # no file of the tree has a space in its name
set -- "$1" $(find src ui tests \( -name '*.[ch]' -o -name '*.inc' \) | LC_ALL=C sort)
if [ "$1" != --check ]; then
    shift
    exec $tool -i --style=file "$@"
fi
shift
bad=$($tool --style=file --dry-run "$@" 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:.*/\1/p' | sort -u)
if [ -n "$bad" ]; then
    printf '%s: `make fmt` would change it\n' $bad
    exit 1
fi
echo "$# files are formatted."
