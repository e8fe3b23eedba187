#!/bin/bash
#PBS -N training
#PBS -q rt_HG
#PBS -l select=1:mpiprocs=1:ompthreads=8
#PBS -l walltime=2:00:00
#PBS -P gaa50000
#PBS -J 0-49
#PBS -j oe
#PBS -o /groups/gaa50000/runs/ocean/jobs/training/scheduler_^array_index^.log
# training for abci3: 1 node x 1 rank x 8 threads
# 250 items of stage training, after those of modes
cd /groups/gaa50000/runs/ocean/jobs/training || exit 1
exec >> "$(printf task_%04d.log "${PBS_ARRAY_INDEX:-0}")" 2>&1
declare -A had; for name in $(compgen -e); do had[$name]=${!name}; done
source /etc/profile.d/modules.sh
module load gcc/13.2.0 cuda/12.6/12.6.1 hpcx/2.20
# What modules and variables have set goes to ranks on other nodes, too.
QUINTET_HAND_ON=
for name in $(compgen -e); do
  case $name in
    PATH | LD_LIBRARY_PATH | OMP_* | QUINTET_*) ;;
    PWD | OLDPWD | SHLVL | _ | OMPI_* | PMI_* | PMIX_*) continue ;;
    *) if [ "${had[$name]-unset}" = "${!name}" ]; then continue; fi ;;
  esac
  QUINTET_HAND_ON+=" -x $name"
done
export QUINTET_HAND_ON
# mpirun kills its ranks so many seconds after it has told them to end: time for a checkpoint.
export OMPI_MCA_odls_base_sigkill_timeout=7 PRTE_MCA_odls_base_sigkill_timeout=7

# A line of `items` for each task: the keys of what it runs.
keys=$(sed -n "$((${PBS_ARRAY_INDEX:-0} + 1))p" items)

# Signals end here: hand them on to the ranks as USR1, at which they write a checkpoint and end with code 75.
program= asked=
trap 'asked=1; kill -USR1 $program 2> /dev/null' USR1 TERM HUP
/opt/quintet/bin/quintet campaign '/projects/my group/ocean.yaml' --output /groups/gaa50000/runs/ocean \
  --machine abci3 --path /home/ada/bin:/usr/bin \
  --items "$keys" --walltime 1:50:00 &
program=$!
if [ "$asked" ]; then kill -USR1 $program 2> /dev/null; fi  # a signal came before there was whom to tell
asked=1
while [ "$asked" ]; do asked=; wait $program; code=$?; done
exit $code
