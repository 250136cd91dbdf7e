#include "base/process.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOST 16 /* a file's name has room for 255 bytes, and most of it is the user's */

/* A longer name becomes digits: its end alone may be what tells two machines apart. */
static void host_part(char out[HOST + 1])
{
    char host[256] = "";
    size_t n;

    gethostname(host, sizeof host - 1);
    n = strlen(host);
    if (n > HOST) {
        hash_digits(out, HOST + 1, host, n);
        return;
    }
    for (char *p = host; *p; p++)
        if (strchr("/.-", *p) || *p <= ' ' || *p > '~')
            *p = '_';
    snprintf(out, HOST + 1, "%.*s", HOST, n ? host : "here");
}

char *process_mark(void)
{
    char host[HOST + 1];

    host_part(host);
    return mem_textf("%s-%ld", host, (long)getpid());
}

int64_t process_pid(const char *mark)
{
    char host[HOST + 1], word[24];
    size_t n, digits;
    int64_t pid;

    host_part(host);
    n = strlen(host);
    if (strncmp(mark, host, n) != 0 || mark[n] != '-')
        return 0;
    digits = strspn(mark + n + 1, "0123456789");
    if (!digits || digits >= sizeof word || (mark[n + 1 + digits] && mark[n + 1 + digits] != '-'))
        return 0;
    snprintf(word, sizeof word, "%.*s", (int)digits, mark + n + 1);
    return text_to_int(word, &pid) && pid > 0 && pid <= INT_MAX ? pid : 0;
}

/* Ended, but its parent has not asked how: in a container nobody may ever do so. */
static bool is_zombie(int64_t pid)
{
    char path[32], line[512] = "", *state;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    f = fopen(path, "re");
    if (f) {
        line[fread(line, 1, sizeof line - 1, f)] = 0;
        fclose(f);
    }
    state = strrchr(line, ')'); /* behind the command's name, which may hold anything */
    return state && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
}

bool process_is_dead(const char *mark)
{
    int64_t pid = process_pid(mark);

    return pid && (kill((pid_t)pid, 0) < 0 ? errno == ESRCH : is_zombie(pid));
}
