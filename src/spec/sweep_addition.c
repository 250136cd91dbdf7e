/* Whether a sweep may go by a name that another one has already: it then adds to that one's cells. */
#include "spec/sweep.h"

#include <string.h>

static void add_keys(struct text *out, const struct spec_sweep *s)
{
    for (size_t i = 0; i < s->axes; i++)
        text_addf(out, "%s%s", i ? ", " : "", s->axis[i].key);
}

static bool walks(const struct spec_sweep *s, const char *key)
{
    bool found = false;

    for (size_t i = 0; i < s->axes && !found; i++)
        found = !strcmp(s->axis[i].key, key);
    return found;
}

static bool walks_all(const struct spec_sweep *s, const struct spec_sweep *keys)
{
    bool all = true;

    for (size_t k = 0; k < keys->axes && all; k++)
        all = walks(s, keys->axis[k].key);
    return all;
}

/* Two cells that a key alone tells apart need its column, which a key that does not vary has not. */
static bool same_values(const struct spec_sweep *s, const struct spec_sweep *old, const char *how,
                        struct spec_unlike *out)
{
    struct text was = {0}, is = {0};
    bool same = true;

    for (int k = 0; spec_keys[k].name && same; k++) {
        const char *key = spec_keys[k].name, *a, *b;

        if (!spec_key_names(key) || walks(old, key) || walks(s, key) ||
            !spec_applies(&old->base, k) || !spec_applies(&s->base, k))
            continue;
        text_clear(&was);
        text_clear(&is);
        spec_value(&old->base, k, &was);
        spec_value(&s->base, k, &is);
        same = !strcmp(text_str(&was), text_str(&is));
        if (same)
            continue;
        a = was.n ? text_str(&was) : "none";
        b = is.n ? text_str(&is) : "none";
        text_addf(&out->why, "%s %s = %s, not %s", how, key, a, b);
        text_addf(&out->list, "%s=%s,%s", key, a, b);
    }
    text_free(&was);
    text_free(&is);
    return same;
}

bool spec_sweep_adds(const struct spec_sweep *s, int64_t jobs, const struct spec_sweep *old,
                     int64_t old_jobs, const char *how, struct spec_unlike *out)
{
    *out = (struct spec_unlike){0};
    jobs = jobs > 1 ? jobs : 1;
    old_jobs = old_jobs > 1 ? old_jobs : 1;
    if (!walks_all(s, old)) { /* its table would lose a column that tells cells apart */
        text_add(&out->why, "walks ");
        add_keys(&out->why, old);
        text_add(&out->why, ", and these lists walk ");
        add_keys(&out->why, s);
        return false;
    }
    if (!spec_sweep_runs_alone(s) && jobs != old_jobs) {
        text_addf(&out->why,
                  "%s --jobs %lld, not %lld (a cell's share of the threads is part of it, so all "
                  "would be trained anew)",
                  how, (long long)old_jobs, (long long)jobs);
        return false;
    }
    return same_values(s, old, how, out);
}

void spec_unlike_free(struct spec_unlike *u)
{
    text_free(&u->why);
    text_free(&u->list);
}
