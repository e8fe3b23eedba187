#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/dpmd/evaluate/frame_fields.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

/// Words of `dpmd evaluate`: `systems` by place.
struct EvaluateOptions {
  std::optional<std::string> model;
  std::string output = "evaluation";
  potential::DeepPotentialOptions evaluation;
  NamingOptions naming;
  bool atom_virials = false;
  ExpertFlags experts;
  std::vector<std::string> systems;
};
void describe(Schema& schema, EvaluateOptions& options);
/// `dpmd evaluate --model M SYSTEM...`: every frame's energy, forces, virial and atomic energies as JSON with
/// full precision and as extended XYZ. Collective.
void evaluate(const Comm& comm, const EvaluateOptions& options);

}  // namespace quintet::dpmd
