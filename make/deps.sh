# make/deps.sh [--try] [run|check]: installs the Debian packages that building and running, or `make
# check` too (the default), need. Asks once on a terminal and goes ahead without one. Silent where
# all is there. --try: what can not be installed is said, but is no failure: the build will tell
# whether it can do without.

try=
[ "$1" = --try ] && try=1 && shift
purpose=${1:-check}

# purpose, package (or alternatives, the first is installed), why
packages()
{
    cat <<'LIST'
run   zlib1g-dev             reads compressed data sets
run   libcsv-dev             reads CSV files
run   libncurses-dev         draws on the terminal
run   libcurl4-openssl-dev|libcurl4-gnutls-dev|libcurl4-nss-dev  downloads data sets
run   dataset-fashion-mnist  70,000 images to train on
check clang-format           checks the style of the source
LIST
}

give_up()
{
    echo "$1" >&2
    [ -n "$try" ] && exit 0
    exit 1
}

installed()
{
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing= list=
while read -r for names why; do
    [ "$purpose" = run ] && [ "$for" != run ] && continue
    have=
    for name in $(echo "$names" | tr '|' ' '); do
        installed "$name" && have=1
    done
    [ -n "$have" ] && continue
    name=${names%%|*}
    missing="$missing $name"
    list="$list$(printf '  %-24s %s' "$name" "$why")
"
done <<LIST
$(packages)
LIST
[ -n "$missing" ] || exit 0

printf 'chorus needs these Debian packages:\n%s' "$list"
command -v apt-get >/dev/null ||
    give_up "There is no apt-get here: install what stands above by this system's own means."
root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
        give_up "Only root may install packages: run \`apt-get install$missing\` as root."
    root=sudo
fi
if [ -t 0 ]; then
    printf 'Install them now? [Y/n] '
    read -r answer
    case $answer in
    '' | [Yy]*) ;;
    *) give_up "Nothing was installed; \`apt-get install$missing\` does the same." ;;
    esac
fi

# On a new machine apt's lists are empty; on one without a network they may do as they are.
$root apt-get -q update || echo "apt-get update failed; trying with the lists there are." >&2
# shellcheck disable=SC2086 # a list of packages
$root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing ||
    give_up "apt-get could not install$missing: see its words above."
