#!/bin/sh
# periodic.sh restart RANKS FILE: a run that was stopped after 13 steps and went on is the uninterrupted one, to the last bit.
# periodic.sh ranks FILE: runs of 1, 2 and 3 ranks agree to round-off.
run() {
  ranks=$1
  shift
  mpirun --oversubscribe -n "$ranks" meshfreeflow flow "$file" --quiet --threads 1 --overwrite "$@"
}
case $1 in
  restart)
    file=$3
    run "$2" --output whole || exit 1
    run "$2" --output parts --set time.steps=13 || exit 1
    mpirun --oversubscribe -n "$2" meshfreeflow flow "$file" --quiet --threads 1 --output parts --restart auto || exit 1
    h5diff whole/run.h5 parts/run.h5 /history /history && h5diff whole/run.h5 parts/run.h5 /spectra /spectra &&
      h5diff whole/fields.h5 parts/fields.h5 /t0_fields /t0_fields && h5diff whole/fields.h5 parts/fields.h5 /dimensions /dimensions
    ;;
  ranks)
    file=$2
    run 1 --output one || exit 1
    for ranks in 2 3; do
      run $ranks --output "some$ranks" || exit 1
      h5diff -d 1e-11 one/fields.h5 "some$ranks/fields.h5" /t0_fields /t0_fields || exit 1
      h5diff -d 1e-11 one/run.h5 "some$ranks/run.h5" /history/energy /history/energy || exit 1
    done
    ;;
esac
