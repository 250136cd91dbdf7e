/* cli/args/launcher.c: finds in the environment how many tasks a launcher started with this command. */
#include "cli/args/launcher.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define OWN "CHORUS_TASKS"

/* The first launcher whose variables are set counts: mpirun runs inside a job of Slurm, not the other way.
 * salloc's shell and a batch script are one task, and have no SLURM_STEP_NUM_TASKS. */
static const struct {
    const char *rank, *size;
    bool srun; /* srun sets them: `srun -n4 --pty bash` runs a shell in the first task alone */
} launchers[] = {
    {OWN, OWN, false},
    {"RANK", "WORLD_SIZE", false},                           /* torchrun */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false}, /* mpirun of Open MPI */
    {"PMI_RANK", "PMI_SIZE", true},                          /* mpiexec of MPICH, srun --mpi=pmi2 */
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
};

static const char *variable;
static int64_t tasks = 1;

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool counts(const char *rank, const char *size)
{
    const char *value = getenv(size);
    int64_t n;

    if (!getenv(rank) || !value || !text_to_int(value, &n) || n < 1)
        return false;
    tasks = n;
    return true;
}

void launcher_start(void)
{
    size_t i = 0;

    while (i < MEM_COUNT(launchers) && !counts(launchers[i].rank, launchers[i].size))
        i++;
    if (i == MEM_COUNT(launchers) || tasks < 2)
        return;
    setenv(OWN, "1", 1);
    variable = launchers[i].size;
    if (launchers[i].srun && getenv("SLURM_PROCID") && has_terminal())
        tasks = 1;
}

int launcher_check_single(const char *what)
{
    if (tasks < 2)
        return CLI_ON;
    return cli_refuse(
        "%s = %lld: each of these tasks would %s. Start one task, or a sweep such as lr=0.05,0.1, "
        "whose cells the tasks share (CHORUS_TASKS=1 says that this task is alone)",
        variable, (long long)tasks, what);
}
