/* cli/args/runs.c: the runs that RUN operands name. */
#include "cli/args/runs.h"

#include "cli/args/options.h"
#include "record/find.h"
#include "record/run/reader.h"

enum err_code cli_find_run(const char *name, struct record_entry *out, struct err *e)
{
    return record_find(cli_results(), name ? name : "@", out, e);
}

enum err_code cli_find_runs(int count, char **names, struct record_entry **out, size_t *found,
                            struct err *e)
{
    return record_find_all(cli_results(), names, (size_t)count, false, out, found, e);
}
