# `make help` lists the targets. V=1 shows the commands; FLAVOUR=asan, tsan, nocuda, kit or fuzz builds that one
# under build/FLAVOUR (kit: what runs where no package is; fuzz: what libFuzzer of clang drives); CC, CFLAGS, LDFLAGS
# and BUILD (the folder) may be set too.

VERSION := 0.1.0

BUILD   ?= build
FLAVOUR ?= normal
PREFIX  ?= /usr/local
B       := $(BUILD)/$(FLAVOUR)
Q       := $(if $(V),,@)
MAKEFLAGS += --no-print-directory --no-builtin-rules
# With symbols the program is six times as large.
INSTALL := install -D -m 755$(if $(filter no,$(STRIP)),, -s)
# As many jobs as processors, unless the caller said how many.
JOBS    := $(shell nproc 2>/dev/null || echo 2)
MORE     = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

ifeq ($(origin CC),default)
CC      := $(if $(filter fuzz,$(FLAVOUR)),clang,cc)
endif
CFLAGS  ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
# No contraction of a*b + c: the numbers must not depend on the compiler's choice.
FLAGS    = -std=c11 -D_GNU_SOURCE -pthread $(WARNINGS) $(CFLAGS) -ffp-contract=off $(FLAGS_$(FLAVOUR))
INCLUDES = -Isrc -I. -include $(B)/config.h
LIBS     = -Wl,--as-needed $(LIBS_NCURSES) $(LIBS_CSV) $(LIBS_CURL) $(LIBS_Z) -lm
ifeq ($(FLAVOUR),kit)
LIBS     = -static-libgcc -Wl,-Bstatic -lncursesw -ltinfo -lcsv -lz -Wl,-Bdynamic -lm
endif

FLAGS_normal :=
FLAGS_nocuda :=
FLAGS_kit :=
FLAGS_asan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
FLAGS_tsan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
FLAGS_fuzz := -O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all \
  -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow
ifeq ($(origin FLAGS_$(FLAVOUR)),undefined)
$(error There is no flavour $(FLAVOUR): it is normal, asan, tsan, nocuda, kit or fuzz)
endif

# Flags of one file or of one room. The CPU backend compiles its kernels once for each instruction
# set, in files of their own, and chooses between them when it runs.
# The address sanitizer of gcc lays stack frames where vectors of 64 bytes may not lie; the heap, where
# all buffers are, is watched as everywhere.
# Under a sanitizer, or where the caller asks for less than -O2, nothing more: four times as long to compile.
ROOM_FLAGS_cpu := -Wno-psabi $(if $(filter asan tsan,$(FLAVOUR)),,$(patsubst -O2,-O3,$(filter -O2,$(CFLAGS)))) \
  $(if $(filter asan,$(FLAVOUR)),--param asan-stack=0)
# What tests a room is compiled in a quarter of the time so, and what it tests as everywhere.
ROOM_FLAGS_unit := -O0 -g1
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
FILE_FLAGS_src/cpu/kernels/avx512.c := \
  -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -ffp-contract=fast
FILE_FLAGS_src/cpu/kernels/avx512_8.c := $(FILE_FLAGS_src/cpu/kernels/avx512.c)
FILE_FLAGS_src/cpu/kernels/avx2.c := -mavx2 -mfma -ffp-contract=fast
ifeq ($(FLAVOUR),asan) # -O1 takes three quarters of a minute there
FILE_FLAGS_src/cpu/kernels/avx2.c += -O0
FILE_FLAGS_src/cpu/kernels/avx512_8.c += -O0
endif
FILE_FLAGS_src/cpu/kernels/avx2_8.c := $(FILE_FLAGS_src/cpu/kernels/avx2.c)
# The same source with tiles and with emulated ones.
TILE_FLAGS := $(FILE_FLAGS_src/cpu/kernels/avx512.c) -mavx512bf16
FILE_FLAGS_src/cpu/kernels/amx/amx.c := $(TILE_FLAGS) -mamx-tile -mamx-bf16
FILE_FLAGS_src/cpu/kernels/amx/emulated.c := $(TILE_FLAGS)
endif
own_flags = $(ROOM_FLAGS_$(word 2,$(subst /, ,$(1)))) $(FILE_FLAGS_$(1))
OWN_FLAGS := $(foreach v,$(sort $(filter ROOM_FLAGS_% FILE_FLAGS_%,$(.VARIABLES))),$(v)=$($(v)))

# $(call sources,KIND,FOLDERS...): the files *.KIND of these folders and of those in them.
sources = $(sort $(wildcard $(foreach depth,* */* */*/* */*/*/*,$(addsuffix /$(depth).$(1),$(2)))))
# The room cuda is a shared object of its own (below); the program has only what loads it.
SOURCES := $(filter-out src/main.c src/cuda/%,$(call sources,c,src ui)) src/cuda/load.c
ifeq ($(FLAVOUR),fuzz) # the rooms that read files
SOURCES := $(filter $(foreach r,base rng spec net wire data record study draw,src/$(r)/%) ui/%,$(SOURCES))
endif
TESTS   := $(filter %_test.c,$(call sources,c,tests/unit tests/parity))
BUILTIN := net_builtin spec_builtin
OBJECTS := $(SOURCES:%.c=$(B)/obj/%.o) $(patsubst %,$(B)/gen/%.o,$(BUILTIN) version)
ARCHIVE := $(B)/chorus.a
# The flavours lie side by side; the normal one is what people start.
PROGRAM := $(if $(filter normal,$(FLAVOUR)),$(BUILD)/chorus,$(B)/chorus)
TORTURE := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/torture/*.c)))
PROGRAMS := $(TESTS:%.c=$(B)/%) $(TORTURE)
# A program for each parser; libFuzzer has a main of its own.
FUZZ    := tests/torture/fuzz
FUZZERS := $(patsubst %.c,$(B)/%,$(filter-out $(FUZZ)/main.c $(FUZZ)/files.c,$(sort $(wildcard $(FUZZ)/*.c))))
FUZZ_OBJECTS := $(B)/obj/$(FUZZ)/files.o $(if $(filter fuzz,$(FLAVOUR)),,$(B)/obj/$(FUZZ)/main.o)
HARM    := $(B)/tests/torture/harm.so

# The part for GPUs, made twice from the same sources: with the CUDA runtime and nvcc's kernels, where
# there is a toolkit; and with a twin of the runtime over host memory and the kernels under an emulator,
# for tests everywhere.
CUDA_REAL   := $(filter %_real.c,$(call sources,c,src/cuda))
CUDA_COMMON := $(filter-out src/cuda/load.c src/cuda/twin/% $(CUDA_REAL),$(call sources,c,src/cuda))
CUDA_KERNEL := $(call sources,cu,src/cuda)
CUDA_TWIN   := $(foreach kind,c cpp S,$(call sources,$(kind),tests/twin))
TWIN        := $(B)/cuda-twin.a
TWIN_PART   := $(B)/chorus-cuda-twin.so
PART        := $(if $(filter normal,$(FLAVOUR)),$(BUILD)/chorus-cuda.so,$(B)/chorus-cuda.so)
TWIN_TESTS  := $(filter tests/unit/cuda/% tests/parity/cuda_%,$(TESTS))
# What `make bench` drives; PEERS is the Python with PyTorch and JAX, made where it is not there.
SPELL   := $(B)/tests/bench/spell
PEERS   ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/chorus/peers

# Whose threads the thread sanitizer watches in `make check`: three rooms, and what reads beside the screens.
TSAN_ROOMS := wire engine fake
TSAN_TESTS := $(filter $(TSAN_ROOMS:%=tests/unit/%/%) tests/parity/cpu_threads_test.c \
  tests/unit/live/feed_test.c tests/unit/ui/setup/slow_test.c tests/unit/base/tasks_test.c,$(TESTS))

## Building and starting
.PHONY: all
all: ## builds the program, build/chorus
all: $(PROGRAM)

.PHONY: run
run: ## installs what is missing, builds, and starts: the workbench, without a terminal first.ini
	@sh make/deps.sh --try run
	@$(MAKE) $(MORE) all
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BUILD)/chorus; fi; \
	  echo 'No workbench opens, since this is no terminal: the experiment `first` is trained instead.' >&2; \
	  echo 'In a terminal, `make run` or $(BUILD)/chorus opens it; `$(BUILD)/chorus help` lists commands.' >&2; \
	  exec $(BUILD)/chorus run first

.PHONY: install
install: ## installs the program under PREFIX (/usr/local), below DESTDIR where set; STRIP=no keeps its symbols
install: all
	$(INSTALL) $(PROGRAM) $(call quoted,$(DESTDIR)$(PREFIX)/bin/chorus)
	$(if $(CUDA),$(INSTALL) $(PART) $(call quoted,$(DESTDIR)$(PREFIX)/lib/chorus/chorus-cuda.so))

.PHONY: deps
deps: ## installs the Debian packages that building and `make check` need
	@sh make/deps.sh

.PHONY: asan tsan nocuda
asan: ## builds with the address and undefined behaviour sanitizers, in build/asan
tsan: ## builds with the thread sanitizer, in build/tsan
nocuda: ## builds as on a machine without CUDA, in build/nocuda
asan tsan nocuda:
	@$(MAKE) $(MORE) FLAVOUR=$@ all

.PHONY: clean
clean: ## removes all that was built
	rm -rf $(BUILD)

## Testing
.PHONY: check
check: ## installs what is missing, builds, and runs every test
	@sh make/deps.sh --try check
	@$(MAKE) $(MORE) check-parts
	@BUILD=$(BUILD) TSAN_TESTS='$(TSAN_TESTS:.c=)' bash tests/run.sh

.PHONY: test room-tests
test: ## builds and runs one room's tests: ROOM=spec, ROOM=ui/setup; ONLY=word: those whose names hold the word
	@$(MAKE) $(MORE) ROOM='$(ROOM)' ONLY='$(ONLY)' room-tests

.PHONY: check-parts check-normal check-asan check-tsan
# Side by side: none waits for the slowest file of another.
check-parts: check-normal check-asan check-tsan
check-normal:
	@$(MAKE) all tests $(if $(CUDA),$(GPU_PROGRAM))
check-asan:
	@$(MAKE) FLAVOUR=asan all unit-tests fuzzers
check-tsan:
	@$(MAKE) FLAVOUR=tsan all tsan-tests

.PHONY: check-all
check-all: ## installs what check skips tests without, clang-format and Python packages, and checks
	@sh make/deps.sh --try all
	@sh make/venv.sh $(BUILD)/venv
	@PATH=$(abspath $(BUILD))/venv/bin:$$PATH CHORUS_TEST_ALL=1 $(MAKE) check

.PHONY: torture
torture: ## does random harm for HOURS (1), and counts what held; ONLY=kills,flips some of it, SEED=S again
	@sh make/deps.sh --try check
	@$(MAKE) $(MORE) all tests
	@case '$(ONLY)' in '' | *fuzz*) $(MAKE) $(MORE) fuzz-parts ;; esac
	@BUILD=$(BUILD) HOURS='$(HOURS)' ONLY='$(ONLY)' SEED='$(SEED)' CASE='$(CASE)' bash tests/torture/run.sh

.PHONY: fuzz fuzzers fuzz-parts
has_libfuzzer = echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
  clang -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null
fuzz: ## fuzzes TARGET (csv, net, ...: tests/torture/fuzz) for HOURS (1) with libFuzzer of clang
	@$(has_libfuzzer) || { echo 'libFuzzer is missing: Debian has it in the package clang.' >&2; exit 1; }
	@$(MAKE) $(MORE) FLAVOUR=fuzz fuzzers
	@BUILD=$(BUILD) TARGET='$(TARGET)' HOURS='$(or $(HOURS),1)' SEED='$(SEED)' bash tests/torture/fuzz.sh
fuzzers: $(FUZZERS)
fuzz-parts:
	@$(MAKE) FLAVOUR=asan fuzzers
	@if $(has_libfuzzer); then $(MAKE) FLAVOUR=fuzz fuzzers; fi

.PHONY: monkey frames
monkey: ## presses N (20000) random keys in the workbench, under the sanitizers; SEED=S again
	@$(MAKE) $(MORE) FLAVOUR=asan all
	@CHORUS=$(abspath $(BUILD))/chorus BUILD=$(BUILD) nice -n 19 bash tests/ui/monkey.sh $(or $(N),20000) $(SEED)
frames: ## draws the screens of tests/fixtures/frames anew: look at what changed
frames: $(PROGRAM)
	@CHORUS=$(abspath $(PROGRAM)) BUILD=$(BUILD) bash tests/ui/frames.sh --rewrite

.PHONY: bench peers
bench: ## compares the speed with PyTorch and JAX: minutes, on an idle machine; ROWS=lenet,mlp some
bench: bench-rows peers $(PROGRAM) $(SPELL)
	@'$(PEERS)/bin/python' tests/bench/bench.py --spell $(SPELL) --scratch $(BUILD)/bench \
	  $(if $(ROWS),--rows '$(ROWS)')
.PHONY: bench-rows # a row that there is not is told before anything is built or fetched
bench-rows:
	$(if $(ROWS),@python3 tests/bench/bench.py --rows '$(ROWS)' --check-rows)
peers: ## makes the Python with PyTorch and JAX that bench needs (3 GB); PEERS=FOLDER says where
	@sh make/peers.sh '$(PEERS)'

.PHONY: check-gpu bench-gpu gpu-kit
check-gpu: ## runs the tests that need a GPU
bench-gpu: ## compares the speed on a GPU with PyTorch's and JAX's; MODEL=lenet one row of it
gpu-kit: ## makes build/gpu-kit: all that testing on a machine with a GPU needs, in 54 MiB

.PHONY: screens
screens: ## draws the pictures of screens in README.md and docs/manual.md anew: some minutes
screens: $(PROGRAM)
	@sh make/screens.sh $(PROGRAM) experiments/example-report/screens

.PHONY: example
example: ## trains anew what the reports of docs/manual.md tell of: a quarter of an hour, on an idle machine
example: $(PROGRAM)
	@sh make/example.sh $(PROGRAM) experiments/example-report $(BUILD)/example

.PHONY: tests unit-tests tsan-tests
tests: $(PROGRAMS) $(HARM)
unit-tests: $(filter $(B)/tests/unit/%,$(PROGRAMS))
tsan-tests: $(TSAN_TESTS:%.c=$(B)/%)

# A room's tests are those of tests/unit/ROOM, and of tests/parity with its name.
ROOMS      := $(sort $(patsubst tests/unit/%/,%,$(dir $(filter tests/unit/%,$(TESTS)))) \
  $(foreach t,$(filter tests/parity/%,$(TESTS)),$(firstword $(subst _, ,$(notdir $(t))))))
ROOM_TESTS := $(strip $(foreach t,$(filter tests/unit/$(ROOM)/% tests/parity/$(ROOM)_%,$(TESTS:.c=)),\
  $(if $(or $(if $(ONLY),,all),$(findstring $(ONLY),$(notdir $(t)))),$(t))))
ifneq ($(filter room-tests,$(MAKECMDGOALS)),)
$(if $(ROOM_TESTS),,$(error ROOM=$(ROOM)$(if $(ONLY), ONLY=$(ONLY)): no tests found. Rooms with tests: $(ROOMS)))
endif
room-tests: $(ROOM_TESTS:%=$(B)/%) $(PROGRAM)
	@BUILD=$(BUILD) TESTS='$(ROOM_TESTS)' bash tests/run.sh

.PHONY: deps-check
deps-check: ## proves from the includes that every room knows only those it may know
	@sh make/walls.sh .

.PHONY: size
size: ## prints lines by room, the fullest folder and circles of files, and fails above make/size.txt
size: all tests
	@sh make/size.sh $(B)

.PHONY: fmt fmt-check
fmt: ## formats the source with clang-format
	@sh make/format.sh
fmt-check: ## tells which files `make fmt` would change
	@sh make/format.sh --check

.PHONY: help
help: ## lists the targets
	@awk -f make/help.awk $(firstword $(MAKEFILE_LIST))

# The rest says how files are made from files, and needs to know what this machine has.
ifneq ($(filter-out run deps clean check check-all test torture fuzz monkey deps-check fmt fmt-check help peers asan tsan nocuda,\
  $(or $(MAKECMDGOALS),all)),)
include $(B)/config.mk
endif

quoted = '$(subst ','\'',$(1))'

# For which GPUs: the oldest one's PTX serves those that are newer still.
override CUDA_ARCH := $(or $(strip $(CUDA_ARCH)),90a)
NVCC      := $(CUDA)/bin/nvcc
# A number, and a letter where the code is for such GPUs alone. $(call arches,PATTERN): those that are so.
arches     = $(shell printf '%s\n' $(call quoted,$(CUDA_ARCH)) | tr -s ' \t' '\n' | grep -xE '$(1)')
ifneq ($(filter-out $(call arches,[0-9]+[af]?),$(CUDA_ARCH)),)
$(error CUDA_ARCH = $(CUDA_ARCH): compute capabilities as nvcc names them, without a point, between spaces: 80, 86, 89, 90a or newer)
endif
ifneq ($(filter-out $(call arches,([89][0-9]|[1-9][0-9][0-9]+)[af]?),$(CUDA_ARCH)),)
$(error CUDA_ARCH = $(CUDA_ARCH): GPUs before 80 (Ampere) have no tensor cores for tf32 and bf16; give 80, 86, 89, 90a or newer)
endif
# Less than half as large, which is unpacked when it is loaded; older toolkits have no such choice.
NVCC_SMALL = $(if $(shell $(NVCC) --help 2>/dev/null | grep -e --compress-mode),--compress-mode=size)
OLDEST_ARCH := $(shell printf '%s\n' $(CUDA_ARCH) | tr -cd '0-9\n' | sort -n | head -n 1)
# The kit's kernels know their source lines: ncu and compute-sanitizer show them.
NVCC_LINES := $(if $(filter kit,$(FLAVOUR)),-lineinfo)
# Its own code is made from that PTX too: compiled once instead of twice, and the same, as no kernel
# uses what 90a alone has.
SAME_ARCH := $(firstword $(filter $(OLDEST_ARCH)%,$(CUDA_ARCH)))
NVCC_ARCH := $(foreach a,$(filter-out $(SAME_ARCH),$(CUDA_ARCH)),-gencode arch=compute_$(a),code=sm_$(a)) \
  -gencode 'arch=compute_$(OLDEST_ARCH),code=[sm_$(SAME_ARCH),compute_$(OLDEST_ARCH)]'

say = @$(if $(V),:,printf '  %-4s  %s\n' $(1) $(2))
# $(call replace,COMMAND): what the command prints becomes the target, whose date changes only where
# its contents do.
replace = @mkdir -p $(@D); { $(1); } >$@.$$$$ && \
  if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

.PHONY: FORCE
FORCE:

# Everything that decides how a file is compiled; whatever depends on it is made anew with it.
$(B)/flags: FORCE
	$(call replace,printf '%s\n' $(call quoted,$(CC) $(FLAGS) $(LDFLAGS)) $(call quoted,$(OWN_FLAGS)) \
	  "$$CPATH $$LIBRARY_PATH $$CUDA_HOME $(CUDA_ARCH)")

# Found anew after packages came or went, and each time where one that is needed was missing.
$(B)/config.mk: make/detect.sh $(B)/flags $(wildcard /var/lib/dpkg/status)
	@CC=$(call quoted,$(CC)) FLAGS=$(call quoted,$(FLAGS)) LDFLAGS=$(call quoted,$(LDFLAGS)) \
	  FLAVOUR=$(FLAVOUR) sh make/detect.sh $(B)
ifndef MAKE_RESTARTS
$(B)/config.mk: $(if $(MISSING),FORCE)
endif
$(B)/config.h: $(B)/config.mk
	$(if $(MISSING),$(error $(MISSING)))

# All is written beside the target and renamed: no interruption, and no second make, leaves half files.
define compile
$(call say,CC,$(<:$(BUILD)/%=%))
$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) $(call own_flags,$<) $(INCLUDES) \
  -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@
endef
define link
$(call say,LINK,$@)
$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) $(LDFLAGS) $(filter %.o %.a,$^) $(LIBS) -o $@.$$$$ && mv $@.$$$$ $@
endef

$(B)/obj/%.o: %.c $(B)/flags | $(B)/config.h
	$(compile)
$(B)/gen/%.o: $(B)/gen/%.c $(B)/flags | $(B)/config.h
	$(compile)

# Tests link with an archive, so that each takes only what it uses.
$(B)/objects: FORCE
	$(call replace,printf '%s\n' $(OBJECTS))
$(ARCHIVE): $(OBJECTS) $(B)/objects
	$(Q)rm -f $@.$$$$ && $(AR) rcs $@.$$$$ $(OBJECTS) && mv $@.$$$$ $@
$(PROGRAM): $(B)/obj/src/main.o $(ARCHIVE)
	$(link)
$(filter-out $(TWIN_TESTS:%.c=$(B)/%),$(PROGRAMS)) $(SPELL): $(B)/%: $(B)/obj/%.o $(ARCHIVE)
	$(link)
$(FUZZERS): private LDFLAGS += $(if $(filter fuzz,$(FLAVOUR)),-fsanitize=fuzzer)
$(FUZZERS): $(B)/%: $(B)/obj/%.o $(FUZZ_OBJECTS) $(ARCHIVE)
	$(link)

# Preloaded, it does a torture's harm.
$(HARM): tests/torture/shim/harm.c $(B)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) -fPIC -shared $< -ldl -o $@.$$$$ && mv $@.$$$$ $@

# What of the program the part needs besides (errors, text, keys) it holds itself.
pic = $(patsubst %,$(B)/pic/%.o,$(1))
CUDA_OWN := $(call pic,$(filter-out src/base/sheet.c,$(call sources,c,src/base src/rng)) \
  $(addprefix src/net/,layer.c lines.c init.c))
CXX      ?= g++
CXXFLAGS ?= -O2 -g
# A kernel's function is one fiber of many: its stack is small, its shared memory is the emulator's.
CXX_WARNINGS = -Wall -Wextra -Wno-unknown-pragmas -Wno-missing-field-initializers -Wno-maybe-uninitialized
FILE_FLAGS_src/cuda/part.c := -DCUDA_ARCHES='"$(CUDA_ARCH)"'
$(B)/pic/%.c.o: %.c $(B)/flags | $(B)/config.h
	$(call say,PIC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) $(call own_flags,$<) $(if $(findstring _real.c,$<),$(CUDA_INCLUDE:%=-isystem %)) \
	  -fPIC $(INCLUDES) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@
define compile_cxx
$(call say,CXX,$<)
$(Q)mkdir -p $(@D) && $(CXX) -std=gnu++17 -pthread $(CXX_WARNINGS) $(CXXFLAGS) $(FLAGS_$(FLAVOUR)) -ffp-contract=off \
  -fPIC $(INCLUDES) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $(1) $< -o $@.$$$$ && mv $@.$$$$ $@
endef
$(B)/pic/%.cpp.o: %.cpp $(B)/flags | $(B)/config.h
	$(call compile_cxx)
$(B)/twin/%.cu.o: %.cu $(B)/flags | $(B)/config.h
	$(call compile_cxx,-x c++)
$(B)/pic/%.S.o: %.S $(B)/flags | $(B)/config.h
	$(Q)mkdir -p $(@D) && $(CC) -c $< -o $@
$(B)/nvcc/%.cu.o: %.cu $(B)/flags | $(B)/config.h
	$(call say,NVCC,$<)
	$(Q)mkdir -p $(@D) && $(NVCC) -std=c++17 -O3 $(NVCC_ARCH) $(NVCC_SMALL) $(NVCC_LINES) -Isrc -I. \
	  -Xcompiler -fPIC,-fvisibility=hidden -MD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@
TWIN_OBJECTS := $(call pic,$(CUDA_COMMON) $(CUDA_TWIN)) $(CUDA_KERNEL:%=$(B)/twin/%.o)
PART_OBJECTS := $(call pic,$(CUDA_COMMON) $(CUDA_REAL)) $(CUDA_KERNEL:%=$(B)/nvcc/%.o)
$(TWIN): $(TWIN_OBJECTS)
	$(Q)rm -f $@.$$$$ && $(AR) rcs $@.$$$$ $^ && mv $@.$$$$ $@
$(TWIN_PART): $(TWIN_OBJECTS) $(CUDA_OWN)
	$(call say,LINK,$@)
	$(Q)$(CXX) -shared $(FLAGS_$(FLAVOUR)) $(LDFLAGS) -Wl,-Bsymbolic,--no-undefined $^ -pthread -lm -ldl -o $@.$$$$ && mv $@.$$$$ $@
$(PART): $(PART_OBJECTS) $(CUDA_OWN)
	$(call say,LINK,$@)
	$(Q)$(CXX) -shared -static-libstdc++ -static-libgcc $(FLAGS_$(FLAVOUR)) $(LDFLAGS) \
	  -Wl,-Bsymbolic,--no-undefined $^ -L$(CUDA_LIB) -lcudart_static -lrt -ldl -pthread -lm \
	  -o $@.$$$$ && mv $@.$$$$ $@
.PHONY: twin part
twin: $(TWIN) $(TWIN_PART) ## builds the twin of the part for GPUs, for tests
part: $(PART) ## builds the part for GPUs, build/chorus-cuda.so

# Tests that run on the twin run on a GPU as well: the same objects, with the real runtime.
GPU_TESTS := $(foreach t,$(addprefix unit/cuda/,layers norm steps update session) \
  $(addprefix parity/cuda_,conv block parity order stream turns launch dnn_nets memory nccl times),$(wildcard tests/$(t)_test.c))
# One program of all of them, called by the name of a test (cuda_layers_test): the kernels are 5 MB.
test_name = $(subst /,_,$(patsubst unit/%,%,$(patsubst parity/%,%,$(1))))
GPU_PROGRAM := $(B)/gpu/gpu_tests
$(B)/gpu/%.o: tests/%.c $(B)/flags | $(B)/config.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) -Dmain=$(call test_name,$*)_main $(INCLUDES) -Wno-missing-prototypes \
	  -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@
$(B)/gpu/names.h: $(GPU_TESTS)
	$(Q)mkdir -p $(@D) && for t in $(foreach t,$(GPU_TESTS:tests/%.c=%),$(call test_name,$(t))); do echo "TEST_PROGRAM($$t)"; done >$@
$(B)/gpu/gpu/main.o: $(B)/gpu/names.h
$(B)/gpu/gpu/main.o: INCLUDES += -I$(B)/gpu
GPU_OBJECTS := $(GPU_TESTS:tests/%.c=$(B)/gpu/%.o) $(B)/gpu/gpu/main.o $(B)/gpu/gpu/no_twin.o
$(GPU_PROGRAM): $(GPU_OBJECTS) $(PART_OBJECTS) $(ARCHIVE)
	$(call say,LINK,$@)
	$(Q)$(CXX) -pthread -static-libstdc++ $(FLAGS_$(FLAVOUR)) $(LDFLAGS) $^ $(LIBS) \
	  -L$(CUDA_LIB) -lcudart_static -ldl -lrt -o $@.$$$$ && mv $@.$$$$ $@
check-gpu: $(if $(CUDA),$(PROGRAM) $(PART) $(GPU_PROGRAM),$(PROGRAM))
	@BUILD=$(BUILD) bash tests/gpu/stages.sh all $(BUILD)/check-gpu
bench-gpu: $(PROGRAM) $(if $(CUDA),$(PART))
	@python3 tests/bench/gpu.py --chorus $(abspath $(PROGRAM)) --results tests/bench/gpu-results.md \
	  $(if $(MODEL),--model $(MODEL)) $(if $(CHORUS_DATA),--data '$(CHORUS_DATA)')
.PHONY: kit-parts
kit-parts: $(B)/kit/chorus $(PART) $(GPU_PROGRAM)
$(B)/kit/chorus: $(PROGRAM)
	$(Q)mkdir -p $(@D) && cp $< $@
gpu-kit:
	$(if $(CUDA),,$(error there is no CUDA toolkit here; CUDA_HOME says where it is))
	@$(MAKE) $(MORE) FLAVOUR=kit kit-parts
	@sh make/kit.sh $(BUILD)/gpu-kit $(BUILD)/kit/kit/chorus $(BUILD)/kit/chorus-cuda.so \
	  $(BUILD)/kit/gpu/gpu_tests
ifneq ($(and $(CUDA),$(filter normal,$(FLAVOUR))),)
all: $(PART)
endif
ifndef HAVE_CXX
PROGRAMS := $(filter-out $(TWIN_TESTS:%.c=$(B)/%),$(PROGRAMS))
else
tests: $(TWIN_PART)
endif
$(TWIN_TESTS:%.c=$(B)/%): $(B)/%: $(B)/obj/%.o $(TWIN) $(ARCHIVE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CXX) -pthread $(FLAGS_$(FLAVOUR)) $(LDFLAGS) $(filter %.o,$^) $(TWIN) $(ARCHIVE) $(LIBS) -ldl -o $@.$$$$ \
	  && mv $@.$$$$ $@
# Kernels that do wrong, and a few that do right, for the tests of the emulator and the twin themselves.
$(B)/tests/unit/cuda/emu_test $(B)/tests/unit/cuda/rt_test: $(B)/twin/tests/unit/cuda/emu_kernels.cu.o
# Tests of the normal flavour by a shorter name: make build/tests/unit/NAME.
$(BUILD)/tests/%: $(BUILD)/normal/tests/% ;

# Models and experiments become part of the program.
$(B)/gen/net_builtin.c: TEXTS := $(sort $(wildcard models/*.net))
$(B)/gen/spec_builtin.c: TEXTS := $(sort $(wildcard experiments/*.ini))
$(BUILTIN:%=$(B)/gen/%.c): $(B)/gen/%_builtin.c: make/builtin.awk FORCE
	$(call replace,LC_ALL=C awk -v room=$* -f make/builtin.awk $(TEXTS))
# A commit changes this file and the program, nothing else.
$(B)/gen/version.c: FORCE
	$(call replace,sh make/version.sh $(VERSION))

.SECONDARY:
-include $(GPU_OBJECTS:.o=.d) $(TWIN_OBJECTS:.o=.d) $(PART_OBJECTS:.o=.d) $(CUDA_OWN:.o=.d)
-include $(OBJECTS:.o=.d) $(TESTS:%.c=$(B)/obj/%.d) $(TORTURE:$(B)/%=$(B)/obj/%.d) $(FUZZERS:$(B)/%=$(B)/obj/%.d) $(FUZZ_OBJECTS:.o=.d) $(SPELL:$(B)/%=$(B)/obj/%.d) $(B)/obj/src/main.d
