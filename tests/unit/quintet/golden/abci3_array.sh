#!/bin/bash
#PBS -N weibel
#PBS -q rt_HC
#PBS -l select=1:mpiprocs=16:ompthreads=1
#PBS -l walltime=24:00:00
#PBS -P gaa50000
#PBS -J 0-99
#PBS -j oe
#PBS -o /groups/gaa50000/runs/weibel/scheduler.log
# weibel for abci3: 1 node x 16 ranks x 1 thread
cd /groups/gaa50000/runs/weibel/"$(printf %04d "${PBS_ARRAY_INDEX:-0}")" || exit 1
exec >> job.log 2>&1
source /etc/profile.d/modules.sh
module load gcc/13.2.0 cuda/12.6/12.6.1 hpcx/2.20

# A link has nothing to do once the run has ended, and ends it where the one before began at the same checkpoint.
newest() { ls checkpoints 2> /dev/null | grep '^step_.*\.h5$' | tail -n 1; }
if [ -e job.ended ]; then echo "Nothing to do: $(cat job.ended)"; exit 0; fi
if [ -e job.began ] && [ "$(cat job.began)" = "at $(newest)" ]; then
  echo "no progress since the job before, at checkpoint '$(newest)'" | tee job.ended
  exit 1
fi
echo "at $(newest)" > job.began

mpirun -np 16 -map-by ppr:16:node:PE=1 -hostfile "$PBS_NODEFILE" /opt/quintet/bin/vlasov run weibel.yaml --output "$PWD" --restart auto \
  --walltime 23:50:00 --threads 1 &
program=$!
# Signals end here: hand them on to the ranks as USR1, at which they write a checkpoint and end with code 75.
trap 'asked=1; kill -USR1 $program 2> /dev/null' USR1 TERM
asked=1
while [ "$asked" ]; do asked=; wait $program; code=$?; done
case $code in
  75) echo "stopped early with a checkpoint; the next job goes on" ;;
  0 | 1 | 2 | 3 | 4 | 70) echo "exit code $code" > job.ended ;;  # the program's last word
  *) echo "ended with code $code; the next job goes on from checkpoint '$(newest)'" ;;
esac
exit $code
