#pragma once

#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "apps/quintet/bench/metg_options.hpp"

/// The words behind `quintet bench`: two kinds of METG share one command line.
namespace quintet::bench {

/// Arguments for an application besides its options.
struct ApplicationWords {
  std::string application, file;
  std::vector<std::string> settings;  ///< "key.path=value"
};

/// Parse the flags of a benchmark of task graphs. Errors: UsageError for flags of the other kind, InputError
/// for wrong values.
void parse_graph_flags(const Application::Arguments& arguments, MetgOptions& options,
                       GraphMetgOptions& graph);
/// Parse the flags of a benchmark of an application's own step. Errors as above.
[[nodiscard]] ApplicationWords parse_application_flags(const Application::Arguments& arguments,
                                                       MetgOptions& options,
                                                       ApplicationMetgOptions& application);

}  // namespace quintet::bench
