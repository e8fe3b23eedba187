#!/bin/bash
#SBATCH --job-name=weibel
#SBATCH --partition=gpu
#SBATCH --account=gaa50000
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-node=4
#SBATCH --mem=381470M
#SBATCH --time=2:00:00
#SBATCH --signal=B:USR1@180
#SBATCH --open-mode=append
#SBATCH --output=/groups/gaa50000/runs/weibel/scheduler.log
# weibel for slurm_gpu: 4 nodes x 8 ranks x 8 threads
cd /groups/gaa50000/runs/weibel || exit 1
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
  --walltime 1:50:00 --threads 8 &
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
