/* ui/app/settings.h: what people chose about screens (colours, plots, columns), kept in
 * $XDG_CONFIG_HOME/chorus/settings by writing a new file and renaming it. A missing or damaged file
 * means the defaults; unknown lines are kept. */
#ifndef CHORUS_UI_APP_SETTINGS_H
#define CHORUS_UI_APP_SETTINGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct settings *settings_open(const char *path); /* NULL: $XDG_CONFIG_HOME/chorus/settings */
void settings_close(struct settings *s);          /* saves first */
/* name: "plot.x", "theme". The value stays the settings' own. */
const char *settings_get(const struct settings *s, const char *name, const char *fallback);
int64_t settings_number(const struct settings *s, const char *name, int64_t fallback);
bool settings_is(const struct settings *s, const char *name, bool fallback);
/* NULL: as if it had never been chosen. */
void settings_set(struct settings *s, const char *name, const char *value);
void settings_set_number(struct settings *s, const char *name, int64_t value);
void settings_set_is(struct settings *s, const char *name, bool value);
/* Writes where something has changed. */
enum err_code settings_save(struct settings *s, struct err *e) MUST_USE;

#endif
