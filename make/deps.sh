# make/deps.sh [--try] [run|check|all]: installs the Debian packages that building and running need, or
# `make check` too (the default), or the tests that ask for more. Asks once on a terminal and goes
# ahead without one. Silent where all is there. --try: what can not be installed is said, but is no
# failure: the build will tell whether it can do without.

try=
[ "$1" = --try ] && try=1 && shift
purpose=${1:-check}

# purpose, package (or alternatives, the first is installed), why. Together they take about 100 MB
# without what `all` adds, more than a GB: a compiler, a browser and LaTeX, each for a few tests.
packages()
{
    cat <<'LIST'
run   zlib1g-dev             reads compressed data sets
run   libcsv-dev             reads CSV files
run   libncurses-dev         draws on the terminal
run   libcurl4-openssl-dev|libcurl4-gnutls-dev|libcurl4-nss-dev  downloads data sets
run   ca-certificates        tells a true server from a false one
run   dataset-fashion-mnist  70,000 images to train on
check g++                    compiles kernels for an emulator of GPUs
check python3                plays the person at a terminal
check tmux                   is the terminal of a test from start to end
check locales                has countries with a comma in their numbers
all   clang-format           checks the style of the source
all   clang                  finds inputs that reach new code, with its libFuzzer
all   python3-venv           opens the weights in Python, the CSVs in pandas
all   chromium               opens the page of a report
all   fonts-dejavu-core      lets it write
all   gnuplot-nox|gnuplot-qt|gnuplot-x11  draws the curves of a report again
all   slurm-wlm              starts tasks on a cluster of one machine
all   munge                  tells its programs who they are
all   poppler-utils          reads PDF figures
all   texlive-latex-recommended  sets tables
all   texlive-pictures       sets pgfplots
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
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

missing= list=
while read -r when names why; do
    case $purpose:$when in
    run:check | run:all | check:all) continue ;;
    esac
    have=
    for name in $(echo "$names" | tr '|' ' '); do
        installed "$name" && have=1
    done
    [ -n "$have" ] && continue
    name=${names%%|*}
    missing="$missing $name"
    list="$list$(printf '  %-22s %s' "$name" "$why")
"
done <<LIST
$(packages)
LIST
if [ -z "$missing" ]; then
    [ -n "$try" ] || echo "All packages are there."
    exit 0
fi

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
