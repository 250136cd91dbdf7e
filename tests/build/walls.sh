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
    mkdir "$tree/tests" && cp -r tests/unit tests/parity tests/twin tests/bench tests/gpu tests/test.h "$tree/tests"
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
plant base_does_not_know_its_system src/base/new.c '#include "base/system/thread.h"' 'base may not know base/system'
plant rng_knows_base_alone src/rng/new.c '#include "spec/spec.h"' 'rng may not know spec'
plant net_does_not_know_data src/net/new.c '#include "data/data.h"' 'net may not know data'
plant wire_does_not_know_record src/wire/new.c '#include "record/run/run.h"' 'wire may not know record/run'
plant data_does_not_know_engine src/data/new.c '#include "engine/plan.h"' 'data may not know engine'
plant record_does_not_know_engine src/record/new.c '#include "engine/engine.h"' 'may not know engine'
plant a_run_does_not_know_lists src/record/run/new.c '#include "record/list.h"' 'record/run may not know record'
plant the_queue_does_not_know_sweeps src/record/queue/new.c '#include "record/sweep/sweeps.h"' \
    'record/queue may not know record/sweep'
plant engine_does_not_know_backends src/engine/engine.h '#include "ref/ref_real.h"' 'engine may not know ref'
plant engine_does_not_know_cli src/engine/new.c '#include "cli/verbs.h"' 'engine may not know cli'
plant a_run_does_not_know_forecasts src/engine/run/new.c '#include "engine/forecast/forecast.h"' \
    'engine/run may not know engine/forecast'
plant backends_do_not_know_each_other src/cpu/new.c '#include "ref/ref_real.h"' 'cpu may not know ref'
plant backends_do_not_know_each_other_2 src/ref/new.c '#include "fake/fake.h"' 'ref may not know fake'
plant study_reads_with_the_reader_alone src/study/new.c '#include "record/run/writer.h"' 'the reader alone'
plant ui_does_not_know_engine ui/app/app.h '#include "engine/engine.h"' 'ui/app may not know engine'
plant ui_does_not_know_data ui/setup/new.c '#include "data/data.h"' 'may not know data'
plant ui_does_not_know_cpu ui/run/new.c '#include "cpu/peak.h"' 'may not know cpu'
plant live_reads_with_the_reader_alone src/live/new.c '#include "record/run/checkpoint.h"' 'the reader alone'
plant screens_do_not_know_each_other ui/run/new.c '#include "ui/setup/form.h"' 'ui/run may not know ui/setup'
plant the_app_knows_no_screen ui/app/new.c '#include "ui/setup/form.h"' 'ui/app may not know ui/setup'
plant widgets_do_not_know_the_app ui/widgets/new.h '#include "ui/app/app.h"' 'ui/widgets may not know ui/app'
plant draw_does_not_know_ui src/draw/plot/plot.h '#include "ui/app/app.h"' 'draw/plot may not know ui'
plant draw_reads_with_the_reader_alone src/draw/new.c '#include "record/run/checkpoint.h"' 'the reader alone'
plant ink_does_not_know_plots src/draw/ink/new.c '#include "draw/plot/plot.h"' 'draw/ink may not know draw/plot'
plant nobody_knows_ui_but_cli src/engine/new.c '#include "ui/app/app.h"' 'engine may not know ui'
plant nobody_knows_verbs src/cli/jobs/new.c '#include "cli/forecast/dry.h"' 'may not know cli/forecast'
plant csv_stays_in_base src/data/new.c '#include <csv.h>' '<csv.h> belongs to the room base'
plant curses_stays_in_ui src/cli/new.c '#include <ncursesw/curses.h>' 'belongs to the room ui/term'
plant curses_stays_in_ui_2 src/engine/new.c '#include <term.h>' 'belongs to the room ui/term'
plant curses_stays_in_term ui/app/new.c '#include <ncurses.h>' 'belongs to the room ui/term'
plant draw_has_no_terminal src/draw/new.c '#include <curses.h>' 'belongs to the room ui/term'
plant cuda_stays_in_cuda src/cpu/new.c '#include <cuda_runtime.h>' 'belongs to the room cuda/rt'
plant nccl_stays_in_cuda src/engine/new.c '#include <nccl.h>' 'belongs to the room cuda/rt'

# In sources of each kind.
plant headers_of_kernels src/cuda/kernels/wide.h '#include "cuda/rt/rt.h"' 'cuda/kernels may not know cuda/rt'
plant kernels_of_cuda src/cuda/kernels/act.cu '#include "cuda/launch/layers.h"' 'may not know cuda/launch'
plant kernels_of_cpu src/cpu/kernels/dense.inc '#include "engine/engine.h"' 'cpu/kernels may not know engine'
plant code_in_cpp src/cuda/new.cpp '#include "record/list.h"' 'cuda may not know record'
plant assembler src/cuda/new.S '#include "record/list.h"' 'cuda may not know record'

plant inside_headers_stay_inside src/cli/verbs/new.c '#include "net/net_int.h"' 'for the room net alone'
plant inside_headers_do_not_go_up src/engine/new.c '#include "engine/sweep/sweep_int.h"' 'for the room engine/sweep'
plant inside_headers_do_not_go_aside src/engine/run/new.c '#include "engine/sweep/sweep_int.h"' \
    'for the room engine/sweep'
plant screens_have_no_inside_of_the_app ui/run/new.c '#include "ui/app/app_int.h"' 'for the room ui/app alone'
plant tests_see_inside_their_room_alone tests/unit/net/new_test.c '#include "spec/spec_int.h"' 'for the room spec alone'
plant tests_of_a_screen_see_that_one tests/unit/ui/log/new_test.c '#include "ui/run/runview_int.h"' \
    'for the room ui/run alone'
plant parity_sees_inside_its_room_alone tests/parity/cpu_new_test.c '#include "cuda/cuda_int.h"' 'for the room cuda'
plant the_twin_sees_no_inside tests/twin/rt.cpp '#include "cuda/cuda_int.h"' 'for the room cuda alone'
plant the_program_knows_no_test src/cuda/new.c '#include "tests/twin/twin.h"' 'may not know tests/twin'

# Headers have the name of the files that implement them, or one of their own.
plant a_promise_of_another_file src/base/io.h 'int text_width(const char *s);' 'does not have the name of this header'

plant no_relative_names src/rng/new.c '#include "rng.h"' 'not written from src/'
plant no_way_up src/rng/new.c '#include "rng/../net/net.h"' 'not written from src/'
plant no_source_folder_in_names src/cli/new.c '#include "src/net/net.h"' 'not written from src/'
plant no_angles_for_our_own src/base/new.c '#include <net/net.h>' 'in double quotes'
plant no_names_by_macro src/base/new.c '#include NAME' 'is written out'
plant no_missing_files src/cli/verbs/new.c '#include "net/nowhere.h"' 'is not there'
plant no_room_without_a_place src/attic/new.c '/* nothing */' 'has no place'
plant no_room_without_a_place_2 ui/run/attic/new.c '/* nothing */' 'has no place'
plant seen_behind_a_comment src/base/new.c '/* a */ # /**/ include /* b */ "net/net.h"' 'may not know net'
rm -rf "$work/tree" && mkdir "$work/tree" && cp -r src ui "$work/tree"
for i in {1..33}; do
    echo '#include "base/err.h"' >"$work/tree/src/rng/new$i.c"
done
sh make/walls.sh "$work/tree" >"$work/out" 2>&1
check no_room_is_too_full "$(cat "$work/out")" grep -q '^src/rng/.*more than 32 files' "$work/out"
finish
