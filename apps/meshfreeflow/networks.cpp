#include "apps/meshfreeflow/networks.hpp"

#include <string>

#include "apps/meshfreeflow/program.hpp"
#include "io/log/error.hpp"
#ifdef LATE_MESHFREEFLOW_NETWORKS
#include "io/runtime/late_library.hpp"
#else
#include "io/runtime/with_torch.hpp"
#endif

namespace quintet::meshfreeflow {
namespace {

int run_without(int argc, char** argv, const std::string& missing) {
  return run_program(argc, argv, [missing](Application& application) {
    for (const char* name : {"train", "superresolve", "evaluate", "expert"})
      application.absent_command(name, missing);
  });
}

}  // namespace

#ifdef LATE_MESHFREEFLOW_NETWORKS

int run_with_networks(int argc, char** argv) {
  void* function = nullptr;
  try {
    function = late_function(LATE_MESHFREEFLOW_NETWORKS, "quintet_meshfreeflow_with_networks");
  } catch (const ResourceError& error) {
    return run_without(argc, argv, "LibTorch (" + std::string(error.what()) + ")");
  }
  return reinterpret_cast<decltype(&quintet_meshfreeflow_with_networks)>(function)(argc, argv);
}

#else

int run_with_networks(int argc, char** argv) { return run_without(argc, argv, with_torch); }

#endif

}  // namespace quintet::meshfreeflow
