#!/bin/sh
# sampled.sh FILE: what observe.spectrogram samples in the middle of a cell is what fields.h5 holds of it: b to single precision;
# velocities, which are linear between two faces here and of fourth order there, to 2 %, also across the periodic end of x; on 1 and 3 ranks.
file=$1
number() { h5dump -d "$2" -s "$3" -c "$4" -m %.9g "$1" | sed -n 's/^ *([0-9,]*): //p' | head -n 1; }
# near TOLERANCE SIGNAL AT DATASET START COUNT: sampled at step 40 beside frame 4
near() {
  tolerance=$1
  shift
  for ranks in 1 3; do
    mpirun --oversubscribe -n $ranks meshfreeflow simulate "$file" --quiet --threads 1 --set time.dt=0.03 --set time.steps=42 \
      --set "observe={spectrogram: {signal: $1, at: $2, window: 16, hop: 3}}" --output sampled --overwrite || exit 1
    sampled=$(number sampled/run.h5 /spectrogram/signal 40,1 1,1)
    held=$(number sampled/fields.h5 "$3" "$4" "$5")
    echo "$1 at $2, $ranks rank(s): $sampled sampled, $held in the frame"
    awk -v a="$sampled" -v b="$held" -v t="$tolerance" 'BEGIN { exit !(a != "" && b != "" && b != 0 && (a - b) ^ 2 <= (t * b) ^ 2) }' || exit 1
  done
}
# 32 x 16 cells on 2 x 1; z has cells of unequal width, whose centres the file knows.
run="--set time.steps=0 --set time.dt=0.03"
meshfreeflow simulate "$file" --quiet --threads 1 $run --output grid || exit 1
x=$(number grid/fields.h5 /dimensions/x 31 1) z0=$(number grid/fields.h5 /dimensions/z 0 1) z=$(number grid/fields.h5 /dimensions/z 10 1)
z7=$(number grid/fields.h5 /dimensions/z 7 1)
near 1e-6 b "[$x, $z7]" /t0_fields/buoyancy 0,4,7,31 1,1,1,1
near 0.02 u "[$x, $z0]" /t1_fields/velocity 0,4,0,31,1 1,1,1,1,1
near 0.02 w "[$x, $z]" /t1_fields/velocity 0,4,10,31,0 1,1,1,1,1
