#include "ui/term/key.h"

#include "base/mem.h"
#include "base/text.h"
#include "draw/ink/words.h"

#include <string.h>
#include <strings.h>

#define CLICK_MS 400 /* two clicks within it are a double one */

static const struct {
    const char *name;
    int32_t code;
} names[] = {
    {"Up", UI_UP},
    {"Down", UI_DOWN},
    {"Left", UI_LEFT},
    {"Right", UI_RIGHT},
    {"Home", UI_HOME},
    {"End", UI_END},
    {"PgUp", UI_PAGE_UP},
    {"PgDn", UI_PAGE_DOWN},
    {"Insert", UI_INSERT},
    {"Delete", UI_DELETE},
    {"Backspace", UI_BACKSPACE},
    {"Enter", UI_ENTER},
    {"Esc", UI_ESC},
    {"Tab", UI_TAB},
    {"BackTab", UI_BACKTAB},
    {"Space", ' '},
    {"WheelUp", UI_WHEEL_UP},
    {"WheelDown", UI_WHEEL_DOWN},
};

static bool parse_character(const char *word, int32_t *code)
{
    if (!*word)
        return false;
    *code = (int32_t)words_next(&word);
    return !*word;
}

bool key_parse(const char *word, struct key *key)
{
    int64_t number;

    *key = (struct key){0};
    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        if (!strcasecmp(word, names[i].name)) {
            key->code = names[i].code;
            return true;
        }
    }
    if (!strncasecmp(word, "Ctrl-", 5) && word[5] && !word[6] && (word[5] & 0x40)) {
        key->code = word[5] & 0x1f; /* 0 is no key */
        return key->code != 0;
    }
    if ((word[0] == 'F' || word[0] == 'f') && text_to_int(word + 1, &number)) {
        if (number < 1 || number > 12)
            return false;
        key->code = UI_F1 + (int32_t)number - 1;
        return true;
    }
    return parse_character(word, &key->code);
}

bool key_clicks_again(struct key_clicks *c, int row, int column, uint64_t ms)
{
    bool again = c->one && ms - c->ms < CLICK_MS && c->row == row && c->column == column;

    *c = (struct key_clicks){!again, ms, row, column};
    return again;
}

int key_list_move(int32_t code, int page)
{
    switch (code) {
    case UI_UP:
    case UI_WHEEL_UP:
    case 'k':
        return -1;
    case UI_DOWN:
    case UI_WHEEL_DOWN:
    case 'j':
        return 1;
    case UI_PAGE_UP:
        return -(page > 1 ? page : 1);
    case UI_PAGE_DOWN:
        return page > 1 ? page : 1;
    case UI_HOME:
    case 'g':
        return -KEY_FAR;
    case UI_END:
    case 'G':
        return KEY_FAR;
    default:
        return 0;
    }
}
