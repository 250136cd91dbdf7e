/* study/table_write.c: a table in the form of a name. */
#include "study/table.h"

#include <string.h>

void study_table_write(const struct study_table *t, const char *form,
                       const struct study_style *style, struct text *out)
{
    if (!strcmp(form, "csv"))
        study_table_csv(t, out);
    else if (!strcmp(form, "json"))
        study_table_json(t, out);
    else if (!strcmp(form, "md"))
        study_table_md(t, style, out);
    else if (!strcmp(form, "tex"))
        study_table_tex(t, style, out);
    else
        study_table_html(t, style, out);
}
