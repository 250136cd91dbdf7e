# `make deps` on machines that are played: what it installs, when it asks, when it leaves apt alone.

. tests/build/lib.sh

# A machine: apt-get, sudo, id and dpkg-query that write down what they are asked.
mkdir "$work/bin"
for tool in sh cat tr grep env; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done
cat >"$work/bin/apt-get" <<'SH'
#!/bin/sh
echo "apt-get $*" >>"$WORK/calls"
case $* in *update*) [ -z "$NO_NET" ] ;; *) [ -z "$NO_PACKAGE" ] ;; esac
SH
cat >"$work/bin/dpkg-query" <<'SH'
#!/bin/sh
for name; do :; done
grep -qx "$name" "$WORK/there" && echo installed
SH
printf '#!/bin/sh\necho "${USER_ID:-0}"\n' >"$work/bin/id"
printf '#!/bin/sh\necho "sudo $*" >>"$WORK/calls"\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work/bin"/*
every="zlib1g-dev libcsv-dev libncurses-dev libcurl4-openssl-dev ca-certificates dataset-fashion-mnist g++ python3 tmux locales"

# deps PACKAGES ARGUMENTS...: with these packages there already; what it says lands in $work/out,
# what it calls in $work/calls.
deps()
{
    tr ' ' '\n' <<<"$1" >"$work/there"
    shift
    : >"$work/calls"
    WORK=$work PATH=$work/bin sh make/deps.sh "$@" >"$work/out" 2>&1 </dev/null
}

has()
{
    grep -qF -- "$1" "$work/${2:-out}"
}

deps "$every"
check nothing_to_do_leaves_apt_alone "$(cat "$work/calls" "$work/out")" test ! -s "$work/calls"
check nothing_to_do_is_one_line "$(cat "$work/out")" test "$(wc -l <"$work/out")" = 1
deps "$every" --try run
check nothing_to_do_within_other_targets_is_silent "$(cat "$work/out")" test ! -s "$work/out"
deps "${every/g++ python3 tmux locales/}" run
check what_only_tests_need_is_left_to_them "$(cat "$work/calls")" test ! -s "$work/calls"
deps "${every/openssl/gnutls}"
check another_curl_will_do "$(cat "$work/calls")" test ! -s "$work/calls"

deps ""
check without_a_terminal_it_goes_ahead "$(cat "$work/calls")" \
    has "install -y --no-install-recommends $every" calls
check the_lists_are_brought_up_to_date_first "$(cat "$work/calls")" \
    test "$(head -n 1 "$work/calls")" = "apt-get -q update"
check it_prints_the_packages_and_why "$(cat "$work/out")" has 'libcsv-dev             reads CSV files'
deps "zlib1g-dev libncurses-dev libcurl4-openssl-dev ca-certificates dataset-fashion-mnist g++ python3 tmux locales"
check it_installs_the_missing_alone "$(cat "$work/calls")" \
    grep -qE 'recommends libcsv-dev *$' "$work/calls"

NO_NET=1 deps ""
check it_tries_without_a_network "$(cat "$work/calls")" has install calls
NO_PACKAGE=1 deps ""
check a_failed_installation_is_a_failure "status $?" test $? != 0
NO_PACKAGE=1 deps "" --try
check or_only_said_where_the_build_will_tell "status $?" test $? = 0

USER_ID=1000 deps ""
check others_than_root_use_sudo "$(cat "$work/calls")" has "sudo apt-get -q update" calls
mv "$work/bin/sudo" "$work/sudo"
USER_ID=1000 deps ""
check without_sudo_it_names_the_command "$(cat "$work/out")" \
    has 'run `apt-get install zlib1g-dev libcsv-dev'
check without_sudo_nothing_is_done "$(cat "$work/calls")" test ! -s "$work/calls"
mv "$work/bin/apt-get" "$work/apt-get"
deps ""
check without_apt_it_says_so "$(cat "$work/out")" has 'no apt-get here'
mv "$work/apt-get" "$work/bin/apt-get"

# script (of util-linux, on every Debian) gives a command a terminal.
asked()
{
    : >"$work/there" >"$work/calls"
    echo "$1" | WORK=$work PATH=$work/bin:$PATH timeout 20 \
        script -qec 'sh make/deps.sh' /dev/null >"$work/out" 2>&1
}
if script -qec true /dev/null >/dev/null 2>&1; then
    asked n
    check on_a_terminal_it_asks "$(cat "$work/out")" has 'Install them now?'
    check no_means_no "$(cat "$work/calls")" test ! -s "$work/calls"
    asked y
    check yes_means_yes "$(cat "$work/calls" "$work/out")" has install calls
    check it_asks_once "$(cat "$work/out")" test "$(grep -c '?' "$work/out")" = 1
else
    skip on_a_terminal_it_asks "script can not make a terminal here"
fi
finish
