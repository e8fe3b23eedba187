#!/bin/bash
#SBATCH --job-name=training
#SBATCH --partition=gpu
#SBATCH --account=gaa50000
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-node=1
#SBATCH --mem=38147M
#SBATCH --time=2:00:00
#SBATCH --signal=B:USR1@180
#SBATCH --array=0-49
#SBATCH --open-mode=append
#SBATCH --output=/groups/gaa50000/runs/ocean/jobs/training/scheduler_%a.log
# training for slurm_gpu: 1 node x 1 rank x 8 threads
# 250 items of stage training, after those of modes
cd /groups/gaa50000/runs/ocean/jobs/training || exit 1
exec >> "$(printf task_%04d.log "${SLURM_ARRAY_TASK_ID:-0}")" 2>&1
export SLURM_EXPORT_ENV=ALL
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

# A line of `items` for each task: the keys of what it runs.
keys=$(sed -n "$((${SLURM_ARRAY_TASK_ID:-0} + 1))p" items)

# Signals end here: hand them on to the ranks as USR1, at which they write a checkpoint and end with code 75.
program= asked=
trap 'asked=1; kill -USR1 $program 2> /dev/null' USR1 TERM HUP
/opt/quintet/bin/quintet campaign '/projects/my group/ocean.yaml' --output /groups/gaa50000/runs/ocean \
  --machine slurm_gpu --path /home/ada/bin:/usr/bin \
  --items "$keys" --walltime 1:55:00 &
program=$!
if [ "$asked" ]; then kill -USR1 $program 2> /dev/null; fi  # a signal came before there was whom to tell
asked=1
while [ "$asked" ]; do asked=; wait $program; code=$?; done
exit $code
