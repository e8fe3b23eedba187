#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/podlstm/setup/fields_options.hpp"
#include "io/config/schema_fwd.hpp"
#include "physics/ocean/pod.hpp"

/// Options in the YAML file of `podlstm fit`.
namespace quintet::podlstm {

/// Section `coefficients`: coefficients that somebody else has made.
struct CoefficientsOptions {
  std::string file, variable = "a";
};
void describe(Schema& schema, CoefficientsOptions& options);

/// Section `pod.dineof`.
struct FillingOptions {
  std::int64_t most_modes = 20, most_iterations = 500;
  double held_out = 0.01, tolerance = 1e-4;
};
void describe(Schema& schema, FillingOptions& options);

/// Section `pod`.
struct PodSection {
  std::int64_t modes = 5;
  ocean::PodWeights weights = ocean::PodWeights::points;
  ocean::PodBackground background = ocean::PodBackground::mean;
  std::int64_t harmonics = 3;
  std::string background_years;
  ocean::PodMethod method = ocean::PodMethod::automatic;
  std::int64_t seed = 1;
  FillingOptions dineof;
};
void describe(Schema& schema, PodSection& options);

/// The decomposition of the first `n_fit` times. Throws InputError: years that are none, a method that the
/// program was built without.
[[nodiscard]] ocean::PodOptions pod_of(const PodSection& options, int n_fit);

struct FitOptions {
  std::optional<CoefficientsOptions> coefficients;
  std::optional<FieldsOptions> fields;
  PodSection pod;
  std::optional<std::int64_t> n_fit;
  std::string fit_until;
};
void describe(Schema& schema, FitOptions& options);
/// The leading times that the user asks for, of these days; none if the input does not say. Throws
/// InputError.
[[nodiscard]] std::optional<int> asked_times(const FitOptions& options, const std::vector<double>& days);

}  // namespace quintet::podlstm
