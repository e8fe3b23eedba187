#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/context.hpp"
#include "io/config/schema.hpp"
#include "io/runtime/runtime.hpp"

/// The life of a run between the command line and the exit code.
namespace quintet {

/// What the command line asked for.
struct Request {
  std::string program;                ///< "dpmd run"
  std::string input;                  ///< the YAML file
  std::vector<std::string> settings;  ///< "key.path=value" of --set
  std::string restart;                ///< "", "auto" or a checkpoint
  std::string output;                 ///< "" for runs/<stem of input>
  std::optional<double> walltime_s;
  int threads = 0;  ///< 0: cores / ranks on the node
  bool overwrite = false, validate = false, print_configuration = false, quiet = false;
  bool restart_with_changes = false;
};

/// argc and argv as main() got them, for MPI.
struct ProgramArguments {
  int& argc;
  char**& argv;
};

/// The YAML file with the --set values put in; their places are "--set". Throws InputError.
[[nodiscard]] Tree load_document(const Request& request);

/// Run a command that takes a YAML file; returns the exit code.
[[nodiscard]] int launch(const Request& request, ProgramArguments arguments,
                         const std::vector<Subsystem>& subsystems, const Describe& describe,
                         const std::function<void(Context&)>& body);

/// Run a command without a run directory; returns the exit code.
[[nodiscard]] int launch_plain(int threads, bool quiet, ProgramArguments arguments,
                               const std::vector<Subsystem>& subsystems,
                               const std::function<void(const Comm&)>& body);

/// Run a command of one process without MPI; returns the exit code.
[[nodiscard]] int launch_local(const std::function<void()>& body);

}  // namespace quintet
