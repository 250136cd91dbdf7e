/* ui/setup/form_int.h: what the files of the form share. */
#ifndef CHORUS_UI_SETUP_FORM_INT_H
#define CHORUS_UI_SETUP_FORM_INT_H

#include "ui/setup/form.h"

void form_free_field(struct form_field *x);
int form_by_order(const void *a, const void *b); /* of pointers to fields, for qsort */
/* The fields that have a text, by their order; room for all of them. */
size_t form_in_order(const struct form *f, const struct form_field **given);
size_t form_add_parameter(struct form *f, const char *key); /* "model.width"; its number */
void form_add_default(const struct form *f, size_t i, struct text *out);
/* Makes fields of the parameters that the models of the sweep have, and says of those that none of
 * them has that they do not apply. */
void form_find_parameters(struct form *f, const struct spec_sweep *s);

void form_free_models(struct form *f);
void form_free_lists(struct form *f);
/* As spec_sweep_set; a long list is checked once. Where it is not yet, that is what e says, and f
 * waits. */
enum err_code form_set_key(struct form *f, struct spec_sweep *s, const char *key, const char *value,
                           struct err *e);

#endif
