# The walls between the rooms: the tree as it stands keeps to them, and whatever breaks one is named
# with file and line.

. tests/build/lib.sh

# plant NAME FILE LINE WORDS: in a copy of the tree, the line in front of FILE must be found at
# FILE:1 with these words.
plant()
{
    local name=$1 file=$2 line=$3 words=$4 tree=$work/tree
    rm -rf "$tree"
    mkdir "$tree"
    cp -r src ui "$tree"
    mkdir -p "$(dirname "$tree/$file")"
    [ -e "$tree/$file" ] || : >"$tree/$file"
    { printf '%s\n' "$line" && cat "$file" 2>/dev/null; } >"$tree/$file"
    if sh make/walls.sh "$tree" >"$work/out" 2>&1; then
        bad "$name" "was let through"
    elif ! grep -qF "$file:1: " "$work/out"; then
        bad "$name" "not named: $(head -n 3 "$work/out")"
    elif ! grep -F "$file:1: " "$work/out" | grep -qF "$words"; then
        bad "$name" "without \"$words\": $(grep -F "$file:1: " "$work/out")"
    elif [ "$(wc -l <"$work/out")" != 2 ]; then
        bad "$name" "more than one: $(cat "$work/out")"
    else
        ok "$name"
    fi
}

if sh make/walls.sh . >"$work/out" 2>&1; then
    ok the_tree_keeps_to_its_walls
else
    bad the_tree_keeps_to_its_walls "$(cat "$work/out")"
fi
check it_counts_what_it_saw "$(cat "$work/out")" \
    grep -qE '^[1-9][0-9]+ includes of [1-9][0-9]+ files' "$work/out"

plant base_knows_nobody src/base/text.c '#include "net/net.h"' 'base may not know net'
plant rng_knows_base_alone src/rng/new.c '#include "spec/spec.h"' 'rng may not know spec'
plant net_does_not_know_data src/net/new.c '#include "data/data.h"' 'net may not know data'
plant wire_does_not_know_record src/wire/new.c '#include "record/run/record.h"' 'wire may not know record'
plant data_does_not_know_engine src/data/new.c '#include "engine/plan.h"' 'data may not know engine'
plant record_does_not_know_engine src/record/new.c '#include "engine/engine.h"' 'may not know engine'
plant engine_does_not_know_backends src/engine/engine.h '#include "ref/ref.h"' 'engine may not know ref'
plant engine_does_not_know_cli src/engine/new.c '#include "cli/cli.h"' 'engine may not know cli'
plant backends_do_not_know_each_other src/cpu/new.c '#include "ref/ref.h"' 'cpu may not know ref'
plant backends_do_not_know_each_other_2 src/ref/new.c '#include "fake/fake.h"' 'ref may not know fake'
plant ui_does_not_know_engine ui/app/app.h '#include "engine/engine.h"' 'ui may not know engine'
plant ui_does_not_know_data ui/new.c '#include "data/data.h"' 'ui may not know data'
plant ui_does_not_know_cpu ui/new.c '#include "cpu/cpu.h"' 'ui may not know cpu'
plant ui_reads_with_the_reader_alone ui/new.c '#include "record/run/checkpoint.h"' 'the reader alone'
plant draw_does_not_know_ui src/draw/plot/plot.h '#include "ui/app/app.h"' 'draw may not know ui'
plant draw_reads_with_the_reader_alone src/draw/new.c '#include "record/run/checkpoint.h"' 'the reader alone'
plant draw_has_no_terminal src/draw/new.c '#include <curses.h>' 'belongs to the room ui'
plant nobody_knows_ui_but_cli src/engine/new.c '#include "ui/app/app.h"' 'engine may not know ui'
plant csv_stays_in_base src/data/new.c '#include <csv.h>' '<csv.h> belongs to the room base'
plant curses_stays_in_ui src/cli/new.c '#include <ncursesw/curses.h>' 'belongs to the room ui'
plant curses_stays_in_ui_2 src/engine/new.c '#include <term.h>' 'belongs to the room ui'
plant cuda_stays_in_cuda src/cpu/new.c '#include <cuda_runtime.h>' 'belongs to the room cuda'
plant nccl_stays_in_cuda src/engine/new.c '#include <nccl.h>' 'belongs to the room cuda'
plant inside_headers_stay_inside src/cli/new.c '#include "net/net_int.h"' 'for the room net alone'
plant no_relative_names src/rng/new.c '#include "rng.h"' 'not written from src/'
plant no_way_up src/rng/new.c '#include "rng/../net/net.h"' 'not written from src/'
plant no_source_folder_in_names src/cli/new.c '#include "src/net/net.h"' 'not written from src/'
plant no_angles_for_our_own src/base/new.c '#include <net/net.h>' 'in double quotes'
plant no_names_by_macro src/base/new.c '#include NAME' 'is written out'
plant no_missing_files src/cli/new.c '#include "net/nowhere.h"' 'is not there'
plant no_room_without_a_place src/attic/new.c '/* nothing */' 'has no place'
plant seen_behind_a_comment src/base/new.c '/* a */ # /**/ include /* b */ "net/net.h"' 'may not know net'
finish
