#pragma once

#include <span>

#include "surrogates/sequence/training/training_options.hpp"

namespace quintet::sequence {

/// A precision by its name in input files and models.
struct PrecisionRow {
  Precision value;
  const char* name;
};
[[nodiscard]] std::span<const PrecisionRow> precisions();

}  // namespace quintet::sequence
