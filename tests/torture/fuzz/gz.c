/* A gz file: what is read in pieces is what is read at once, to the last byte, or refused as well; and it is what
 * zlib's own reader gets, or that refuses it too. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "data/data_int.h"

#include <stdlib.h>
#include <string.h>

#define MOST (1 << 20)

/* All of it in pieces of up to that size, or what comes before an error. */
static enum err_code unpack(size_t piece, uint8_t *to, size_t *n, struct err *e)
{
    struct data_stream s;
    enum err_code code = data_stream_open(&s, "/d/a.gz", e);
    size_t got = 1;

    *n = 0;
    if (code != ERR_OK)
        return code;
    while (code == ERR_OK && got && *n < MOST) {
        code = data_stream_read(&s, to + *n, piece < MOST - *n ? piece : MOST - *n, &got, e);
        *n += got;
    }
    MUST(s.given == *n || code != ERR_OK);
    data_stream_close(&s);
    return code;
}

/* Member after member. False: zlib takes the file not. */
static bool inflate_all(const uint8_t *bytes, size_t n, uint8_t *to, size_t *got)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)n};
    int status;

    z.next_out = to;
    z.avail_out = MOST;
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return false;
    while ((status = inflate(&z, Z_FINISH)) == Z_STREAM_END && z.avail_in)
        inflateReset(&z);
    *got = MOST - z.avail_out;
    inflateEnd(&z);
    return status == Z_STREAM_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static uint8_t whole[MOST], pieces[MOST];
    size_t whole_n, pieces_n, zlib_n;
    struct err e = {0}, again = {0};
    enum err_code code;

    fuzz_begin();
    fuzz_put("/d/a.gz", bytes, n);
    code = unpack(MOST, whole, &whole_n, &e);
    if (whole_n == MOST)
        return 0;
    if (code == ERR_OK)
        MUST(inflate_all(bytes, n, pieces, &zlib_n) && zlib_n == whole_n &&
             !memcmp(pieces, whole, whole_n));
    else
        MUST(!inflate_all(bytes, n, pieces, &zlib_n));
    MUST(unpack(n % 61 + 1, pieces, &pieces_n, &again) == code);
    if (fuzz_taken(code, &e))
        MUST(pieces_n == whole_n && !memcmp(pieces, whole, whole_n));
    return 0;
}
