#!/bin/sh
# A stand-in for sbatch, squeue, scancel and sinfo by these names, in a folder of its own: jobs get numbers from 1 on and never run;
# squeue says what the file `state` there says. What sbatch and scancel were asked is kept in `words`.
folder=$(dirname "$0")
case $(basename "$0") in
  sbatch) echo "sbatch $*" >> "$folder/words"; grep -c '^sbatch' "$folder/words" ;;
  scancel) echo "scancel $*" >> "$folder/words" ;;
  squeue) cat "$folder/state" ;;
  sinfo) printf 'n1|idle\nn2|down*\n' ;;
esac
