/* record/sweep/sheet_left.c: a run that was a cell's and went on beyond it. */
#include "record/sweep/sheet.h"

#include <stdio.h>
#include <string.h>

#define WENT_ON "went on to "

bool record_cell_is_left(const struct record_run *run, const char *cell, char why[RECORD_LEFT_ROOM])
{
    why[0] = '\0';
    if (run->state != WIRE_DONE || !run->cell[0] || !strncmp(run->cell, cell, strlen(cell)))
        return false;
    snprintf(why, RECORD_LEFT_ROOM, WENT_ON "%lld epochs: no result of this cell any more",
             (long long)run->spec.epochs);
    return true;
}

bool record_reason_is_left(const char *reason)
{
    return !strncmp(reason, WENT_ON, strlen(WENT_ON));
}
