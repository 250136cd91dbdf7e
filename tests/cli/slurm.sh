# A real Slurm of one machine, made of namespaces, starts the program: in several tasks, and with the signals
# that Slurm sends. Only `make check-all` runs it.
. "${BASH_SOURCE%/*}/lib.sh"

((${CHORUS_TEST_ALL:-0})) || { skip "Slurm" "only make check-all starts one"; finish; }
for need in slurmctld slurmd munged srun unshare ip; do
    PATH=$PATH:/usr/sbin command -v $need >/dev/null || { skip "Slurm" "there is no $need"; finish; }
done
[ "$(id -u)" = 0 ] && unshare --mount --pid --net --uts --fork true 2>/dev/null || {
    skip "Slurm" "only root can make a machine of namespaces"
    finish
}

# one.sh COMMAND...: on a machine of its own, which ends with the command
cat >one.sh <<'END'
mount --make-rprivate /
hostname one
ip link set lo up
ip link add one type bridge # Slurm looks names up only where there is a network besides the loopback
ip addr add 10.9.0.1/24 dev one
ip link set one up
printf '127.0.0.1 localhost\n10.9.0.1 one\n' >hosts
mount --bind hosts /etc/hosts
for folder in /run /var/spool /var/log; do mount -t tmpfs tmpfs $folder; done
mkdir -p /run/munge /var/log/munge /var/spool/slurmd /var/spool/slurmctld
chown munge /run/munge /var/log/munge
runuser -u munge -- /usr/sbin/munged || exit 9
cat >slurm.conf <<CONF
ClusterName=one
SlurmctldHost=one(10.9.0.1)
SlurmUser=root
SlurmdUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
NodeName=one NodeAddr=10.9.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=one Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$PWD/slurm.conf
/usr/sbin/slurmctld && /usr/sbin/slurmd -N one || exit 9
until [ "$(timeout 5 sinfo -h -o %T)" = idle ] || ((SECONDS > 30)); do
    sleep 0.1
done
((SECONDS > 30)) && exit 9
"$@"
END
slurm()
{
    timeout -s KILL 100 unshare --mount --pid --net --uts --ipc --fork --kill-child --mount-proc bash one.sh "$@"
}
slurm true >out 2>err
[ $? = 9 ] && { skip "Slurm" "it does not come up: $(tail -n 1 err)"; finish; }

check "srun -n2 of one run is refused" exits 2 slurm srun -n2 "$CHORUS" run tiny.ini
check "by both tasks" test "$(grep -c 'SLURM_STEP_NUM_TASKS = 2: each of these tasks would train' err)" = 2
check "and leaves nothing" test ! -e results
check "srun -n2 of a sweep" exits 0 slurm srun -n2 "$CHORUS" run tiny.ini lr=0.1,0.2 batch=40,50 --name two --quiet
check "its tasks share its cells" test "$(grep -c ,running, results/sweeps/two/ledger.csv)" = 4
rm -rf results
check "the shell of salloc is one task" exits 0 slurm salloc -n2 "$CHORUS" run tiny.ini --quiet
rm -rf results

# A signal to the step, as Slurm sends it before the time limit.
cat >signal.sh <<'END'
srun -n1 "$CHORUS" run tiny.ini epochs=100000 --quiet &
for ((i = 0; i < 600; i++)); do
    [ -s results/2*/checkpoint.safetensors ] || [ "$(cat results/2*/steps.csv 2>/dev/null | wc -l)" -gt 3 ] && break
    sleep 0.1
done
scancel -s $1 "$(squeue -h -o %A)"
wait $!
END
export CHORUS
for signal in $terms; do
    check "SIG$signal from Slurm ends with 143" exits 143 slurm bash signal.sh $signal
    check "the run is resumable" state_is "$(echo results/2*)" stopped
    rm -rf results
done
finish
