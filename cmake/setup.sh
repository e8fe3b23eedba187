# Set-up shared by ./quickstart and ./check: packages, Python, configuration, build. Sourced in the project's root.

packages=(g++ cmake ninja-build pkg-config ccache git python3-venv libopenmpi-dev openmpi-bin libhdf5-openmpi-dev
  hdf5-tools petsc-dev slepc-dev libtrilinos-kokkos-dev libyaml-cpp-dev libcli11-dev libspdlog-dev libfmt-dev zlib1g-dev
  libopenblas-dev libnetcdf-mpi-dev ferret-datasets libmuparser-dev libgtest-dev libbenchmark-dev)
packages+=(${test_packages[@]+"${test_packages[@]}"})
python_packages=(torch==2.13.0 h5py matplotlib)
apt_line="apt-get install --no-install-recommends ${packages[*]}"
setup_log=build/setup.log
arch= jobs= without_torch=

# mpirun refuses to work for root, as in a container, unless told twice.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun's hwloc looks for displays of X at "localhost": five seconds each where no file says who that is.
export HWLOC_COMPONENTS=${HWLOC_COMPONENTS--gl}

say() { printf '==> %s\n' "$*"; }
stop() { printf '\n%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

setup_usage() {
  cat <<'TEXT'
  --arch NAME    compile for this processor (-march=NAME; default native, this machine's)
  --no-torch     build without LibTorch
  --jobs N       compilers at once (default: cores, fewer if memory is short)
  --help         this text
TEXT
}

# Take one option of the set-up from "$@"; the number of words taken is in `taken`, 0 for an option of somebody else.
take_setup_option() {
  case $1 in
    --arch|--jobs) [ $# -ge 2 ] || stop "$1 needs a value" ;;
  esac
  case $1 in
    --arch) arch=$2; taken=2 ;;
    --jobs) jobs=$2; taken=2; [[ $jobs =~ ^[1-9][0-9]*$ ]] || stop "--jobs $jobs: expected a number from 1 on" ;;
    --no-torch) without_torch=1; taken=1 ;;
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

install_packages() {
  local missing root=()
  if ! command -v dpkg-query > /dev/null; then
    say "Not a Debian system: install what corresponds to: ${packages[*]}"
    return
  fi
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
    [ -t 0 ] || root=(sudo -n)
    if ! "${root[@]}" true 2> /dev/null; then
      say "Not installed: $missing"
      say "Without root or sudo these packages cannot be installed; going on with what is here. To install them:"
      printf '      %s\n' "$apt_line"
      return
    fi
  fi
  say "Installing $(wc -w <<< "$missing") Debian packages (about a minute)"
  logged "apt-get update" "${root[@]}" apt-get update -q || say "Going on with the package lists that are here"
  logged "apt-get install" "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qy --no-install-recommends $missing || stop "could not install packages; try: $apt_line"
}

# What the compilation itself cannot do without; the rest is for CMake to find where it may be.
require_tools() {
  local tool
  for tool in g++ cmake ninja python3; do
    command -v $tool > /dev/null || stop "$tool is missing. As root: $apt_line"
  done
}

torch_wanted() {
  [ -z "$without_torch" ] && ! grep -qs '^QUINTET_WITH_TORCH:BOOL=OFF' build/CMakeCache.txt
}

install_python_packages() {
  local package name missing=()
  torch_wanted || return 0
  for package in "${python_packages[@]}"; do
    name=${package%%==*}
    compgen -G ".venv/lib/python3*/site-packages/$name/__init__.py" > /dev/null || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing ${missing[*]} into .venv (about half a minute)"
  [ -x .venv/bin/pip ] || logged "python3 -m venv" python3 -m venv .venv ||
    stop "cannot make .venv; as root: apt-get install python3-venv"
  logged "pip install" .venv/bin/pip install "${missing[@]}" ||
    stop "could not install ${missing[*]}; without torch: ${0##*/} --no-torch"
}

configure() {
  local settings=()
  [ -n "$arch" ] && settings+=("-DQUINTET_ARCH=$arch")
  [ -n "$without_torch" ] && settings+=(-DQUINTET_WITH_TORCH=OFF)
  if [ ! -e build/build.ninja ] || [ ${#settings[@]} -gt 0 ]; then
    say "Configuring${settings[*]:+ with ${settings[*]}}"
    logged "cmake" cmake --preset cpu-release "${settings[@]}" || stop "not configured. As root: $apt_line"
  fi
}

# One compiler a core, and 1.5 GB of memory for each.
default_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# Turn ninja's lines into one live line on a terminal, or into one line a fifth elsewhere.
show_progress() {
  local line done_now total shown=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    done_now=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    if [ -t 1 ]; then
      printf '\r    %s of %s ' "$done_now" "$total"
    elif [ $((5 * done_now / total)) -gt $shown ]; then
      shown=$((5 * done_now / total))
      printf '    %s of %s\n' "$done_now" "$total"
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

set_up() {
  mkdir -p build
  : > "$setup_log"
  install_packages
  require_tools
  install_python_packages
  configure
}
