#include "ui/term/term_sequence.h"

#include "base/mem.h"
#include "ui/term/key.h"

#include <ncurses.h>
#include <poll.h>
#include <string.h>

#define SEQUENCE_MS 25 /* between two bytes of one key */

/* The next byte of what came behind Esc; 0: there is none, or another key, which is kept. */
static wint_t next_byte(void)
{
    wint_t code;
    int kind = get_wch(&code);

    if (kind == KEY_CODE_YES)
        ungetch((int)code);
    return kind == OK ? code : 0;
}

/* As next_byte, of a sequence that has begun: the rest of it may be on its way. */
static wint_t next_of_sequence(int tty)
{
    struct pollfd fd = {.fd = tty, .events = POLLIN};
    wint_t code = next_byte();

    return code || poll(&fd, 1, SEQUENCE_MS) <= 0 ? code : next_byte();
}

static void give_back(wint_t code)
{
    if (code)
        unget_wch((wchar_t)code);
}

bool term_take_sequence(int tty, int32_t *code)
{
    static const char letters[] = "ABCDHF";
    static const int32_t of_letter[] = {UI_UP, UI_DOWN, UI_RIGHT, UI_LEFT, UI_HOME, UI_END};
    static const int32_t of_number[] = {0,          UI_HOME,      UI_INSERT, UI_DELETE, UI_END,
                                        UI_PAGE_UP, UI_PAGE_DOWN, UI_HOME,   UI_END};
    wint_t first = next_byte(), c = first == '[' || first == 'O' ? next_of_sequence(tty) : 0;
    const char *letter;
    size_t number = 0;
    int bytes = 0;

    if (c < ' ' || c > '~' || (first == '[' ? c == '[' : !strchr("ABCDFHMPQRS", (int)c))) {
        give_back(c);
        give_back(first);
        return false;
    }
    if (first == '[' && c == 'M') { /* a click as old terminals send it: its button and place */
        for (int i = 0; i < 3 && next_of_sequence(tty); i++)
            ;
        *code = 0;
        return true;
    }
    for (; c >= ' ' && c < '@' && bytes < 32; c = next_of_sequence(tty), bytes++)
        number = c >= '0' && c <= '9' && number < 100 ? number * 10 + c - '0' : 1000;
    letter = c && c <= '~' && !bytes ? strchr(letters, (int)c) : NULL;
    *code = letter                                      ? of_letter[letter - letters]
            : c == '~' && number < MEM_COUNT(of_number) ? of_number[number]
            : c == '~' && number == 200                 ? UI_PASTE
            : c == '~' && number == 201                 ? UI_PASTED
                                                        : 0;
    return true;
}
