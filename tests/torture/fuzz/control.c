/* RUN/control: each line comes out once, cut and in one line, and those that change tags and note keep within their
 * room; then the file holds nothing more to obey. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/io.h"
#include "record/record_int.h"
#include "record/run/writer.h"

#include <fcntl.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char folder[] = "/r/run";
    struct record r = {.folder = folder, .log = -1};
    char line[64];
    size_t lines = 1, heard = 0;

    fuzz_begin();
    fuzz_put("/r/run/control", bytes, n);
    for (size_t i = 0; i < n; i++)
        lines += bytes[i] == '\n' || !bytes[i];
    r.control = io.open("/r/run/control", O_RDWR, 0);
    while (record_next_control(&r, line, sizeof line)) {
        MUST(*line && strlen(line) < sizeof line && !strpbrk(line, "\r\n"));
        MUST(strncmp(line, "tag ", 4) != 0 && strncmp(line, "note ", 5) != 0);
        MUST(++heard <= lines);
    }
    MUST(memchr(r.marks.tags, 0, sizeof r.marks.tags) && !strchr(r.marks.tags, '\n'));
    MUST(memchr(r.marks.note, 0, sizeof r.marks.note) && !strchr(r.marks.note, '\n'));
    MUST(!record_next_control(&r, line, sizeof line));
    io.close(r.control);
    text_free(&r.pending);
    return 0;
}
