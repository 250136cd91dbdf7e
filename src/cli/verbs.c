/* cli/verbs.c: all verbs there are. */
#include "cli/verbs.h"

#include "base/mem.h"
#include "base/text.h"

const struct cli_verb cli_verbs[] = {
    {"run", cli_run},
    {"resume", cli_resume},
    {"watch", cli_watch},
    {"pause", cli_pause},
    {"go", cli_go},
    {"stop", cli_stop},
    {"queue", cli_queue},
    {"ls", cli_ls},
    {"show", cli_show},
    {"tag", cli_tag},
    {"note", cli_note},
    {"rm", cli_rm},
    {"plot", cli_plot},
    {"compare", cli_compare},
    {"export", cli_export},
    {"ensemble", cli_ensemble},
    {"report", cli_report},
    {"predict", cli_predict},
    {"weights", cli_weights},
    {"models", cli_models},
    {"data", cli_data},
    {"devices", cli_devices},
    {"bench", cli_bench},
    {"help", cli_help},
    {NULL, NULL},
};

const char *cli_nearest_verb(const char *name)
{
    const char *words[MEM_COUNT(cli_verbs)];

    for (size_t i = 0; i < MEM_COUNT(cli_verbs); i++) /* with the NULL at its end */
        words[i] = cli_verbs[i].name;
    return text_nearest(name, words);
}
