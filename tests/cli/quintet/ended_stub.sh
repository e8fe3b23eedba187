#!/bin/sh
# A stand-in for sbatch, squeue, scancel and sinfo by these names, in a folder of its own: jobs get numbers from 1 on and never run;
# squeue says what the file `state` there says. What sbatch and scancel were asked is kept in `words`; scancel refuses what `stuck` names,
# and while there is a file `slow` sbatch takes a second.
folder=$(dirname "$0")
case $(basename "$0") in
  sbatch) if [ -e "$folder/slow" ]; then sleep 1; fi
    echo "sbatch $*" >> "$folder/words"; grep -c '^sbatch' "$folder/words" ;;
  scancel) for id; do :; done
    if grep -qx "$id" "$folder/stuck" 2> /dev/null; then echo "scancel: error: Kill job error on job id $id" >&2; exit 1; fi
    echo "scancel $*" >> "$folder/words" ;;
  squeue) cat "$folder/state" ;;
  sinfo) printf 'n1|idle\nn2|down*\n' ;;
esac
