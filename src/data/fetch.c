/* Downloading with libcurl, the only file that knows it. */
#include "data/fetch.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "data/data_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#ifndef CHORUS_HAVE_CURL
#define CHORUS_HAVE_CURL 0
#endif

bool data_fetch_can(void)
{
    return CHORUS_HAVE_CURL;
}

#if CHORUS_HAVE_CURL

#include <curl/curl.h>
#include <pthread.h>

#define ATTEMPTS 5

/* One file on its way. */
struct download {
    const struct data_known_file *file;
    const struct data_fetch *how;
    char *url, *part, *final;
    int fd; /* of the part, locked while it is open */
    CURL *curl;
    uint64_t have;       /* bytes of the part */
    uint64_t asked;      /* where this attempt wants to go on */
    uint64_t range_from; /* what the server says it starts at; UINT64_MAX: nothing said */
    uint64_t limit;      /* more than this cannot be the file */
    bool started;        /* the first bytes of this attempt's answer were looked at */
    bool resumed;        /* some bytes are from an earlier fetch */
    bool locked;         /* the part is ours */
    enum err_code code;  /* of what went wrong inside the callbacks */
    struct err *e;
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* The content's checksum. *right is false too where the file is cut, damaged or longer. */
static enum err_code verify(const char *path, const struct data_known_file *file, bool *right,
                            struct err *e)
{
    static const char gz[] = ".gz";
    size_t n = strlen(file->name), got;
    struct data_stream *s = mem_new(1, sizeof *s);
    struct hash_sha256 h;
    uint8_t block[65536], digest[32];
    char hex[65];
    enum err_code code;

    *right = false;
    code = data_stream_open_as(s, path, n > 3 && !strcmp(file->name + n - 3, gz), e);
    if (code != ERR_OK) {
        free(s);
        return code;
    }
    hash_sha256_start(&h);
    do {
        code = data_stream_read(s, block, sizeof block, &got, e);
        if (code == ERR_OK)
            hash_sha256_add(&h, block, got);
    } while (code == ERR_OK && got == sizeof block && s->given <= file->bytes);
    hash_sha256_end(&h, digest);
    hash_hex(hex, digest, sizeof digest);
    *right = code == ERR_OK && s->given == file->bytes && !strcmp(hex, file->sha256);
    data_stream_close(s);
    free(s);
    return code == ERR_INPUT ? ERR_OK : code; /* damaged is not right, that is all */
}

static size_t on_header(char *line, size_t one, size_t n, void *user)
{
    static const char name[] = "content-range:";
    struct download *d = user;
    char text[128], *at;

    (void)one;
    if (n >= 5 && !strncasecmp(line, "HTTP/", 5))
        d->range_from = UINT64_MAX; /* a new answer, after a redirect */
    if (n < sizeof name || strncasecmp(line, name, sizeof name - 1) || n >= sizeof text)
        return n;
    memcpy(text, line, n);
    text[n] = 0;
    at = strpbrk(text + sizeof name - 1, "0123456789*");
    if (at && *at != '*')
        d->range_from = strtoull(at, NULL, 10);
    return n;
}

static enum err_code part_truncate(struct download *d)
{
    if (io.truncate(d->fd, 0) < 0 || io.seek(d->fd, 0, SEEK_SET) < 0)
        return err_errno(d->e, "%s: cannot be emptied", d->part);
    d->have = 0;
    d->resumed = false;
    return ERR_OK;
}

/* The answer begins: does it go on where the part ends, or is it the whole file again? */
static enum err_code begin_body(struct download *d, long status)
{
    d->started = true;
    if (status == 206 && d->range_from == d->asked)
        return ERR_OK;
    if (status == 206) {
        return err_set(d->e, ERR_FAILED, "%s: the server sends another part than byte %llu on",
                       d->url, (unsigned long long)d->asked);
    }
    return d->have ? part_truncate(d) : ERR_OK;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    struct download *d = user;
    curl_off_t length = -1;
    uint64_t all = 0;
    long status = 0;

    (void)one;
    curl_easy_getinfo(d->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && status != 206)
        return n; /* the page that explains an error */
    if (!d->started)
        d->code = begin_body(d, status);
    if (d->code == ERR_OK && n > d->limit - d->have) {
        d->code = err_set(d->e, ERR_FAILED,
                          "%s: the server sends more than the %llu bytes that the file can have",
                          d->url, (unsigned long long)d->limit);
    }
    if (d->code == ERR_OK)
        d->code = io_write_all(d->fd, bytes, n, d->part, d->e);
    if (d->code != ERR_OK)
        return 0;
    d->have += n;
    if (d->how->progress) {
        if (curl_easy_getinfo(d->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length) == CURLE_OK &&
            length > 0)
            all = (uint64_t)length + (status == 206 ? d->asked : 0);
        d->how->progress(d->how->user, d->file->name, d->have, all);
    }
    return n;
}

static void set_options(struct download *d, char *said, char *range)
{
    CURL *c = d->curl;
    long patience = d->how->patience > 0 ? d->how->patience : 30;

    curl_easy_setopt(c, CURLOPT_URL, d->url);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, said);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "chorus");
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, patience);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, patience);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, d);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, d);
    if (d->have) {
        snprintf(range, 32, "%llu-", (unsigned long long)d->have);
        curl_easy_setopt(c, CURLOPT_RANGE, range);
    }
}

enum outcome { WHOLE, AGAIN, HOPELESS };

/* Broken off in the middle is worth another attempt; a name that does not exist is not. */
static bool worth_another(CURLcode c)
{
    return c == CURLE_PARTIAL_FILE || c == CURLE_RECV_ERROR || c == CURLE_SEND_ERROR ||
           c == CURLE_GOT_NOTHING || c == CURLE_HTTP2 || c == CURLE_HTTP2_STREAM;
}

static enum outcome attempt(struct download *d)
{
    char said[CURL_ERROR_SIZE] = "", range[32];
    CURLcode c;
    long status = 0;

    d->curl = curl_easy_init();
    if (!d->curl) {
        d->code = err_set(d->e, ERR_FAILED, "%s: libcurl cannot be started", d->url);
        return HOPELESS;
    }
    d->asked = d->have;
    d->range_from = UINT64_MAX;
    d->started = false;
    set_options(d, said, range);
    c = curl_easy_perform(d->curl);
    curl_easy_getinfo(d->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(d->curl);
    d->curl = NULL;
    if (d->code != ERR_OK)
        return HOPELESS;
    if (c == CURLE_OK && status == 416 && d->asked)
        return WHOLE; /* nothing behind what is here: the checksum decides */
    if (c == CURLE_OK && (status == 200 || status == 206))
        return WHOLE;
    if (c != CURLE_OK && worth_another(c)) {
        err_set(d->e, ERR_FAILED, "%s: %s", d->url, said[0] ? said : curl_easy_strerror(c));
        return AGAIN;
    }
    if (c == CURLE_OK)
        d->code = err_set(d->e, ERR_FAILED, "%s: the server answers %ld", d->url, status);
    else
        d->code =
            err_set(d->e, ERR_FAILED, "%s: %s", d->url, said[0] ? said : curl_easy_strerror(c));
    return HOPELESS;
}

/* Until all of it is here, going on where a connection broke. */
static enum err_code bring(struct download *d)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t before = d->have;

        switch (attempt(d)) {
        case WHOLE:
            return ERR_OK;
        case HOPELESS:
            return d->code;
        case AGAIN:
            if (d->have > before)
                i = -1; /* it moves: patience starts anew */
            else if (i + 1 < ATTEMPTS)
                clock_sleep_ms(100 << i);
            break;
        }
    }
    return err_context(d->e, "broken off %d times without a byte", ATTEMPTS);
}

static enum err_code keep(struct download *d)
{
    char *folder;
    enum err_code code;

    if (io.sync(d->fd) < 0)
        return err_errno(d->e, "%s: cannot be written out", d->part);
    if (io.rename(d->part, d->final) < 0)
        return err_errno(d->e, "%s: cannot be renamed to %s", d->part, d->final);
    folder = io_folder_of(d->final);
    code = io_sync_folder(folder, d->e);
    free(folder);
    return code;
}

static enum err_code open_part(struct download *d)
{
    struct stat st, now;

    d->fd = io.open(d->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (d->fd < 0)
        return err_errno(d->e, "%s: cannot be made", d->part);
    if (io.lock(d->fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return err_set(d->e, ERR_FAILED, "%s: another chorus is fetching it", d->part);
        return err_errno(d->e, "%s: cannot be locked", d->part);
    }
    if (io.fstat(d->fd, &st) < 0 || io.seek(d->fd, 0, SEEK_END) < 0)
        return err_errno(d->e, "%s: cannot be looked at", d->part);
    /* Whoever had the lock may have renamed it: then this is the finished file, not to be touched. */
    if (io.stat(d->part, &now) < 0 || now.st_ino != st.st_ino || now.st_dev != st.st_dev)
        return err_set(d->e, ERR_FAILED, "%s: another chorus has just fetched it", d->part);
    d->locked = true;
    d->have = (uint64_t)st.st_size;
    d->resumed = d->have > 0;
    return d->have >= d->limit ? part_truncate(d) : ERR_OK;
}

static enum err_code fetch_part(struct download *d)
{
    bool right = false;

    TRY(open_part(d));
    for (int round = 0; !right; round++) {
        bool resumed;

        TRY(bring(d));
        resumed = d->resumed;
        TRY(verify(d->part, d->file, &right, d->e));
        if (right)
            break;
        /* The part may have been of another file or another mirror's packing: once from the start. */
        if (resumed && round == 0) {
            TRY(part_truncate(d));
            continue;
        }
        io.unlink(d->part);
        return err_set(d->e, ERR_FAILED,
                       "%s: its content has not the checksum of %s; nothing was kept", d->url,
                       d->file->name);
    }
    return keep(d);
}

static enum err_code fetch_file(const struct data_known *set, const struct data_known_file *file,
                                const struct data_fetch *how, const char *folder, bool *fetched,
                                struct err *e)
{
    const char *base = how->from ? how->from : set->url;
    const char *slash = base[0] && base[strlen(base) - 1] == '/' ? "" : "/";
    struct download d = {.file = file, .how = how, .fd = -1, .e = e};
    bool right = false;
    enum err_code code = ERR_OK;

    d.url = mem_textf("%s%s%s", base, slash, file->name);
    d.final = io_path(folder, file->name);
    d.part = mem_textf("%s.part", d.final);
    /* Packing adds at most five bytes to a stored block, and a header. */
    d.limit = file->bytes + file->bytes / 1000 + 65536;
    if (io_exists(d.final))
        code = verify(d.final, file, &right, e);
    if (code == ERR_OK && !right) {
        code = fetch_part(&d);
        *fetched = code == ERR_OK;
    }
    if (code != ERR_OK && d.locked && d.have == 0)
        io.unlink(d.part);
    if (d.fd >= 0)
        io.close(d.fd);
    free(d.url);
    free(d.final);
    free(d.part);
    return code;
}

static enum err_code check_url(const char *from, struct err *e)
{
    if (from && strncmp(from, "http://", 7) && strncmp(from, "https://", 8))
        return err_set(e, ERR_INPUT, "--from %s: an address starts with http:// or https://", from);
    return ERR_OK;
}

enum err_code data_fetch(const struct data_known *set, const struct data_fetch *how, int *fetched,
                         struct err *e)
{
    char *folder;
    enum err_code code;

    *fetched = 0;
    TRY(check_url(how->from, e));
    if (how->folder)
        folder = mem_text(how->folder);
    else
        TRY(data_place_of_user(set->name, &folder, e));
    pthread_once(&curl_once, start_curl);
    code = io_make_folders(folder, e);
    for (int i = 0; i < DATA_FILES && code == ERR_OK; i++) {
        bool new = false;

        code = fetch_file(set, &set->file[i], how, folder, &new, e);
        *fetched += new;
    }
    free(folder);
    return code;
}

#else

enum err_code data_fetch(const struct data_known *set, const struct data_fetch *how, int *fetched,
                         struct err *e)
{
    const char *base = how->from ? how->from : set->url;
    char *folder;

    *fetched = 0;
    TRY(data_place_of_user(set->name, &folder, e));
    err_set(e, ERR_FAILED,
            "this chorus was built without libcurl: apt install libcurl4-openssl-dev and build it "
            "again, or put the files of %s into %s",
            base, folder);
    free(folder);
    return ERR_FAILED;
}

#endif
