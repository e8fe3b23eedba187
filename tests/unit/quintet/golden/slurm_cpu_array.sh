#!/bin/bash
#SBATCH --job-name=weibel
#SBATCH --partition=cpu
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=128
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@180
#SBATCH --array=0-11
#SBATCH --open-mode=append
#SBATCH --output='/projects/my group/it'\''s/scheduler.log'
#SBATCH --hint=nomultithread
# weibel for slurm_cpu: 1 node x 128 ranks x 1 thread
cd '/projects/my group/it'\''s'/"$(printf %04d "${SLURM_ARRAY_TASK_ID:-0}")" || exit 1
exec >> job.log 2>&1
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

# A link has nothing to do once the run has ended, and ends it where the one before began at the same checkpoint.
newest() { ls checkpoints 2> /dev/null | grep '^step_.*\.h5$' | tail -n 1; }
if [ -e job.ended ]; then echo "Nothing to do: $(cat job.ended)"; exit 0; fi
if [ -e job.began ] && [ "$(cat job.began)" = "at $(newest)" ]; then
  echo "no progress since the job before, at checkpoint '$(newest)'" | tee job.ended
  exit 1
fi
echo "at $(newest)" > job.began

srun /opt/quintet/bin/vlasov run weibel.yaml --output "$PWD" --restart auto \
  --walltime 23:55:00 --threads 1 &
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
