#pragma once

#include <optional>
#include <string>

#include "io/config/schema_fwd.hpp"

namespace quintet::dpmd {

/// The programs whose energies, forces and virials are labels.
enum class LabelProgram { cp2k, lammps, ipi };

/// Section `label`: how frames are labelled.
struct LabelOptions {
  LabelProgram program = LabelProgram::lammps;
  std::string template_file;
  std::optional<std::string> command;  ///< absent: the program's usual one
  int jobs = 1;                        ///< programs that run at once
  std::optional<double> time_limit;    ///< of one frame (s)
};
void describe(Schema& schema, LabelOptions& options);

}  // namespace quintet::dpmd
