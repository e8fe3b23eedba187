#pragma once

#include "io/config/schema_fwd.hpp"

namespace quintet {

/// How parameters are kept.
enum class ParameterPrecision {
  full,       ///< as numbers of the training's type
  split_bf16  ///< in halves, see split_bf16.hpp; the network computes with the high ones
};

/// Section `precision` of a training.
struct PrecisionOptions {
  ParameterPrecision parameters = ParameterPrecision::full;
  [[nodiscard]] bool splits() const { return parameters == ParameterPrecision::split_bf16; }
};
void describe(Schema& schema, PrecisionOptions& options);

}  // namespace quintet
