#include "record/run/writer.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/record_int.h"
#include "record/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct record *new_record(const char *folder)
{
    struct record *r = mem_new(1, sizeof *r);

    r->folder = mem_text(folder);
    r->hold.lock = r->hold.model = r->log = r->control = -1;
    for (int i = 0; i < RECORD_CSVS; i++) {
        r->csv[i].name = record_csv_name[i];
        r->csv[i].path = io_path(folder, record_csv_name[i]);
        r->csv[i].fd = -1;
    }
    return r;
}

void record_close(struct record *r)
{
    if (!r)
        return;
    for (int i = 0; i < RECORD_CSVS; i++) {
        if (r->csv[i].fd >= 0)
            io.close(r->csv[i].fd);
        free(r->csv[i].path);
    }
    if (r->log >= 0)
        io.close(r->log);
    if (r->control >= 0)
        io.close(r->control);
    record_let_go(&r->hold);
    text_free(&r->row);
    text_free(&r->rows);
    text_free(&r->pending);
    free(r->folder);
    free(r);
}

const char *record_folder(const struct record *r)
{
    return r->folder;
}

static enum err_code open_in(struct record *r, const char *name, int flags, int *fd, struct err *e)
{
    char *path = io_path(r->folder, name);
    enum err_code code = io_open_own(path, flags, fd, e);

    free(path);
    return code;
}

/* lock, log.txt and control, all made where they are missing. */
static enum err_code open_common(struct record *r, struct err *e)
{
    struct stat st;

    TRY(record_hold(r->folder, true, &r->hold, e));
    TRY(record_write_owner(&r->hold, r->folder, e));
    TRY(open_in(r, "log.txt", O_WRONLY | O_CREAT | O_APPEND, &r->log, e));
    TRY(open_in(r, "control", O_RDWR | O_CREAT | O_APPEND, &r->control, e));
    /* What was said to an owner before this one is not meant for this one. */
    if (io.fstat(r->control, &st) < 0 || (st.st_size > 0 && io.truncate(r->control, 0) < 0))
        return err_errno(e, "cannot empty %s/control", r->folder);
    return record_keep_control(r, e);
}

static enum err_code write_header(struct record *r, enum record_csvs which, struct err *e)
{
    struct record_csv *c = &r->csv[which];
    const char *header = record_csv_header[which];
    size_t n = strlen(header);
    enum err_code code = io_write_all(c->fd, header, n, c->path, e);

    if (code != ERR_OK) {
        if (io.truncate(c->fd, c->size) < 0)
            c->torn = true;
        return code;
    }
    c->size = (off_t)n;
    if (which == RECORD_EPOCHS)
        text_add_n(&r->rows, header, n);
    return ERR_OK;
}

enum err_code record_open_csv(struct record *r, enum record_csvs which, struct err *e)
{
    struct record_csv *c = &r->csv[which];
    const char *header = record_csv_header[which];
    size_t n = strlen(header);
    struct stat st;
    char *have;
    ssize_t got;
    bool same;

    TRY(open_in(r, c->name, O_RDWR | O_CREAT | O_APPEND, &c->fd, e));
    if (io.fstat(c->fd, &st) < 0)
        return err_errno(e, "cannot look at %s", c->path);
    c->size = st.st_size;
    TRY(record_cut_torn(c, e));
    if (c->size == 0)
        return write_header(r, which, e);
    have = mem_new(n + 1, 1);
    got = io.seek(c->fd, 0, SEEK_SET) < 0 ? -1 : io.read(c->fd, have, n);
    same = got == (ssize_t)n && !memcmp(have, header, n);
    free(have);
    if (got < 0)
        return err_errno(e, "cannot read %s", c->path);
    if (!same && !(which == RECORD_EPOCHS && r->checked))
        return err_set(e, ERR_INPUT,
                       "%s has other columns than this version writes: this run cannot go on",
                       c->path);
    return ERR_OK;
}

static enum err_code write_file(const char *folder, const char *name, const char *text, size_t n,
                                struct err *e)
{
    char *path = io_path(folder, name);
    int fd = io.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum err_code code = ERR_OK;

    if (fd < 0) {
        code = err_errno(e, "cannot create %s", path);
    } else {
        code = io_write_all(fd, text, n, path, e);
        if (code == ERR_OK && io.sync(fd) < 0)
            code = err_errno(e, "cannot write %s to the disk", path);
        if (io.close(fd) < 0 && code == ERR_OK)
            code = err_errno(e, "cannot write %s", path);
    }
    free(path);
    return code;
}

/* Only what was made here: a folder of somebody else is never emptied. */
static void remove_folder(const char *folder)
{
    static const char *const names[] = {"experiment.ini", "model.net", "run.csv",     "epochs.csv",
                                        "members.csv",    "steps.csv", "devices.csv", "log.txt",
                                        "control",        "lock"};

    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        char *path = io_path(folder, names[i]);
        io.unlink(path);
        free(path);
    }
    io.rmdir(folder);
}

static enum err_code fill_folder(struct record *r, const struct record_run *run, const char *ini,
                                 const char *net_text, bool members, struct err *e)
{
    struct text text = {0};
    enum err_code code;

    TRY(write_file(r->folder, "model.net", net_text, strlen(net_text), e));
    TRY(open_common(r, e));
    TRY(write_file(r->folder, "experiment.ini", ini, strlen(ini), e));
    record_run_text(run, &text);
    code = write_file(r->folder, "run.csv", text.s, text.n, e);
    text_free(&text);
    if (code != ERR_OK)
        return code;
    for (int i = 0; i < RECORD_CSVS; i++) {
        if (i != RECORD_MEMBERS || members)
            TRY(record_open_csv(r, (enum record_csvs)i, e));
    }
    return record_sync(r, e);
}

/* "2026-11-20-101530-412-cnn-ens4-7f3a". The digits tell runs of one name and moment apart. */
static void name_run(struct record_run *run, const char *ini, const char *net_text, int attempt)
{
    double now = clock_wall();
    char stamp[CLOCK_UTC_ROOM], label[72], hex[5];
    struct hash_sha256 h;
    uint8_t digest[32];
    int seed[2] = {(int)getpid(), attempt};

    clock_stamp(stamp, now);
    record_label(&run->spec, label, sizeof label);
    hash_sha256_start(&h);
    hash_sha256_add(&h, ini, strlen(ini));
    hash_sha256_add(&h, net_text, strlen(net_text));
    hash_sha256_add(&h, stamp, strlen(stamp));
    hash_sha256_add(&h, seed, sizeof seed);
    hash_sha256_end(&h, digest);
    hash_hex(hex, digest, 2);
    snprintf(run->run, sizeof run->run, "%s-%s-%s", stamp, label, hex);
    if (!run->started_utc[0])
        clock_utc(run->started_utc, now);
    if (!run->pid)
        run->pid = getpid();
    if (!run->host[0])
        gethostname(run->host, sizeof run->host - 1);
}

static void move_record(struct record *r, const char *folder)
{
    free(r->folder);
    r->folder = mem_text(folder);
    for (int i = 0; i < RECORD_CSVS; i++) {
        free(r->csv[i].path);
        r->csv[i].path = io_path(folder, r->csv[i].name);
    }
}

/* *again: a run of that name is there. */
static enum err_code create_once(struct record **out, const char *results,
                                 const struct record_run *run, const char *ini,
                                 const char *net_text, bool members, bool *again, struct err *e)
{
    char *hidden = mem_textf("%s/.%s", results, run->run), *dotted = io_temporary(hidden);
    char *folder = io_path(results, run->run);
    struct record *r = NULL;
    enum err_code code = ERR_OK;
    bool made = false;

    *again = false;
    if (io_exists(folder)) {
        *again = true;
        code = err_set(e, ERR_FAILED, "%s is there already", folder);
    } else if (io.mkdir(dotted, 0777) < 0) {
        *again = errno == EEXIST;
        code = err_errno(e, "cannot make folder %s", folder);
    } else {
        made = true;
        r = new_record(dotted);
        record_marks_of(&r->marks, run);
        code = fill_folder(r, run, ini, net_text, members, e);
    }
    if (code == ERR_OK)
        code = io_sync_folder(dotted, e);
    if (code == ERR_OK && io.rename(dotted, folder) < 0) {
        *again = errno == EEXIST || errno == ENOTEMPTY;
        code = err_errno(e, "cannot rename %s to %s", dotted, folder);
    } else if (code == ERR_OK) {
        move_record(r, folder);
        code = io_sync_folder(results, e);
    }
    if (code != ERR_OK) {
        if (made)
            remove_folder(r->folder);
        record_close(r);
        r = NULL;
    }
    *out = r;
    free(hidden);
    free(dotted);
    free(folder);
    return code;
}

/* Not through a link: a folder of somebody else would be emptied. */
static void remove_begun(const char *folder)
{
    int fd = io.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

    if (fd < 0)
        return;
    io.close(fd);
    remove_folder(folder);
}

void record_remove_begun(const char *results)
{
    char **names;
    size_t n;

    if (io_list_folder(results, &names, &n, NULL) != ERR_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char *path = io_path(results, names[i]);

        if (names[i][0] == '.' && io_is_of_dead(names[i]))
            remove_begun(path);
        free(path);
    }
    io_free_names(names, n);
}

enum err_code record_create(struct record **out, const char *results, struct record_run *run,
                            const char *ini, const char *net_text, bool members, struct err *e)
{
    enum err_code code;
    bool again;

    *out = NULL;
    TRY(io_make_folders(results, e));
    for (int attempt = 0;; attempt++) {
        name_run(run, ini, net_text, attempt);
        code = create_once(out, results, run, ini, net_text, members, &again, e);
        if (!again || attempt == 20)
            return code;
        clock_sleep_ms(1);
    }
}

/* What a killed owner left half written: "run.csv.tmp-1234", ".checkpoint.safetensors.tmp". Predictions are
 * kept by others too, who may be at it. */
static bool is_leftover(const char *name)
{
    const char *tmp = strstr(name, ".tmp");

    if (!strncmp(name, ".predictions.", strlen(".predictions.")))
        return io_is_of_dead(name);
    return tmp && (!tmp[4] || tmp[4] == '-');
}

static enum err_code open_all(struct record *r, struct err *e)
{
    char *path;
    struct record_run *run;
    bool members;

    TRY(open_common(r, e));
    io_remove_leftovers(r->folder, is_leftover);
    path = io_path(r->folder, "members.csv");
    members = io_exists(path);
    free(path);
    path = io_path(r->folder, "run.csv");
    run = mem_new(1, sizeof *run);
    if (record_read_run(path, run, NULL) == ERR_OK) {
        members = members || run->spec.mode == SPEC_ENSEMBLE;
        record_marks_of(&r->marks, run);
        r->checked = run->epochs_check[0];
    }
    free(run);
    free(path);
    for (int i = 0; i < RECORD_CSVS; i++) {
        if (i != RECORD_MEMBERS || members)
            TRY(record_open_csv(r, (enum record_csvs)i, e));
    }
    return record_load_rows(r, e);
}

enum err_code record_open(struct record **out, const char *folder, struct err *e)
{
    struct record *r;
    char *path = io_path(folder, "run.csv");
    bool is_run = io_exists(path);
    enum err_code code;

    *out = NULL;
    free(path);
    if (!is_run) /* no lock file is made in a folder that is none of ours */
        return err_set(e, ERR_INPUT, "%s is not the folder of a run: it has no run.csv", folder);
    r = new_record(folder);
    code = open_all(r, e);
    if (code != ERR_OK) {
        record_close(r);
        return record_say_read_only(folder, e);
    }
    *out = r;
    return ERR_OK;
}

enum err_code record_write_run(struct record *r, const struct record_run *run, struct err *e)
{
    struct text text = {0};
    char *path = io_path(r->folder, "run.csv");
    struct record_run *marked = mem_new(1, sizeof *marked);
    enum err_code code;

    *marked = *run;
    memcpy(marked->tags, r->marks.tags, sizeof marked->tags);
    memcpy(marked->note, r->marks.note, sizeof marked->note);
    record_check_rows(r, marked);
    record_run_text(marked, &text);
    code = io_replace_own(path, text.s, text.n, e);
    text_free(&text);
    free(marked);
    free(path);
    return code;
}

enum err_code record_write_ini(struct record *r, const char *ini, struct err *e)
{
    char *path = io_path(r->folder, "experiment.ini");
    enum err_code code = io_replace_own(path, ini, strlen(ini), e);

    free(path);
    return code;
}

/* A log that cannot be written must not end a run. */
void record_log(struct record *r, const char *line)
{
    char utc[CLOCK_UTC_ROOM];
    struct text text = {0};

    clock_utc(utc, clock_wall());
    text_addf(&text, "%s %s", utc, line);
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] == '\n')
            text.s[i] = ' ';
    }
    text_add(&text, "\n");
    if (io_write_all(r->log, text.s, text.n, "log.txt", NULL) != ERR_OK)
        log_say(LOG_DEBUG, "log.txt of %s could not be written", r->folder);
    text_free(&text);
}
