/* Downloading, against a small server of our own on the loopback. */
#include "tests/unit/data/kit.h"

#include "base/clock.h"
#include "base/hash.h"
#include "data/fetch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* What the server does with its files. */
enum manner {
    HONEST,      /* with ranges */
    NO_RANGES,   /* sends all, whatever was asked */
    BREAKS_OFF,  /* at most 3,000 bytes a connection */
    BREAKS_DEAD, /* 3,000 bytes once, then nothing any more */
    LIES,        /* right length, other bytes */
    ENDLESS,     /* more than was promised, without a length */
    MISSING,     /* 404 with a page */
    BROKEN,      /* 500 */
    WRONG_RANGE, /* 206 of another part */
    SILENT,      /* takes the request and says nothing */
    REDIRECTS,   /* to its own /real/ */
    TO_A_FILE,   /* redirects to file:///etc/passwd */
};

struct seen { /* shared with the server */
    int requests, ranges;
    long long bytes;
};

struct server {
    char folder[512];
    enum manner manner;
    int port;
    pid_t pid;
    struct seen *seen;
};

static void answer(struct server *s, int to, const char *request)
{
    static char junk[65536];
    char path[800], name[200], head[400], *bytes = NULL;
    const char *range = strcasestr(request, "\r\nRange: bytes=");
    size_t n = 0, from = 0, send_n;
    bool partial = false;
    struct err e;

    s->seen->requests++;
    if (sscanf(request, "GET /%199[^ ]", name) != 1)
        return;
    if (s->manner == SILENT) {
        pause();
        return;
    }
    if (s->manner == REDIRECTS && strncmp(name, "real/", 5) != 0) {
        dprintf(to,
                "HTTP/1.1 302 Found\r\nLocation: /real/%s\r\nContent-Length: 5\r\n"
                "Connection: close\r\n\r\nmoved",
                name);
        return;
    }
    if (s->manner == TO_A_FILE) {
        dprintf(to, "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n"
                    "Connection: close\r\n\r\n");
        return;
    }
    if (s->manner == MISSING || s->manner == BROKEN) {
        dprintf(to, "HTTP/1.1 %s\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<p>no</p>",
                s->manner == MISSING ? "404 Not Found" : "500 Oh");
        return;
    }
    snprintf(path, sizeof path, "%s/%s", s->folder, strncmp(name, "real/", 5) ? name : name + 5);
    if (io_read_file(path, 1 << 20, &bytes, &n, &e) != ERR_OK)
        return;
    if (range && s->manner != NO_RANGES) {
        s->seen->ranges++;
        from = strtoul(range + strlen("\r\nRange: bytes="), NULL, 10);
        partial = true;
    }
    if (from >= n && partial) {
        dprintf(to,
                "HTTP/1.1 416 No\r\nContent-Range: bytes */%zu\r\nContent-Length: 0\r\n"
                "Connection: close\r\n\r\n",
                n);
        free(bytes);
        return;
    }
    if (s->manner == LIES)
        for (size_t i = 20; i < n; i++)
            bytes[i] ^= 0x55;
    if (s->manner == ENDLESS) {
        dprintf(to, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        for (int i = 0; i < 100; i++) {
            ssize_t w = send(to, junk, sizeof junk, MSG_NOSIGNAL);

            if (w <= 0)
                break;
            s->seen->bytes += w;
        }
        free(bytes);
        return;
    }
    if (partial)
        snprintf(head, sizeof head,
                 "HTTP/1.1 206 Part\r\nContent-Range: bytes %zu-%zu/%zu\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n",
                 s->manner == WRONG_RANGE ? from + 1 : from, n - 1, n, n - from);
    else
        snprintf(head, sizeof head,
                 "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", n);
    send_n = n - from;
    if (s->manner == BREAKS_OFF && send_n > 3000)
        send_n = 3000;
    if (s->manner == BREAKS_DEAD && send_n > 3000)
        send_n = s->seen->requests > 1 ? 0 : 3000;
    if (send(to, head, strlen(head), MSG_NOSIGNAL) > 0 && send_n > 0) {
        ssize_t w = send(to, bytes + from, send_n, MSG_NOSIGNAL);

        s->seen->bytes += w > 0 ? w : 0;
    }
    free(bytes);
}

static void serve(struct server *s, int listener)
{
    for (;;) {
        int to = accept(listener, NULL, NULL);
        char request[4096];
        ssize_t n;

        if (to < 0)
            continue;
        n = recv(to, request, sizeof request - 1, 0);
        if (n > 0) {
            request[n] = 0;
            answer(s, to, request);
        }
        shutdown(to, SHUT_WR);
        while (recv(to, request, sizeof request, MSG_DONTWAIT) > 0)
            ;
        close(to);
    }
}

static bool start(struct server *s, const char *folder, enum manner manner)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(s->folder, sizeof s->folder, "%s", folder);
    s->manner = manner;
    s->seen =
        mmap(NULL, sizeof *s->seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, n) || listen(listener, 8) ||
        getsockname(listener, (struct sockaddr *)&at, &n) || s->seen == MAP_FAILED)
        return false;
    s->port = ntohs(at.sin_port);
    s->pid = fork();
    if (s->pid == 0) {
        serve(s, listener);
        _exit(0);
    }
    close(listener);
    return s->pid > 0;
}

static void stop(struct server *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    munmap(s->seen, sizeof *s->seen);
}

/* A set of small files with the checksums that they have. */
static char sums[DATA_FILES][65];

static struct data_known make_known(const char *folder)
{
    static const char *const names[] = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                        "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
    struct data_known set = {.name = "small", .classes = 10, .url = "http://127.0.0.1:1/"};

    for (int i = 0; i < DATA_FILES; i++) {
        struct text t = {0}, packed = {0};
        struct hash_sha256 h;
        uint8_t digest[32];

        /* labels too small to be broken off, images that pack badly */
        if (i % 2) {
            kit_labels(&t, 200, 10);
        } else {
            uint32_t dim[3] = {200, 7, 7}, x = (uint32_t)i + 1;

            kit_head(&t, 8, 3, dim);
            for (int p = 0; p < 200 * 49; p++) {
                uint8_t b;

                x = x * 1664525 + 1013904223;
                b = (uint8_t)(x >> 24);
                text_add_n(&t, &b, 1);
            }
        }
        kit_gz(&packed, t.s, t.n);
        kit_write(folder, names[i], packed.s, packed.n);
        hash_sha256_start(&h);
        hash_sha256_add(&h, t.s, t.n);
        hash_sha256_end(&h, digest);
        hash_hex(sums[i], digest, 32);
        set.file[i] = (struct data_known_file){names[i], t.n, sums[i]};
        text_free(&t);
        text_free(&packed);
    }
    return set;
}

struct place {
    char *theirs, *ours, *url;
    struct data_known set;
    struct server server;
    struct data_fetch how;
    int fetched;
    struct err e;
};

static bool open_place(struct place *p, enum manner manner)
{
    memset(p, 0, sizeof *p);
    p->theirs = kit_folder();
    p->ours = kit_folder();
    p->set = make_known(p->theirs);
    if (!start(&p->server, p->theirs, manner))
        return false;
    p->url = mem_textf("http://127.0.0.1:%d", p->server.port);
    p->how = (struct data_fetch){.from = p->url, .folder = p->ours, .patience = 2};
    return true;
}

static void close_place(struct place *p)
{
    stop(&p->server);
    free(p->url);
    kit_remove(p->theirs);
    kit_remove(p->ours);
}

/* Which of the files stand under their final names, each of them right. */
static int files_here(const struct place *p)
{
    int here = 0;

    for (int i = 0; i < DATA_FILES; i++) {
        char *path = io_path(p->ours, p->set.file[i].name);
        char *theirs = io_path(p->theirs, p->set.file[i].name), *a, *b;
        size_t n, m;

        if (io_read_file(path, 1 << 20, &a, &n, NULL) == ERR_OK) {
            if (io_read_file(theirs, 1 << 20, &b, &m, NULL) == ERR_OK) {
                CHECK(n == m && !memcmp(a, b, n)); /* never a half one */
                free(b);
            }
            here++;
            free(a);
        }
        free(path);
        free(theirs);
    }
    return here;
}

static bool part_exists(const struct place *p, int i)
{
    char *path = mem_textf("%s/%s.part", p->ours, p->set.file[i].name);
    bool there = io_exists(path);

    free(path);
    return there;
}

static enum err_code fetch(struct place *p)
{
    p->e.text[0] = 0;
    return data_fetch(&p->set, &p->how, &p->fetched, &p->e);
}

#define PLACE(p_, manner_)                                                                         \
    struct place p_;                                                                               \
    if (!data_fetch_can())                                                                         \
        SKIP("built without libcurl");                                                             \
    if (!open_place(&p_, manner_))                                                                 \
    SKIP("no socket on the loopback")

static int progress_calls;
static uint64_t progress_done, progress_all;

static void count_progress(void *user, const char *file, uint64_t done, uint64_t all)
{
    (void)user;
    progress_calls++;
    if (strstr(file, "train-images")) {
        progress_done = done;
        progress_all = all;
    }
}

TEST(all_four_files_come)
{
    PLACE(p, HONEST);
    struct data_places places = {NULL};
    struct spec s = kit_spec(p.ours);
    struct data_set *set;

    progress_calls = 0;
    p.how.progress = count_progress;
    CHECK_INT(fetch(&p), ERR_OK);
    CHECK_STR(p.e.text, "");
    CHECK_INT(p.fetched, 4);
    CHECK_INT(files_here(&p), 4);
    for (int i = 0; i < DATA_FILES; i++)
        CHECK(!part_exists(&p, i));
    CHECK(progress_calls >= 4);
    CHECK(progress_all > 9000 && progress_done == progress_all);
    CHECK_INT(p.server.seen->requests, 4);
    CHECK_INT(data_open(&set, &s, &places, (struct net_shape){0, 0, 0}, &p.e), ERR_OK);
    if (set)
        CHECK_INT(set->train.count, 200);
    data_close(set);

    /* once more: nothing to do, nothing asked */
    CHECK_INT(fetch(&p), ERR_OK);
    CHECK_INT(p.fetched, 0);
    CHECK_INT(p.server.seen->requests, 4);
    close_place(&p);
}

TEST(a_damaged_file_is_brought_anew)
{
    PLACE(p, HONEST);

    CHECK_INT(fetch(&p), ERR_OK);
    kit_text(p.ours, p.set.file[1].name, "something else");
    CHECK_INT(fetch(&p), ERR_OK);
    CHECK_INT(p.fetched, 1);
    CHECK_INT(files_here(&p), 4);
    close_place(&p);
}

/* Connections that break: it goes on from the byte that it has. */
TEST(goes_on_where_it_broke_off)
{
    PLACE(p, BREAKS_OFF);

    CHECK_INT(fetch(&p), ERR_OK);
    CHECK_STR(p.e.text[0] && p.fetched != 4 ? p.e.text : "", "");
    CHECK_INT(p.fetched, 4);
    CHECK_INT(files_here(&p), 4);
    CHECK(p.server.seen->ranges >= 4);
    CHECK(p.server.seen->bytes < 25000); /* nothing came twice */
    close_place(&p);
}

/* An earlier fetch was killed: its part is used. */
TEST(goes_on_from_a_part)
{
    PLACE(p, HONEST);
    char *whole, *theirs = io_path(p.theirs, p.set.file[0].name);
    char *part = mem_textf("%s.part", p.set.file[0].name);
    size_t n = 0;

    if (io_read_file(theirs, 1 << 20, &whole, &n, &p.e) == ERR_OK) {
        kit_write(p.ours, part, whole, n / 2);
        CHECK_INT(fetch(&p), ERR_OK);
        CHECK_INT(files_here(&p), 4);
        CHECK_INT(p.server.seen->ranges, 1);
        CHECK(!part_exists(&p, 0));

        /* a part that is whole already: 416, and the checksum decides */
        kit_write(p.ours, part, whole, n);
        kit_text(p.ours, p.set.file[0].name, "damaged");
        CHECK_INT(fetch(&p), ERR_OK);
        CHECK_INT(files_here(&p), 4);
        free(whole);
    }
    free(theirs);
    free(part);
    close_place(&p);
}

/* A part that holds something else, as from another mirror: from the start, once. */
TEST(a_part_of_something_else)
{
    for (int manner = HONEST; manner <= NO_RANGES; manner++) {
        PLACE(p, (enum manner)manner);
        char *part = mem_textf("%s.part", p.set.file[0].name);

        kit_text(p.ours, part, "these are not the first bytes of it");
        CHECK_INT(fetch(&p), ERR_OK);
        CHECK_INT(p.fetched, 4);
        CHECK_INT(files_here(&p), 4);
        CHECK(!part_exists(&p, 0));
        free(part);
        close_place(&p);
    }
}

/* A part longer than the file can be. */
TEST(a_part_that_is_too_long)
{
    PLACE(p, HONEST);
    char *part = mem_textf("%s.part", p.set.file[0].name), *junk = mem_new(1 << 17, 1);

    kit_write(p.ours, part, junk, 1 << 17);
    CHECK_INT(fetch(&p), ERR_OK);
    CHECK_INT(files_here(&p), 4);
    free(part);
    free(junk);
    close_place(&p);
}

static void refused(enum manner manner, const char *says, bool part_left)
{
    PLACE(p, manner);

    CHECK_INT(fetch(&p), ERR_FAILED);
    CHECK_HAS(p.e.text, says);
    CHECK_HAS(p.e.text, p.url);
    CHECK(!strchr(p.e.text, '\n'));
    CHECK_INT(p.fetched, 0);
    CHECK_INT(files_here(&p), 0);
    CHECK_INT(part_exists(&p, 0), part_left);
    close_place(&p);
}

TEST(wrong_content_is_not_kept)
{
    refused(LIES, "has not the checksum of train-images-idx3-ubyte.gz; nothing was kept", false);
}

TEST(an_endless_answer_is_cut)
{
    PLACE(p, ENDLESS);

    CHECK_INT(fetch(&p), ERR_FAILED);
    CHECK_HAS(p.e.text, "sends more than the");
    CHECK_INT(files_here(&p), 0);
    close_place(&p);
}

TEST(not_there)
{
    refused(MISSING, "the server answers 404", false);
}

TEST(server_error)
{
    refused(BROKEN, "the server answers 500", false);
}

TEST(breaks_off_for_good)
{
    refused(BREAKS_DEAD, "broken off 5 times without a byte", true);
}

TEST(silence_ends)
{
    refused(SILENT, "too slow", false);
}

TEST(another_range_than_asked)
{
    PLACE(p, WRONG_RANGE);
    char *part = mem_textf("%s.part", p.set.file[0].name);

    kit_text(p.ours, part, "0123456789");
    CHECK_INT(fetch(&p), ERR_FAILED);
    CHECK_HAS(p.e.text, "another part than byte 10");
    CHECK_INT(files_here(&p), 0);
    free(part);
    close_place(&p);
}

TEST(redirects_within_http_alone)
{
    PLACE(p, REDIRECTS);

    CHECK_INT(fetch(&p), ERR_OK);
    CHECK_INT(files_here(&p), 4);
    close_place(&p);
    refused(TO_A_FILE, "file", false);
}

TEST(nobody_answers)
{
    PLACE(p, HONEST);

    free(p.url);
    p.url = mem_text("http://127.0.0.1:1/"); /* tcpmux: nobody listens there */
    p.how.from = p.url;
    CHECK_INT(fetch(&p), ERR_FAILED);
    CHECK_HAS(p.e.text, "http://127.0.0.1:1/train-images-idx3-ubyte.gz: ");
    CHECK_INT(files_here(&p), 0);
    p.how.from = "ftp://127.0.0.1/";
    CHECK_INT(fetch(&p), ERR_INPUT);
    CHECK_HAS(p.e.text, "http:// or https://");
    close_place(&p);
}

TEST(two_at_a_time)
{
    PLACE(p, HONEST);
    char *part = mem_textf("%s/%s.part", p.ours, p.set.file[0].name);
    int fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    CHECK_INT(fetch(&p), ERR_FAILED);
    CHECK_HAS(p.e.text, "another chorus is fetching it");
    CHECK_INT(files_here(&p), 0);
    close(fd);
    free(part);
    close_place(&p);
}

TEST(a_place_that_cannot_be_written)
{
    PLACE(p, HONEST);
    char *file = io_path(p.ours, "file");

    kit_text(p.ours, "file", "x");
    p.how.folder = file;
    CHECK(fetch(&p) != ERR_OK);
    CHECK_HAS(p.e.text, file);
    free(file);
    close_place(&p);
}

/* The pinned checksums are those of the real files, as Debian packs them. */
TEST(debians_files_have_the_pinned_checksums)
{
    const struct data_known *set = data_known_find("fashion-mnist");
    struct place p = {0};

    if (!data_fetch_can())
        SKIP("built without libcurl");
    if (!io_exists("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"))
        SKIP("dataset-fashion-mnist is not installed");
    p.ours = kit_folder();
    for (int i = 0; i < DATA_FILES; i++) {
        char *from = mem_textf("/usr/share/datasets/fashion-mnist/%s", set->file[i].name);
        char *to = io_path(p.ours, set->file[i].name);

        CHECK(symlink(from, to) == 0);
        free(from);
        free(to);
    }
    p.how.from = "http://127.0.0.1:1/"; /* nothing is to be asked */
    p.how.folder = p.ours;
    CHECK_INT(data_fetch(set, &p.how, &p.fetched, &p.e), ERR_OK);
    CHECK_STR(p.e.text, "");
    CHECK_INT(p.fetched, 0);
    kit_remove(p.ours);
}
