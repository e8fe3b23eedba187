#include "io/parallel/mpi_session.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>
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

/// What Open MPI is told while a process without a launcher starts, and what its children must not inherit.
/// It needs no daemon beside it: some 0.2 s less. Without one all such processes of a user would share one
/// session directory, and one that ends removes what another is about to use: they need none at all.
class AloneUnderOpenMpi {
 public:
  AloneUnderOpenMpi() {
    if (has_launcher()) return;
    for (const auto& [name, value] : {std::pair{"OMPI_MCA_ess_singleton_isolated", "1"},
                                      std::pair{"OMPI_MCA_orte_create_session_dirs", "0"}}) {
      if (std::getenv(name) != nullptr) continue;  // a user's own choice stands
      setenv(name, value, 0);
      names_.push_back(name);
    }
  }
  ~AloneUnderOpenMpi() {
    for (const char* name : names_) unsetenv(name);
  }
  AloneUnderOpenMpi(const AloneUnderOpenMpi&) = delete;
  AloneUnderOpenMpi& operator=(const AloneUnderOpenMpi&) = delete;

 private:
  std::vector<const char*> names_;
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
  // Open MPI hands what is larger than this over in three messages on a node, from 4 KiB on unless told
  // otherwise: 6 us instead of 2, for rows of neighbours and the like. A user's own choice stands.
  for (const char* limit : {"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"})
    setenv(limit, "32768", 0);
  const AloneUnderOpenMpi alone;
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
  std::string version(text, static_cast<std::size_t>(length));
  version =
      version.substr(0, version.find_first_of(",\n"));  // Open MPI adds package and build, MPICH its options
  if (version.starts_with("Open MPI v")) version.erase(9, 1);
  return version;
}

}  // namespace quintet
