# make/version.sh VERSION: a C file with the version: 0.1.0+76f9d1e, with .dirty where the tree holds
# changes, 0.1.0 alone where it is no clone.

commit=
if [ -e .git ]; then
    commit=$(git describe --always --dirty=.dirty --exclude='*' 2>/dev/null)
fi
cat <<C
#include "cli/version.h"

const char chorus_version[] = "$1${commit:+"+$commit"}";
C
