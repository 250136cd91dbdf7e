# `make help` lists the targets. V=1 shows the commands, FLAVOUR=asan|tsan|nocuda builds another one.

CC      ?= cc
AR      ?= ar
BUILD   ?= build
FLAVOUR ?= normal
B       := $(BUILD)/$(FLAVOUR)
Q       := $(if $(V),,@)
say      = @$(if $(V),:,printf '  %-5s %s\n' '$(1)' '$(2)')

WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
CFLAGS ?= -O2 -g
FLAGS  := -std=c11 -D_GNU_SOURCE -pthread $(WARN) $(CFLAGS) -ffp-contract=off -Isrc -I.
FLAGS_asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
FLAGS_tsan := -O1 -fno-omit-frame-pointer -fsanitize=thread
FLAGS  += $(FLAGS_$(FLAVOUR)) -DCHORUS_HAVE_CURL=1
LIBS   := -lcsv -lz -lcurl -lm

# One kernel source is compiled for several instruction sets, each in a file of its own.
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
CFLAGS_src/cpu/kernels_avx512.c := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -ffp-contract=fast
CFLAGS_src/cpu/kernels_avx2.c   := -mavx2 -mfma -ffp-contract=fast
endif
ROOM_CFLAGS_cpu := -O3

SRC     := $(filter-out src/main.c,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c ui/*.c)))
MAIN    := $(wildcard src/main.c)
TESTS   := $(sort $(wildcard tests/unit/*_test.c tests/parity/*_test.c))
OBJ     := $(SRC:%.c=$(B)/obj/%.o) $(B)/gen/net_builtin.o $(B)/gen/spec_builtin.o $(B)/gen/version.o
LIB     := $(B)/libchorus.a
PROGRAM := $(if $(filter normal,$(FLAVOUR)),$(BUILD)/chorus,$(B)/chorus)
TESTBIN := $(TESTS:%.c=$(B)/%)

all: $(if $(MAIN),$(PROGRAM),$(LIB))
tests: $(TESTBIN)

room_flags = $(ROOM_CFLAGS_$(word 2,$(subst /, ,$(1)))) $(CFLAGS_$(1))

$(B)/obj/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) $(call room_flags,$<) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@
$(B)/gen/%.o: $(B)/gen/%.c Makefile
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@
$(LIB): $(OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@.$$$$; $(AR) rcs $@.$$$$ $$(ls $^ 2>/dev/null) && mv $@.$$$$ $@
$(PROGRAM): $(B)/obj/src/main.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) $^ $(LIBS) -o $@.$$$$ && mv $@.$$$$ $@
$(TESTBIN): $(B)/%: $(B)/obj/%.o $(LIB)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) $(LDFLAGS) $^ $(LIBS) -o $@.$$$$ && mv $@.$$$$ $@
$(BUILD)/tests/%: $(B)/tests/% ;

$(B)/gen/net_builtin.c: $(wildcard models/*.net)
$(B)/gen/spec_builtin.c: $(wildcard experiments/*.ini)
$(B)/gen/%_builtin.c: make/builtin.awk Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && LC_ALL=C awk -v room=$* -v ext=$(if $(filter net,$*),.net,.ini) \
	  -f make/builtin.awk $(sort $(filter %.net %.ini,$^)) >$@.$$$$ && mv $@.$$$$ $@
$(B)/gen/version.c: Makefile
	$(Q)mkdir -p $(@D) && { echo '#include "cli/version.h"'; \
	  echo "const char chorus_version[] = \"$$(git describe --tags --always --dirty 2>/dev/null || echo unknown)\";"; } >$@

.PRECIOUS: $(B)/obj/%.o $(B)/gen/%.c
.PHONY: all tests
-include $(OBJ:.o=.d) $(TESTS:%.c=$(B)/obj/%.d) $(B)/obj/src/main.d
