/* Which images are shown, and in which order. */
#include "ui/predict/predictview_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void predictview_pick(const struct predictview_set *s, struct predictview_pick *pick)
{
    static const enum study_order orders[] = {[PREDICTVIEW_WORST] = STUDY_WORST,
                                              [PREDICTVIEW_UNSURE] = STUDY_UNSURE,
                                              [PREDICTVIEW_SPLIT] = STUDY_SPLIT,
                                              [PREDICTVIEW_PAIR] = STUDY_IN_ORDER};

    free(pick->image);
    pick->n = study_answers_pick(&s->of, orders[pick->order],
                                 pick->order >= PREDICTVIEW_CLASS ? pick->label : -1,
                                 pick->order == PREDICTVIEW_PAIR ? pick->answer : -1, &pick->image);
}

void predictview_add_pick(const struct predictview_set *s, const struct predictview_pick *pick,
                          struct text *out)
{
    switch (pick->order) {
    case PREDICTVIEW_ALL:
        text_add(out, "all in order");
        break;
    case PREDICTVIEW_WORST:
        text_add(out, "the worst mistakes");
        break;
    case PREDICTVIEW_UNSURE:
        text_add(out, "the least sure");
        break;
    case PREDICTVIEW_SPLIT:
        text_add(out, "the largest disagreement of members");
        break;
    case PREDICTVIEW_CLASS:
        text_addf(out, "label %s", s->name[pick->label]);
        break;
    case PREDICTVIEW_PAIR:
        text_addf(out, "label %s, answer %s", s->name[pick->label], s->name[pick->answer]);
        break;
    }
}

int predictview_class(const struct predictview_set *s, const char *word)
{
    int64_t number;

    for (int k = 0; k < s->of.classes; k++)
        if (!strcasecmp(s->name[k], word))
            return k;
    if (text_to_int(word, &number))
        return number >= 0 && number < s->of.classes ? (int)number : -1;
    for (int k = 0; *word && k < s->of.classes; k++)
        if (strcasestr(s->name[k], word))
            return k;
    return -1;
}
