/* Lists of so many values that checking them takes longer than a keystroke may: each is checked once,
 * by another thread where there is one, and remembered. */
#include "ui/setup/form_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LONG       100 /* values of a list that is checked beside the keys: there are many fields */
#define MOST_KEPT  2000000 /* values of all that are remembered, but for the newest */
#define MOST_LISTS 200     /* that are remembered: each key makes another one of what is typed */

struct form_list {
    struct form_checked is;
    bool known; /* else somebody checks it */
};

static void free_checked(struct form_checked *x)
{
    spec_axis_free(&x->list);
    free(x->value);
    memset(x, 0, sizeof *x);
}

void form_free_lists(struct form *f)
{
    for (size_t i = 0; i < f->lists; i++)
        free_checked(&f->list[i].is);
    free(f->list);
    f->list = NULL;
    f->lists = f->list_room = 0;
}

static struct form_list *find(struct form *f, const char *key, const char *value)
{
    for (size_t i = 0; i < f->lists; i++)
        if (!strcmp(f->list[i].is.key, key) && !strcmp(f->list[i].is.value, value))
            return &f->list[i];
    return NULL;
}

void form_check_list(struct form_checked *x)
{
    x->code = spec_list_check(&x->list, x->key, x->value, &x->e);
}

bool form_list_checked(struct form *f, struct form_checked *x)
{
    struct form_list *l = find(f, x->key, x->value);

    if (!l || l->known)
        return false; /* forgotten since */
    free_checked(&l->is);
    l->is = *x;
    l->known = true;
    memset(x, 0, sizeof *x);
    if (f->waits && !f->building)
        form_build(f);
    return true;
}

static bool is_given(const struct form *f, const struct form_checked *x)
{
    int i = form_find(f, x->key);

    return i >= 0 && f->field[i].text && !strcmp(f->field[i].text, x->value);
}

/* The oldest first, but never what stands in the form. */
static void forget(struct form *f)
{
    size_t values = 0, left = f->lists, n = 0;

    for (size_t i = f->lists; i-- > 0;)
        values += f->list[i].is.list.values;
    for (size_t i = 0; i < f->lists; i++) {
        struct form_list *l = &f->list[i];

        if ((values > MOST_KEPT || left > MOST_LISTS) && l->known && !is_given(f, &l->is)) {
            values -= l->is.list.values;
            left--;
            free_checked(&l->is);
        } else {
            f->list[n++] = *l;
        }
    }
    f->lists = n;
}

static struct form_list *have(struct form *f, const char *key, const char *value)
{
    struct form_list *l = find(f, key, value);
    bool building = f->building;

    if (l)
        return l;
    forget(f);
    f->list = mem_grow(f->list, &f->list_room, f->lists + 1, sizeof *f->list);
    l = &f->list[f->lists++];
    *l = (struct form_list){.is.value = mem_text(value)};
    strncat(l->is.key, key, sizeof l->is.key - 1);
    if (!f->check_list) {
        form_check_list(&l->is);
        l->known = true;
        return l;
    }
    f->building = true; /* whoever is asked may answer at once */
    f->check_list(f->user, key, value);
    f->building = building;
    return find(f, key, value);
}

enum err_code form_set_key(struct form *f, struct spec_sweep *s, const char *key, const char *value,
                           struct err *e)
{
    size_t length = spec_list_length(value);
    char number[TEXT_NUMBER_ROOM];
    const struct form_list *l;

    if (length <= LONG || spec_key_find(key) < 0) /* zip names lists and is none */
        return spec_sweep_set(s, key, value, NULL, NULL, e);
    l = have(f, key, value);
    if (l->known && l->is.code != ERR_OK) {
        *e = l->is.e;
        return l->is.code;
    }
    if (l->known)
        return spec_sweep_set_checked(s, &l->is.list, e);
    f->waits = true;
    return err_set(e, ERR_INPUT, "%.60s: its %s values are being looked at", key,
                   text_count(number, length));
}
