#!/usr/bin/env bash
# What set-up makes of what an earlier call left behind: an interrupted pip, a processor that does not exist, settings of
# last time. pip and cmake are stand-ins that leave what the real ones leave. Usage: setup_test.sh SOURCE
set -euo pipefail
taken=0
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir -p build bin cmake
failed() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# A pip that installs what it is told, and a CMake that keeps what it is given; both write down that they were called.
site=.venv/lib/python3.11/site-packages
cat > bin/fake_pip <<'TEXT'
#!/bin/bash
[ "$1 $2" = "-m pip" ] || exit 1
[ "$3" != install ] || for package in "${@:4}"; do
  echo "$package" >> pip_installed
  folder=.venv/lib/python3.11/site-packages/${package%%==*}-$(sed -n 's/.*==//p' <<< "$package")+cpu.dist-info
  mkdir -p "$folder"; touch "$folder/RECORD"
done
TEXT
cat > bin/cmake <<'TEXT'
#!/bin/bash
touch build/CMakeCache.txt build/build.ninja
echo "$*" >> cmake_called
grep -q QUINTET_ARCH build/CMakeCache.txt ||
  printf 'QUINTET_ARCH:STRING=native\nQUINTET_WITH_TORCH:BOOL=ON\n' > build/CMakeCache.txt
for word in "$@"; do
  case $word in -D*) name=${word%%=*}; sed -i "s/^${name#-D}:\([A-Z]*\)=.*/${name#-D}:\1=${word#*=}/" build/CMakeCache.txt ;; esac
done
TEXT
cat > bin/python3 <<'TEXT'
#!/bin/bash
mkdir -p .venv/bin; cp bin/fake_pip .venv/bin/python
TEXT
chmod +x bin/*
real_cmake=$(command -v cmake)
export PATH=$scratch/bin:$PATH

# setup OPTION…: set-up without Debian's packages, as a call of ./quickstart with these options.
setup() {
  (set -e
   # shellcheck source=../../cmake/setup.sh
   source "$source/cmake/setup.sh"
   install_packages() { :; }
   while [ $# -gt 0 ]; do take_setup_option "$@"; shift "$taken"; done
   set_up)
}

setup > first
[ "$(sort pip_installed | tr '\n' ' ')" = "h5py matplotlib torch==2.13.0 " ] || failed "a new machine gets the packages"
grep -q "march=native, with LibTorch" first || failed "set-up says what is built"
: > pip_installed; : > cmake_called
setup > second
[ ! -s pip_installed ] && [ ! -s cmake_called ] || failed "nothing is done twice"

# Killed while pip unpacked: the module is there, its RECORD is not.
rm -r $site/torch-*.dist-info; mkdir -p $site/torch; touch $site/torch/__init__.py
setup > repaired
[ "$(cat pip_installed)" = torch==2.13.0 ] || failed "half a package is installed again"
[ -s cmake_called ] || failed "CMake looks again for what has come"

# Half an environment: its Python does not start.
printf '#!/bin/false\n' > .venv/bin/python; rm -r $site/h5py-*.dist-info
setup > renewed || failed "half an environment is made again"
.venv/bin/python -m pip --version || failed "half an environment is made again"

before=$(cat build/CMakeCache.txt)
if setup --arch foo > refused 2>&1; then failed "a processor that does not exist is refused"; fi
grep -q "arch foo: g++ does not know" refused || failed "the refusal names the processor"
[ "$before" = "$(cat build/CMakeCache.txt)" ] || failed "what is refused does not stay"
setup --arch x86-64-v3 --no-torch > chosen
grep -q "march=x86-64-v3, without LibTorch" chosen || failed "options are taken"
setup > as_last_time
grep -q "march=x86-64-v3, without LibTorch (--torch: with it)" as_last_time || failed "settings of last time are said"
setup --arch native --torch > back
grep -q "march=native, with LibTorch" back || failed "settings can be taken back"

# A program for another processor ends by SIGILL; others end as they do.
if (source "$source/cmake/setup.sh"; start bash -c 'kill -ILL $$') > other_processor 2>&1; then failed "another processor's program ends"; fi
grep -q "compiled for native, which this processor is not" other_processor || failed "a program for another processor says so"
(source "$source/cmake/setup.sh"; start true) || failed "a program that starts is left alone"
(source "$source/cmake/setup.sh"; start bash -c 'exit 3') && failed "an exit code stays" || [ $? -eq 3 ] || failed "an exit code stays"

# CMake by hand: neither does a processor that does not exist stay in its cache.
if "$real_cmake" -G Ninja -S "$source" -B by_hand -DQUINTET_ARCH=foo > by_hand.log 2>&1; then failed "CMake refuses it"; fi
grep -q "QUINTET_ARCH=foo: the compiler has no -march=foo" by_hand.log || failed "CMake names it"
grep -q "^QUINTET_ARCH:STRING=native" by_hand/CMakeCache.txt || failed "CMake does not keep it"

# Progress: ninja's first line may count nothing yet.
# shellcheck source=../../cmake/setup.sh
source "$source/cmake/setup.sh"
printf '[0/1] Re-running\n[2/4] a\n[4/4] b\n' | show_progress > progress || failed "progress counts from nothing"
[ "$(cat progress)" = $'    2 of 4, about 0 s left\n    4 of 4, about 0 s left' ] || failed "progress is shown per fifth"
echo "set-up repairs itself"
