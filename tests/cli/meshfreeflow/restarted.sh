#!/bin/sh
# restarted.sh RANKS FILE [--set KEY=VALUE ...]: a run that was stopped after 17 steps and went on is the uninterrupted one, to the last bit.
ranks=$1 file=$2
shift 2
run() { mpirun --oversubscribe -n "$ranks" meshfreeflow simulate "$file" --quiet --threads 1 "$@"; }
case "$*" in *spectrogram*) spectrogram=/spectrogram ;; *spectrum*) spectrogram=/spectrum ;; *) spectrogram=/history ;; esac
run "$@" --output whole --overwrite || exit 1
run "$@" --output parts --overwrite --set time.steps=17 || exit 1
run "$@" --output parts --restart auto || exit 1
h5diff whole/run.h5 parts/run.h5 /history /history && h5diff whole/run.h5 parts/run.h5 /spectra /spectra &&
  h5diff whole/run.h5 parts/run.h5 $spectrogram $spectrogram &&
  h5diff whole/fields.h5 parts/fields.h5 /t0_fields /t0_fields &&
  h5diff whole/fields.h5 parts/fields.h5 /t1_fields /t1_fields && h5diff whole/fields.h5 parts/fields.h5 /dimensions /dimensions
