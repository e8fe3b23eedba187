#pragma once

#include <optional>
#include <string>

#include "io/config/schema_fwd.hpp"
#include "physics/particles/formats/extended_xyz_labels.hpp"

namespace quintet::dpmd {

/// Section `labels`: which labels of extended XYZ frames count, and what their stress means.
struct LabelsOptions {
  enum class Sign { tension, pressure };
  std::optional<std::string> prefix;
  double stress_unit = 1;  ///< (eV/angstrom^3)
  Sign stress_sign = Sign::tension;
  double stress_limit = 160;  ///< (GPa)
};
void describe(Schema& schema, LabelsOptions& options);
/// Convert to the options of the reader.
[[nodiscard]] LabelSource source_of(const LabelsOptions& options);
[[nodiscard]] double stress_limit_of(const LabelsOptions& options);  ///< (eV/angstrom^3)
}  // namespace quintet::dpmd
