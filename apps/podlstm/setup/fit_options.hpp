#pragma once

#include <optional>
#include <string>

#include "io/config/schema.hpp"

/// What the user writes in a YAML file for `podlstm fit`.
namespace quintet::podlstm {

/// Section `coefficients`: coefficients that somebody else has made.
struct CoefficientsOptions {
  std::string file, variable = "a";
};
void describe(Schema& schema, CoefficientsOptions& options);

struct FitOptions {
  std::optional<CoefficientsOptions> coefficients;
  std::optional<std::int64_t> n_fit;
};
void describe(Schema& schema, FitOptions& options);

}  // namespace quintet::podlstm
