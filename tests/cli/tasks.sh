# A command that a launcher starts in several tasks: a single run is refused, a sweep is shared. The variables
# are those that srun, mpirun, mpiexec and torchrun set.
. "${BASH_SOURCE%/*}/lib.sh"

if ! command -v setsid >/dev/null; then
    skip "tasks of a launcher" "there is no setsid"
    finish
fi

# task VARIABLE=VALUE... COMMAND...: a task has no terminal
task()
{
    setsid -w env "$@"
}
srun="SLURM_JOB_ID=7 SLURM_NTASKS=2 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2"
words="would train the same experiment, as a separate run: start one task (several tasks can share the cells of a sweep"

while read -r name size rank; do
    refused "two tasks of $name" "each of the 2 tasks ($size = 2) $words" \
        task $size=2 $rank=1 "$CHORUS" run tiny.ini
    check "one task of $name trains" exits 0 task $size=1 $rank=0 "$CHORUS" run tiny.ini --quiet
    rm -rf results
    check "$size without a rank says nothing" exits 0 task $size=2 "$CHORUS" run tiny.ini --quiet
    rm -rf results
done <<'END'
srun SLURM_STEP_NUM_TASKS SLURM_PROCID
mpirun OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK
mpiexec PMI_SIZE PMI_RANK
torchrun WORLD_SIZE RANK
END
refused "--background is refused too" "$words" task $srun SLURM_PROCID=0 "$CHORUS" run tiny.ini --background
refused "and --queue" "$words" task $srun SLURM_PROCID=0 "$CHORUS" run tiny.ini --queue
check "a dry run trains nothing" exits 0 task $srun SLURM_PROCID=0 "$CHORUS" run tiny.ini --dry-run
check "nor does help" exits 0 task $srun SLURM_PROCID=0 "$CHORUS" run --help
check "CHORUS_TASKS=1 allows it" exits 0 task $srun SLURM_PROCID=0 CHORUS_TASKS=1 "$CHORUS" run tiny.ini --quiet
rm -rf results

# What is one task: the shell of salloc, a batch script, mpirun -np 1 on a machine that srun reached.
check "the shell of salloc" exits 0 task SLURM_JOB_ID=7 SLURM_NTASKS=2 "$CHORUS" run tiny.ini --quiet
check "a batch script" exits 0 task SLURM_JOB_ID=7 SLURM_NTASKS=2 SLURM_PROCID=0 "$CHORUS" run tiny.ini --quiet
check "mpirun -np 1 in a step of two tasks" \
    exits 0 task $srun SLURM_PROCID=1 OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 "$CHORUS" run tiny.ini --quiet
rm -rf results

# A run that was stopped.
"$CHORUS" run tiny.ini epochs=100000 --quiet >out 2>err </dev/null &
pid=$!
echo $pid >run.pid
until_true 60 eval 'has_rows results/2*/steps.csv 3'
kill -TERM $pid
wait $pid
rm run.pid
for run in "" @; do
    refused "resume $run" "each of the 2 tasks (SLURM_STEP_NUM_TASKS = 2) would resume the same run: start one task" \
        task $srun SLURM_PROCID=0 timeout 20 "$CHORUS" resume $run
done
rm -rf results

# share ARGUMENT...: the same command in two tasks
share()
{
    local rank
    for rank in 0 1; do
        task $srun SLURM_PROCID=$rank "$CHORUS" "$@" >out$rank 2>err$rank </dev/null &
        tasks[rank]=$!
    done
    wait ${tasks[0]} && wait ${tasks[1]}
}
cells_once()
{
    [ "$(ls results/sweeps) $(ls -d results/2*/ | wc -l)" = "$1 4" ] &&
        [ "$(grep -c ,running, "results/sweeps/$1/ledger.csv")" = 4 ]
}
check "two tasks run a sweep" share run tiny.ini lr=0.1,0.2 batch=40,50 --name two --quiet
check "and share its cells" cells_once two
check "and go on with it" share resume two --quiet
check "where nothing is missing" cells_once two
rm -rf results
check "without a name too" share run tiny.ini lr=0.1,0.2 batch=40,50 --quiet
check "it is one sweep" cells_once tiny
rm -rf results

# What a task starts is one task.
cat >next.sh <<'END'
[ -e once ] || { : >once && "$CHORUS" run tiny.ini name=next --quiet; }
END
export CHORUS
check "a sweep whose first cell starts a run" \
    exits 0 task $srun SLURM_PROCID=0 "$CHORUS" run tiny.ini lr=0.1,0.2 "on_end=sh $PWD/next.sh" --quiet
check "trains that" state_is "$(echo results/2*-next-*)" done
rm -rf results

if has_terminals; then
    cat >typed.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
    # `srun -n2 --pty bash` runs the shell in its first task alone.
    check "what a person types in a step of two tasks" \
        exits 0 python3 typed.py env $srun SLURM_PROCID=0 "$CHORUS" run tiny.ini --background
    check "trains" until_true 60 state_is "$(echo results/2*)" done
    check "but not in tasks of mpirun, which have the terminal" \
        exits 2 python3 typed.py env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$CHORUS" run tiny.ini
else
    skip "a person in a step of two tasks" "$lack"
fi
finish
