#pragma once

#include <string>
#include <vector>

#include "apps/dpmd/ipi/conversation.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

/// Words of `dpmd serve`: `structures` by place. The first model answers, others tell how far they differ.
struct ServeCommandOptions {
  std::vector<std::string> models;
  potential::DeepPotentialOptions evaluation;
  ipi::ServeOptions serving;
  NamingOptions naming;
  std::vector<std::string> structures;
};
void describe(Schema& schema, ServeCommandOptions& options);
/// `dpmd serve --model M --unix NAME STRUCTURE...`: answer an i-PI server (i-PI, ASE, ...) with energies,
/// forces and virials until it ends. Collective: the first rank talks.
void serve(const Comm& comm, const ServeCommandOptions& options);

}  // namespace quintet::dpmd
