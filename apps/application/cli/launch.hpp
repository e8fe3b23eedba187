#pragma once

#include <functional>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/life/request.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/config/tree.hpp"
#include "io/runtime/runtime.hpp"

/// The life of a run between the command line and the exit code.
namespace quintet {

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

/// End with the mistake on the command line that is being handled (call it in a handler); it is the last word
/// for the directory that `--output` names. Returns the exit code.
[[nodiscard]] int launch_unparsed(const ProgramArguments& arguments);

/// Run a command without a run directory; returns the exit code.
[[nodiscard]] int launch_plain(int threads, bool quiet, ProgramArguments arguments,
                               const std::vector<Subsystem>& subsystems,
                               const std::function<void(const Comm&)>& body);

/// Run a command of one process without MPI; returns the exit code.
[[nodiscard]] int launch_local(const std::function<void()>& body);

}  // namespace quintet
