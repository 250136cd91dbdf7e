/* Removing a run moves it to the folder trash beside it, so that moving it back is all that undoing
 * takes. The run's lock is held meanwhile: nobody goes on with a run that is on its way. */
#include "record/trash.h"

#include "base/again.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/record_int.h"
#include "record/run/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A name that is taken in the trash gets a number. */
static enum err_code move(const char *folder, const char *trash, const char *name, char **to,
                          struct err *e)
{
    for (int again = 1; again < 10000; again++) {
        char *target = again == 1 ? mem_textf("%s/%s", trash, name)
                                  : mem_textf("%s/%s-%d", trash, name, again);
        enum err_code code;
        bool taken;

        if (io_exists(target)) {
            free(target);
            continue;
        }
        if (io.rename(folder, target) == 0) {
            *to = target;
            return ERR_OK;
        }
        taken = errno == EEXIST || errno == ENOTEMPTY; /* since the look */
        code = err_errno(e, "cannot move %s to %s", folder, target);
        free(target);
        if (!taken)
            return code;
    }
    return err_set(e, ERR_FAILED, "%s holds 10,000 runs named %s: empty it", trash, name);
}

static enum err_code move_locked(const char *folder, const char *name, char **to, struct err *e)
{
    char *parent = io_folder_of(folder), *trash = io_path(parent, "trash");
    const char *last = strrchr(parent, '/');
    enum err_code code;

    if (!strcmp(last ? last + 1 : parent, "trash"))
        code = err_set(e, ERR_INPUT, "%s is in the trash already", folder);
    else
        code = io_make_folders(trash, e);
    if (code == ERR_OK)
        code = move(folder, trash, name, to, e);
    if (code == ERR_OK) {
        code = io_sync_folder(trash, e);
        if (code == ERR_OK)
            code = io_sync_folder(parent, e);
    }
    if (code != ERR_OK)
        code = record_say_read_only_in(parent, parent, e); /* whoever may write in the run */
    free(trash);
    free(parent);
    return code;
}

enum err_code record_remove(const struct record_entry *entry, char **to, struct err *e)
{
    char *real = realpath(entry->folder, NULL);
    /* "." has no parent to be moved in. */
    const char *folder = real && !strcmp(entry->name, ".") ? real : entry->folder;
    const char *slash = strrchr(folder, '/');
    struct record_hold hold;
    enum err_code code = record_hold(entry->folder, false, &hold, e);

    *to = NULL;
    if (code == ERR_FAILED)
        err_set(e, code, "%s is at work and stays where it is: chorus stop %s%s comes first",
                entry->name, entry->name, again());
    if (code == ERR_OK)
        code = move_locked(folder, slash ? slash + 1 : folder, to, e);
    record_let_go(&hold);
    if (code != ERR_OK)
        code = record_say_read_only(folder, e);
    free(real);
    return code;
}
