/* The index of a results folder. Its checksum, which no random change could meet, is made here; a case is what it
 * covers. What is taken is in order, and each row is found. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/hash.h"
#include "base/text.h"
#include "record/index.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct record_index index;
    struct hash_sha256 h;
    struct text file = {0};
    uint8_t digest[32];
    char digits[65];

    fuzz_begin();
    hash_sha256_start(&h);
    hash_sha256_add(&h, bytes, n);
    hash_sha256_end(&h, digest);
    hash_hex(digits, digest, sizeof digest);
    text_addf(&file, "chorus-index 1\n%s\n", digits);
    text_add_n(&file, bytes, n);
    fuzz_put("/r/.index", file.s, file.n);
    text_free(&file);
    record_index_read(&index, "/r");
    for (size_t i = 0; i < index.rows; i++) {
        MUST(record_index_find(&index, index.row[i].name) == &index.row[i]);
        MUST(strlen(record_index_cell(&index.row[i], "state")) < n);
    }
    record_index_free(&index);
    return 0;
}
