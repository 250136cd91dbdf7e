/* cli/out/overwrite.h: a file that the user names is replaced only where chorus wrote it. */
#ifndef CHORUS_CLI_OUT_OVERWRITE_H
#define CHORUS_CLI_OUT_OVERWRITE_H

#include "base/err.h"
#include "base/text.h"

/* ERR_INPUT, with a sentence that begins "VERB OPTION FILE", where the file is there and neither empty
 * nor begins as chorus begins a file of the form that its name's ending says, nor with the first line
 * of what shall be written (NULL: not known yet). "-" and NULL are no file. */
enum err_code overwrite_check(const char *verb, const char *option, const char *file,
                              const struct text *bytes, struct err *e) MUST_USE;

#endif
