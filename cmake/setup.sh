# shellcheck shell=bash
# Set-up shared by ./quickstart and ./check: packages, Python, configuration, build. Sourced in the project's root.

packages=(g++ cmake ninja-build pkg-config ccache git python3-venv libopenmpi-dev openmpi-bin libhdf5-openmpi-dev
  hdf5-tools petsc-dev slepc-dev libtrilinos-kokkos-dev libyaml-cpp-dev libcli11-dev libspdlog-dev libfmt-dev zlib1g-dev
  libopenblas-dev libnetcdf-mpi-dev ferret-datasets libmuparser-dev libgtest-dev libbenchmark-dev)
packages+=(${test_packages[@]+"${test_packages[@]}"})
python_packages=(torch==2.13.0 h5py matplotlib)
setup_log=build/setup.log
arch='' jobs='' torch=''   # what the command line says; empty: as in the build folder's cache

# mpirun refuses to work for root, as in a container, unless told twice.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun's hwloc looks for displays of X at "localhost": five seconds each where no file says who that is.
export HWLOC_COMPONENTS=${HWLOC_COMPONENTS--gl}

say() { printf '==> %s\n' "$*"; }
stop() { printf '\n%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

setup_usage() {
  cat <<'TEXT'
  --arch NAME    compile for this processor (-march=NAME); at first native, this machine's, then as last time
  --no-torch     build without LibTorch; --torch: with it. At first with it, then as last time
  --jobs N       compilers at once (default: cores, fewer if memory is short)
  --help         this text
TEXT
}

# Take one option of the set-up from "$@"; the number of words taken is in `taken`, 0 for an option of somebody else.
# shellcheck disable=SC2034
take_setup_option() {
  case $1 in
    --arch|--jobs) [ $# -ge 2 ] || stop "$1 needs a value" ;;
  esac
  case $1 in
    --arch) arch=$2; taken=2 ;;
    --jobs) jobs=$2; taken=2; [[ $jobs =~ ^[1-9][0-9]*$ ]] || stop "--jobs $jobs: expected a number from 1 on" ;;
    --torch) torch=ON; taken=1 ;;
    --no-torch) torch=OFF; taken=1 ;;
    *) taken=0 ;;
  esac
}

# logged WHAT COMMAND…: run it with its output in the log; on failure show the log's end and return 1.
logged() {
  local what=$1 start status=0; shift
  start=$(wc -l < "$setup_log")
  printf '### %s\n' "$*" >> "$setup_log"
  "$@" >> "$setup_log" 2>&1 < /dev/null || status=$?
  [ $status -eq 0 ] && return
  printf '\n%s failed (exit %s). The end of %s:\n' "$what" $status "$setup_log" >&2
  tail -n "+$((start + 2))" "$setup_log" | tail -n 25 >&2
  return 1
}

missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null |
    awk '$2 == "installed" {printf "%s ", $1}' || true)"
  for package in "${packages[@]}"; do
    [[ $installed == *" $package "* ]] || printf '%s ' "$package"
  done
}

# The command that installs what is missing here; nothing where nothing is.
apt_line() {
  local missing
  command -v dpkg-query > /dev/null || return 0
  missing=$(missing_packages 2> /dev/null)
  [ -z "$missing" ] || printf 'as root: apt-get install --no-install-recommends %s' "$missing"
}

# Of a system without apt: what has to be there, in the words of its modules or of Spack.
tell_needs() {
  cat <<'TEXT'
==> No apt here. Needed, for example by `module load` or as specs of Spack, where CMake finds them (CMAKE_PREFIX_PATH):
      gcc@12:  cmake@3.25:  ninja  python@3.9:  openmpi or mpich  hdf5+mpi  netcdf-c+mpi  kokkos  openblas
      yaml-cpp  cli11  spdlog  fmt  zlib  muparser  googletest  benchmark;  for single features: petsc and slepc
TEXT
}

install_packages() {
  local missing root=()
  if ! command -v dpkg-query > /dev/null; then tell_needs; return; fi
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
    [ -t 0 ] || root=(sudo -n)
    if ! "${root[@]}" true 2> /dev/null; then
      say "Without root or sudo these packages cannot be installed; going on with what is here. To install them,"
      printf '      %s\n' "$(apt_line)"
      return
    fi
  fi
  # An installation that was interrupted refuses every further one until it has been ended.
  [ -z "$(dpkg --audit 2> /dev/null)" ] || logged "dpkg --configure -a" "${root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a
  say "Installing $(wc -w <<< "$missing") Debian packages (about a minute)"
  logged "apt-get update" "${root[@]}" apt-get update -q || say "Going on with the package lists that are here"
  logged "apt-get install" "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qy --no-install-recommends $missing || stop "could not install packages; try $(apt_line)"
}

# What the compilation itself cannot do without; the rest is for CMake to find where it may be.
require_tools() {
  local tool
  for tool in g++ cmake ninja python3; do
    command -v $tool > /dev/null && continue
    command -v dpkg-query > /dev/null || stop "$tool is missing"
    stop "$tool is missing; $(apt_line)"
  done
  # Before the cache knows it: a processor that g++ does not have would stay there.
  [ -z "$arch" ] || g++ "-march=$arch" -E -x c++ /dev/null > /dev/null 2>&1 ||
    stop "--arch $arch: g++ does not know this processor; g++ -Q --help=target lists those it knows (-march=)"
}

# cached NAME: its value in CMake's cache, empty where there is none.
cached() { sed -n "s/^$1:[A-Z]*=//p" build/CMakeCache.txt 2> /dev/null; }

torch_wanted() { [ "${torch:-$(cached QUINTET_WITH_TORCH)}" != OFF ]; }

# pip writes RECORD when all files of a package are there: an interrupted installation has none.
installed_by_pip() {
  local name=${1%%==*} version=
  [ "$name" = "$1" ] || version=${1##*==}
  compgen -G ".venv/lib/python3*/site-packages/$name-$version*.dist-info/RECORD" > /dev/null
}

install_python_packages() {
  local package missing=()
  torch_wanted || return 0
  for package in "${python_packages[@]}"; do
    installed_by_pip "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing ${missing[*]} into .venv (about half a minute)"
  .venv/bin/python -m pip --version > /dev/null 2>&1 || logged "python3 -m venv" python3 -m venv --clear .venv ||
    stop "cannot make .venv; as root: apt-get install python3-venv"
  logged "pip install" .venv/bin/python -m pip install "${missing[@]}" ||
    stop "could not install ${missing[*]}; without torch: ${0##*/} --no-torch"
  configure_again=1
}

configure() {
  local settings=()
  [ -n "$arch" ] && settings+=("-DQUINTET_ARCH=$arch")
  [ -n "$torch" ] && settings+=("-DQUINTET_WITH_TORCH=$torch")
  if [ ! -e build/build.ninja ] || [ -n "${configure_again:-}" ] || [ ${#settings[@]} -gt 0 ]; then
    say "Configuring${settings[*]:+ with ${settings[*]}}"
    logged "cmake" cmake --preset cpu-release "${settings[@]}" || stop "not configured; $(apt_line)"
  fi
  say "Built for -march=$(cached QUINTET_ARCH), $(torch_wanted && echo with LibTorch || echo 'without LibTorch (--torch: with it)')"
}

# One compiler a core, and 1.5 GB of memory for each.
default_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# Turn ninja's lines into one live line on a terminal, or into one line per fifth elsewhere, with the time that is left
# if the rest takes as long per file.
show_progress() {
  local line done_now total left shown=0 start=$SECONDS
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    done_now=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    [ "$done_now" -gt 0 ] || continue
    left=$(((SECONDS - start) * (total - done_now) / done_now))
    left=$([ $left -lt 90 ] && echo "$left s" || echo "$(((left + 30) / 60)) min")
    if [ -t 1 ]; then
      printf '\r    %s of %s, about %s left  ' "$done_now" "$total" "$left"
    elif [ $((5 * done_now / total)) -gt $shown ]; then
      shown=$((5 * done_now / total))
      printf '    %s of %s, about %s left\n' "$done_now" "$total" "$left"
    fi
  done
  if [ -t 1 ] && [ -n "${total:-}" ]; then printf '\n'; fi
}

# build TARGET…
build() {
  local start end_of_log
  jobs=${jobs:-$(default_jobs)}
  say "Building with $jobs compiler(s) at once (the first time takes minutes)"
  start=$(wc -l < "$setup_log")
  if ! NINJA_STATUS='[%f/%t] ' cmake --build build -j "$jobs" --target "$@" 2>&1 | tee -a "$setup_log" | show_progress
  then
    end_of_log=$(tail -n "+$((start + 1))" "$setup_log")
    { grep -E 'error|FAILED' <<< "$end_of_log" || tail -n 25 <<< "$end_of_log"; } | head -n 25 >&2
    stop "the build failed; all of its output is in $setup_log"
  fi
}

# start COMMAND…: the first program of a build. Says so where the processor lacks what it was compiled for (SIGILL).
start() {
  local status=0
  "$@" || status=$?
  [ $status -ne 132 ] || stop "compiled for $(cached QUINTET_ARCH), which this processor is not; for this one: ${0##*/} --arch native"
  return $status
}

set_up() {
  mkdir -p build
  : > "$setup_log"
  install_packages
  require_tools
  install_python_packages
  configure
}
