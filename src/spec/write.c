#include "spec/spec_int.h"

#include <string.h>

void spec_value(const struct spec *s, int key, struct text *out)
{
    const struct spec_field *f = &spec_fields[key];
    const char *at = (const char *)s + f->offset;
    char room[TEXT_NUMBER_ROOM];
    int small = 0;
    int64_t count = 0;
    double real = 0;
    bool yes = false;

    switch (f->kind) {
    case FIELD_WORD:
        memcpy(&small, at, sizeof small);
        text_add(out, f->words[small]);
        return;
    case FIELD_YESNO:
        memcpy(&yes, at, sizeof yes);
        text_add(out, yes ? "yes" : "no");
        return;
    case FIELD_INT:
        memcpy(&small, at, sizeof small);
        if (small || f->lo == 0)
            text_addf(out, "%d", small);
        return;
    case FIELD_COUNT:
        memcpy(&count, at, sizeof count);
        if (count || f->lo == 0)
            text_addf(out, "%lld", (long long)count);
        return;
    case FIELD_REAL:
        memcpy(&real, at, sizeof real);
        if (real != 0 || !f->unset)
            text_add(out, text_double(room, real));
        return;
    case FIELD_OWN:
        break;
    }
    f->value(s, out);
}

void spec_write(const struct spec *s, struct text *out)
{
    struct text value = {0};

    for (int key = 0; key < SPEC_KEYS; key++) {
        if (!spec_applies(s, key))
            continue;
        text_clear(&value);
        spec_value(s, key, &value);
        if (value.n)
            text_addf(out, "%s = %s\n", spec_keys[key].name, text_str(&value));
        for (int i = 0; key == KEY_MODEL && i < s->params; i++) {
            text_addf(out, "model.%s = ", s->param[i].name);
            spec_add_quoted(out, s->param[i].value);
            text_add(out, "\n");
        }
    }
    text_free(&value);
}
