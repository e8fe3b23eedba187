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
#SBATCH --output='/projects/my group/it'\''s/scheduler_%a.log'
#SBATCH --hint=nomultithread
# weibel for slurm_cpu: 1 node x 128 ranks x 1 thread
cd '/projects/my group/it'\''s'/"$(printf %04d "${SLURM_ARRAY_TASK_ID:-0}")" || exit 1
exec >> job.log 2>&1
export SLURM_EXPORT_ENV=ALL
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

# A link has nothing to do once the run has ended, and ends it where the three before began at the same checkpoint.
newest() { ls checkpoints 2> /dev/null | grep '^step_.*\.h5$' | tail -n 1; }
word() { sed -n "s/^$1: //p" .quintet/last_word 2> /dev/null | head -n 1; }
# Of job.began: lines `START at CHECKPOINT`, and `START left` of one that found another at work.
starts_here() {
  cat job.began 2> /dev/null | awk -v now="$(newest)" '
    $2 == "at" { name[++n] = $1; at[$1] = $3 }
    $2 == "left" { delete at[$1] }
    END { for (; n > 0; n--) if (name[n] in at) { if (at[name[n]] != now) break; k++ } print k + 0 }'
}
# Launchers end with codes of their own: what counts is the last word of the program itself, of start $1.
heed() {
  mv -f ".quintet/last_word_$1" .quintet/last_word 2> /dev/null
  last= reason=
  if [ "$(word start)" = "$1" ]; then last=$(word code) reason=$(word reason); fi
  if [ "$last" ] && [ "$(word directory)" = "in use" ]; then last="in use"; fi
  case $last in 0 | 1 | 2 | 3 | 4 | 70) echo "exit code $last${reason:+: $reason}" > job.ended ;; esac
}
former=$(tail -n 1 job.began 2> /dev/null)
if [ "$former" ] && [ ! -e job.ended ]; then heed "${former%% *}"; fi  # the job before was killed while it ended
if [ -e job.ended ]; then echo "Nothing to do: $(cat job.ended)"; exit 0; fi
begin=$(newest) starts=$(starts_here)
if [ "$starts" -ge 3 ]; then
  echo "no progress: $starts jobs began at checkpoint '$begin' and came no further" | tee job.ended
  exit 1
fi
if [ "$starts" -gt 0 ]; then echo "The job before came no further than checkpoint '$begin': try $((starts + 1)) of 3"; fi
mkdir -p .quintet
export QUINTET_START="$(date +%s)_$$_$RANDOM"
echo "$QUINTET_START at $begin" >> job.began

# Signals end here: hand them on to the ranks as USR1, at which they write a checkpoint and end with code 75.
program= asked=
trap 'asked=1; kill -USR1 $program 2> /dev/null' USR1 TERM HUP
srun /opt/quintet/bin/vlasov run weibel.yaml --output "$PWD" --restart auto \
  --walltime 23:55:00 --threads 1 &
program=$!
if [ "$asked" ]; then kill -USR1 $program 2> /dev/null; fi  # a signal came before there was whom to tell
asked=1
while [ "$asked" ]; do asked=; wait $program; code=$?; done
heed "$QUINTET_START"
case $last in
  "in use")
    echo "$QUINTET_START left" >> job.began
    echo "another run has this directory, which this job leaves alone"
    exit 0 ;;
  75)
    if [[ $reason == walltime* && "$(newest)" == "$begin" ]]; then
      echo "no progress: began and ended at checkpoint '$begin', as the $reason" | tee job.ended
      exit 1
    fi
    if [ "$(newest)" ]; then with=with next="goes on"; else with=without next="begins anew"; fi
    echo "stopped early $with a checkpoint${reason:+ ($reason)}; the next job $next"
    exit 0 ;;
  0 | 1 | 2 | 3 | 4 | 70) exit "$last" ;;
esac
echo "no last word (code $code of the launcher); the next job goes on from checkpoint '$(newest)'"
[ "$code" -ne 0 ] || code=1
exit $code
