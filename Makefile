# `make help` lists the targets. V=1 shows the commands; FLAVOUR=asan, tsan or nocuda builds that one
# under build/FLAVOUR; CC, CFLAGS, LDFLAGS and BUILD (the folder) may be set too.

VERSION := 0.1.0

BUILD   ?= build
FLAVOUR ?= normal
PREFIX  ?= /usr/local
B       := $(BUILD)/$(FLAVOUR)
Q       := $(if $(V),,@)
MAKEFLAGS += --no-print-directory --no-builtin-rules
# As many jobs as processors, unless the caller said how many.
JOBS    := $(shell nproc 2>/dev/null || echo 2)
MORE     = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

ifeq ($(origin CC),default)
CC      := cc
endif
CFLAGS  ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
# No contraction of a*b + c: the numbers must not depend on the compiler's choice.
FLAGS    = -std=c11 -D_GNU_SOURCE -pthread $(WARNINGS) $(CFLAGS) -ffp-contract=off $(FLAGS_$(FLAVOUR))
INCLUDES = -Isrc -I. -include $(B)/config.h
LIBS     = -Wl,--as-needed $(LIBS_NCURSES) $(LIBS_CSV) $(LIBS_CURL) $(LIBS_Z) -lm

FLAGS_normal :=
FLAGS_nocuda :=
FLAGS_asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
FLAGS_tsan := -O1 -fno-omit-frame-pointer -fsanitize=thread
ifeq ($(origin FLAGS_$(FLAVOUR)),undefined)
$(error There is no flavour $(FLAVOUR): it is normal, asan, tsan or nocuda)
endif

# Flags of one file or of one room. The CPU backend compiles its kernels once for each instruction
# set, in files of their own, and chooses between them when it runs.
# The address sanitizer of gcc lays stack frames where vectors of 64 bytes may not lie; the heap, where
# all buffers are, is watched as everywhere.
ROOM_FLAGS_cpu := -O3 -Wno-psabi $(if $(filter asan,$(FLAVOUR)),--param asan-stack=0)
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
FILE_FLAGS_src/cpu/kernels_avx512.c := \
  -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -ffp-contract=fast
FILE_FLAGS_src/cpu/kernels_avx2.c := -mavx2 -mfma -ffp-contract=fast
# The same source with tiles and with emulated ones.
TILE_FLAGS := $(FILE_FLAGS_src/cpu/kernels_avx512.c) -mavx512bf16
FILE_FLAGS_src/cpu/kernels_amx.c := $(TILE_FLAGS) -mamx-tile -mamx-bf16
FILE_FLAGS_src/cpu/kernels_amx_emulated.c := $(TILE_FLAGS)
endif
own_flags = $(ROOM_FLAGS_$(word 2,$(subst /, ,$(1)))) $(FILE_FLAGS_$(1))
OWN_FLAGS := $(foreach v,$(sort $(filter ROOM_FLAGS_% FILE_FLAGS_%,$(.VARIABLES))),$(v)=$($(v)))

SOURCES := $(filter-out src/main.c,$(sort $(wildcard src/*.c src/*/*.c ui/*.c)))
TESTS   := $(sort $(wildcard tests/unit/*_test.c tests/parity/*_test.c))
BUILTIN := net_builtin spec_builtin
OBJECTS := $(SOURCES:%.c=$(B)/obj/%.o) $(patsubst %,$(B)/gen/%.o,$(BUILTIN) version)
ARCHIVE := $(B)/chorus.a
# The flavours lie side by side; the normal one is what people start.
PROGRAM := $(if $(filter normal,$(FLAVOUR)),$(BUILD)/chorus,$(B)/chorus)
PROGRAMS := $(TESTS:%.c=$(B)/%)
# What `make bench` drives; PEERS is the Python with PyTorch and JAX, made where it is not there.
SPELL   := $(B)/tests/bench/spell
PEERS   ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/chorus/peers

# Rooms whose threads the thread sanitizer watches in `make check`.
TSAN_ROOMS := wire engine fake
TSAN_TESTS := $(filter $(foreach r,$(TSAN_ROOMS),tests/unit/$(r)_%) \
  tests/parity/cpu_threads_test.c,$(TESTS))

## Building and starting
.PHONY: all
all: ## builds the program, build/chorus
all: $(PROGRAM)

.PHONY: run
run: ## installs what is missing, builds, and starts: the workbench, without a terminal first.ini
	@sh make/deps.sh --try run
	@$(MAKE) $(MORE) all
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BUILD)/chorus; else exec $(BUILD)/chorus run first; fi

.PHONY: install
install: ## installs the program under PREFIX (/usr/local), below DESTDIR where that is set
install: $(PROGRAM)
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/chorus

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
	@$(MAKE) $(MORE) all tests
	@$(MAKE) $(MORE) FLAVOUR=asan all unit-tests
	@$(MAKE) $(MORE) FLAVOUR=tsan all tsan-tests
	@BUILD=$(BUILD) TSAN_TESTS='$(TSAN_TESTS:.c=)' bash tests/run.sh

.PHONY: check-all
check-all: ## installs what check skips tests without, clang-format and Python packages, and checks
	@sh make/deps.sh --try all
	@sh make/venv.sh $(BUILD)/venv
	@PATH=$(abspath $(BUILD))/venv/bin:$$PATH CHORUS_TEST_ALL=1 $(MAKE) check

.PHONY: monkey frames
monkey: ## presses N (20000) random keys in the workbench, under the sanitizers; SEED=S again
	@$(MAKE) $(MORE) FLAVOUR=asan all
	@CHORUS=$(abspath $(BUILD))/chorus BUILD=$(BUILD) nice -n 19 bash tests/ui/monkey.sh $(or $(N),20000) $(SEED)
frames: ## draws the screens of tests/fixtures/frames anew: look at what changed
frames: $(PROGRAM)
	@CHORUS=$(abspath $(PROGRAM)) BUILD=$(BUILD) bash tests/ui/frames.sh --rewrite

.PHONY: bench peers
bench: ## compares the speed with PyTorch and JAX: minutes, on an idle machine; ROWS=lenet,mlp some
bench: peers $(PROGRAM) $(SPELL)
	@'$(PEERS)/bin/python' tests/bench/bench.py --spell $(SPELL) --scratch $(BUILD)/bench \
	  $(if $(ROWS),--rows '$(ROWS)')
peers: ## makes the Python with PyTorch and JAX that bench needs (3 GB); PEERS=FOLDER says where
	@sh make/peers.sh '$(PEERS)'

.PHONY: screens
screens: ## draws the pictures of screens in README.md anew: five minutes
screens: $(PROGRAM)
	@sh make/screens.sh $(PROGRAM) experiments/example-report/screens

.PHONY: tests unit-tests tsan-tests
tests: $(PROGRAMS)
unit-tests: $(filter $(B)/tests/unit/%,$(PROGRAMS))
tsan-tests: $(TSAN_TESTS:%.c=$(B)/%)

.PHONY: deps-check
deps-check: ## proves from the includes that every room knows only those it may know
	@sh make/walls.sh .

.PHONY: fmt fmt-check
fmt: ## formats the source with clang-format
	@sh make/format.sh
fmt-check: ## tells which files `make fmt` would change
	@sh make/format.sh --check

.PHONY: help
help: ## lists the targets
	@awk -f make/help.awk $(firstword $(MAKEFILE_LIST))

# The rest says how files are made from files, and needs to know what this machine has.
ifneq ($(filter-out run deps clean check check-all monkey deps-check fmt fmt-check help peers asan tsan nocuda,\
  $(or $(MAKECMDGOALS),all)),)
include $(B)/config.mk
endif

say = @$(if $(V),:,printf '  %-4s  %s\n' $(1) $(2))
# $(call replace,COMMAND): what the command prints becomes the target, whose date changes only where
# its contents do.
replace = @mkdir -p $(@D); { $(1); } >$@.$$$$ && \
  if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi
quoted = '$(subst ','\'',$(1))'

.PHONY: FORCE
FORCE:

# Everything that decides how a file is compiled; whatever depends on it is made anew with it.
$(B)/flags: FORCE
	$(call replace,printf '%s\n' $(call quoted,$(CC) $(FLAGS) $(LDFLAGS)) $(call quoted,$(OWN_FLAGS)) \
	  "$$CPATH $$LIBRARY_PATH $$CUDA_HOME")

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
$(PROGRAMS) $(SPELL): $(B)/%: $(B)/obj/%.o $(ARCHIVE)
	$(link)
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
-include $(OBJECTS:.o=.d) $(TESTS:%.c=$(B)/obj/%.d) $(SPELL:$(B)/%=$(B)/obj/%.d) $(B)/obj/src/main.d
