#pragma once

#include <optional>
#include <string>

#include "apps/dpmd/setup/command_line.hpp"
#include "io/hdf5/file.hpp"

namespace quintet::dpmd {

/// Words of `dpmd inspect`: `file` by place, or --model.
struct InspectOptions {
  std::optional<std::string> file, model;
  bool training = false;
  NamingOptions naming;
};
void describe(Schema& schema, InspectOptions& options);
/// `dpmd inspect MODEL`: what a model is, and its networks block by block: shapes, parameters, flops, bytes;
/// of a file of atoms, what was understood (inspect_atoms.hpp).
/// Collective; rank 0 works.
void inspect(const Comm& comm, const InspectOptions& options);

}  // namespace quintet::dpmd
