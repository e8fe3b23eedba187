#include "io/parallel/mpi_session.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "io/log/error.hpp"
#include "io/parallel/mpi_error.hpp"

namespace quintet {
namespace {

bool is_bug_of_ours(int error_class) {
  switch (error_class) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_TAG:
    case MPI_ERR_COMM:
    case MPI_ERR_RANK:
    case MPI_ERR_ROOT:
    case MPI_ERR_OP:
    case MPI_ERR_ARG:
    case MPI_ERR_TRUNCATE:
    case MPI_ERR_REQUEST:
      return true;
    default:
      return false;
  }
}

/// Whether a launcher (mpirun, srun, PALS) started this process.
bool has_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "PMIX_RANK", "PMI_RANK", "PMI_FD"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

/// Whether all ranks are known to be on this node.
bool is_on_one_node() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return !has_launcher() ||
         (size != nullptr && here != nullptr && std::string_view(size) == std::string_view(here));
}

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

/// Sets variables for Open MPI while it starts, which the children of a process must not inherit. A user's
/// own choice stands.
class StartOfOpenMpi {
 public:
  StartOfOpenMpi() {
    // Larger messages than this are handed over in three on a node, from 4 KiB on unless told otherwise: 6 us
    // instead of 2, for rows of neighbours and the like.
    for (const char* limit : {"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"})
      setenv(limit, "32768", 0);
    // Within a node messages go through memory. To load the drivers of networks as well, only to find no use
    // for them, takes 0.2 s: two of them sleep that long to learn how fast the clock ticks.
    if (is_on_one_node() && !is_set("OMPI_MCA_mtl")) tell("OMPI_MCA_pml", "ob1");
    if (has_launcher()) return;
    // A process without a launcher needs no daemon beside it: some 0.2 s less. Without one all such processes
    // of a user would share one session directory, and one that ends removes what another is about to use:
    // they need none at all. Nor does it need to know the graphics cards, for which hwloc asks ten X servers,
    // or what else is on the node's buses: some 10 ms.
    tell("OMPI_MCA_ess_singleton_isolated", "1");
    tell("OMPI_MCA_orte_create_session_dirs", "0");
    tell("HWLOC_PLUGINS_PATH", "/nonexistent");
    tell("HWLOC_COMPONENTS", "-linuxio");
  }
  ~StartOfOpenMpi() {
    for (const char* name : told_) unsetenv(name);
  }
  StartOfOpenMpi(const StartOfOpenMpi&) = delete;
  StartOfOpenMpi& operator=(const StartOfOpenMpi&) = delete;

 private:
  void tell(const char* name, const char* value) {
    if (is_set(name)) return;
    setenv(name, value, 0);
    told_.push_back(name);
  }

  std::vector<const char*> told_;
};

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0, error_class = MPI_ERR_OTHER;
  MPI_Error_string(code, text, &length);
  MPI_Error_class(code, &error_class);
  const auto message =
      fmt::format("{} failed: {}", call, std::string_view(text, static_cast<std::size_t>(length)));
  if (is_bug_of_ours(error_class)) throw InternalError(message);
  throw ResourceError(message);
}

bool mpi_is_up() {
  int started = 0, stopped = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&stopped);
  return started != 0 && stopped == 0;
}

bool start_mpi(int& argc, char**& argv) {
  if (mpi_is_up()) return false;
  const StartOfOpenMpi start;
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED) {
    throw ResourceError(
        "This MPI library gives no thread support (MPI_THREAD_FUNNELED is needed): use a build that does.");
  }
  return true;
}

void stop_mpi() {
  if (mpi_is_up()) MPI_Finalize();
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, length);
  version =
      version.substr(0, version.find_first_of(",\n"));  // Open MPI adds package and build, MPICH its options
  if (version.starts_with("Open MPI v")) version.erase(9, 1);
  return version;
}

}  // namespace quintet
