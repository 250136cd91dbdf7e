#include "cli/out/overwrite.h"

#include "base/io.h"
#include "base/mem.h"
#include "draw/figure.h"
#include "record/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define START 4096 /* bytes of a file that tell who wrote it */

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* The confusion matrix: its second row has the name of its second column. "label,pixel1,..." is a data
 * set. */
static bool is_confusion(const char *s)
{
    const char *line = strchr(s, '\n'), *head = strchr(s, ',');
    size_t n = head ? strcspn(++head, ",\n") : 0;

    return begins(s, "label,") && line && n && !strncmp(line + 1, head, n) && line[1 + n] == ',';
}

/* What tables and `export` call a column, beside the names that run.csv and epochs.csv have. */
static bool is_column(const char *name)
{
    static const char *const own[] = {
        "n",           "picked",        "gain_mean",     "gain_best",      "last.gain_mean",
        "read_at",     "difference",    "difference_lo", "difference_hi",  "last.gain_best",
        "runs",        "difference_n",  "speed_up",      "schedule_ended", "efficiency",
        "input",       "compute",       "reduce",        "wait",           "mark",
        "target_n",    "target_epoch",  "member",        "device",         "target_model_images",
        "real",        "temperature_c", "power_watts",   "gpu_percent",    "target_device_seconds",
        "prefix_acc",  "memory_bytes",  "lr_now",        "loss",           "acc",
        "probability", "prediction",    "image",         "label"};

    for (size_t i = 0; i < MEM_COUNT(own); i++)
        if (!strcmp(name, own[i]))
            return true;
    return record_column_is(name);
}

/* results/2026-11-20-101530-412-cnn-7f3a */
static bool is_run_name(const char *name)
{
    return strspn(name, "0123456789") == 4 && strspn(name, "0123456789-") >= 21;
}

/* Of all fields of the first line, as far as that stands in the start of the file; a field of the names
 * that experiments and models have may be quoted, and is none of these. */
static bool all_columns(const char *s, bool (*is)(const char *name))
{
    char name[128];

    for (size_t n;; s += n + 1) {
        n = strcspn(s, ",\r\n");
        if (!s[n])
            return true;
        if (n >= sizeof name)
            return false;
        memcpy(name, s, n);
        name[n] = '\0';
        name[text_stem(name, "_sd")] = '\0';
        if (!is(name))
            return false;
        if (s[n] != ',')
            return true;
    }
}

/* Tables begin with the run, wide exports have one a column. A person's table may do the first too, so
 * that all names of it are looked at. */
static bool is_csv(const char *s)
{
    return (begins(s, "run,") && all_columns(s, is_column)) ||
           (begins(s, "epoch,") && all_columns(s + strlen("epoch,"), is_run_name)) ||
           begins(s, "image,label,prediction,probability") ||
           begins(s, "class,images,accuracy,precision,taken_for\n") || is_confusion(s) ||
           figure_is_csv(s);
}

static bool is_md(const char *s)
{
    const char *line = strchr(s, '\n');

    return begins(s, "| ") && line && begins(line + 1, "|--");
}

static bool is_tex(const char *s)
{
    return begins(s, "% \\usepackage{booktabs") || begins(s, "% \\usepackage{pgfplots}");
}

static bool is_html(const char *s)
{
    return begins(s, "<table>\n<thead><tr><th");
}

static bool is_json(const char *s)
{
    return begins(s, "[\n {\"") || begins(s, "[\n]");
}

/* Of a name that says nothing: --md, --tex and the like write there too. */
static bool is_table(const char *s)
{
    return begins(s, "run  ") || is_csv(s) || is_md(s) || is_tex(s) || is_html(s) || is_json(s);
}

static bool is_svg(const char *s)
{
    return begins(s, "<svg xmlns=") && strstr(s, "<style>\nsvg { color-scheme: light dark;");
}

static bool is_pdf(const char *s)
{
    return begins(s, "%PDF-1.4\n") &&
           strstr(s, "\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n");
}

static const struct form {
    const char *end, *name;
    bool (*is)(const char *start); /* START bytes of it, 0 bytes turned into blanks */
} forms[] = {{".csv", "a CSV file", is_csv},   {".md", "a Markdown table", is_md},
             {".tex", "LaTeX", is_tex},        {".html", "an HTML table", is_html},
             {".json", "JSON", is_json},       {".svg", "an SVG figure", is_svg},
             {".pdf", "a PDF figure", is_pdf}, {".safetensors", "weights", NULL},
             {"", "a table", is_table}};

/* Weights may have any name. */
static const struct form *form_of(const char *verb, const char *file)
{
    const char *slash = strrchr(file, '/'), *end = strrchr(slash ? slash : file, '.');
    const struct form *form = forms;

    if (!strcmp(verb, "weights"))
        end = ".safetensors";
    while (*form->end && (!end || strcasecmp(end, form->end) != 0))
        form++;
    return form;
}

/* Behind eight bytes of length. */
static bool is_weights(const char *start, size_t n)
{
    return n > 8 && begins(start + 8, "{\"__metadata__\":{\"sha256\":\"");
}

/* A run's run.csv begins as an export does, its checkpoints and predictions as weights do, which have
 * no notes but their checksum. */
static bool is_of_run(const char *start, size_t n)
{
    return begins(start, "run,sweep,cell,state,reason,pid,") ||
           (is_weights(start, n) && strstr(start + 8, "\",\"chorus."));
}

static bool same_first_line(const char *start, const struct text *bytes)
{
    const char *s = bytes ? text_str(bytes) : "";
    size_t n = strcspn(s, "\n");

    return n && s[n] && !strncmp(start, s, n + 1);
}

/* *n: bytes that stand in `start`; 0 where the file is not there or is empty. */
static enum err_code read_start(const char *file, char start[START], size_t *n, struct err *e)
{
    int fd = io.open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    struct stat st;
    ssize_t got = 0;

    *n = 0;
    if (fd < 0)
        return errno == ENOENT ? ERR_OK : err_errno(e, "cannot open %s", file);
    /* What is no regular file is refused by whoever writes it. */
    if (io.fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        got = io.read(fd, start, START - 1);
    if (got < 0)
        err_errno(e, "cannot read %s", file);
    io.close(fd);
    if (got < 0)
        return e->code;
    *n = (size_t)got;
    start[*n] = 0;
    return ERR_OK;
}

enum err_code overwrite_check(const char *verb, const char *option, const char *file,
                              const struct text *bytes, struct err *e)
{
    const struct form *form;
    char start[START];
    bool ours;
    size_t n;

    if (!file || !strcmp(file, "-"))
        return ERR_OK;
    TRY(read_start(file, start, &n, e));
    if (!n) /* it is not there, or empty */
        return ERR_OK;
    if (is_of_run(start, n))
        return err_set(
            e, ERR_INPUT,
            "%s %s %s: that is a file of a run, of which it is a part, and stays as it is; "
            "give %s another name",
            verb, option, file, option);
    form = form_of(verb, file);
    if (!form->is) {
        ours = is_weights(start, n);
    } else {
        for (size_t i = 0; i < n; i++)
            start[i] = start[i] ? start[i] : ' ';
        ours = form->is(start) || same_first_line(start, bytes);
    }
    if (ours)
        return ERR_OK;
    return err_set(
        e, ERR_INPUT,
        "%s %s %s: what lies there is not %s that chorus wrote, and stays as it is; give "
        "%s another name, or move that file away",
        verb, option, file, form->name, option);
}
