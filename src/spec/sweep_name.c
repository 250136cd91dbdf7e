/* spec/sweep_name.c: what sweeps are called after. */
#include "base/mem.h"
#include "spec/spec_int.h"
#include "spec/sweep.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME 64

void spec_sweep_name_after(const char *path, char name[SPEC_NAME])
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
    size_t length = strlen(from), n = 0;

    if (length > 4 && (text_ends_with(from, ".ini") || text_ends_with(from, ".net")))
        length -= 4;
    for (size_t i = 0; i < length && n < MOST_NAME; i++) {
        bool fits = isascii((unsigned char)from[i]) &&
                    (isalnum((unsigned char)from[i]) || strchr("-_.", from[i]));

        if (fits && (n || (from[i] != '.' && from[i] != '-')))
            name[n++] = from[i];
        else if (!fits && n && name[n - 1] != '-')
            name[n++] = '-';
    }
    name[n] = 0;
    if (!n)
        strcpy(name, "sweep");
}

/* "lenet" of 2026-11-20-101530-412-lenet-7f3a */
void spec_sweep_name_after_run(const char *run, char name[SPEC_NAME])
{
    const size_t stamp = strlen("2026-11-20-101530-412-"), hash = strlen("-7f3a");
    size_t n = strlen(run);
    char *label =
        mem_text_n(run + (n > stamp + hash ? stamp : 0), n > stamp + hash ? n - stamp - hash : n);

    spec_sweep_name_after(label, name);
    free(label);
}
