#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/observables/observables.hpp"

namespace quintet {

/// Section `rdf`: the radial distribution function.
struct RdfOptions {
  std::int64_t interval = 100;  ///< (steps)
  double r_max = 8;             ///< (angstrom)
  double bin_width = 0.05;      ///< (angstrom)
};
void describe(Schema& schema, RdfOptions& options);

/// How a time correlation is sampled: `length` lags of `interval` steps, a new time origin every
/// `origin_interval` samples.
struct CorrelationOptions {
  std::int64_t interval = 10;         ///< (steps)
  std::int64_t length = 200;          ///< (samples)
  std::int64_t origin_interval = 20;  ///< (samples)
};

/// Section `msd`: mean-square displacement and diffusion coefficient.
struct MsdOptions {
  CorrelationOptions correlation{10, 200, 20};
  double fit_start = 0.2;  ///< of the longest lag
};
void describe(Schema& schema, MsdOptions& options);

/// Section `vacf`: velocity autocorrelation and vibrational spectrum.
struct VacfOptions {
  CorrelationOptions correlation{4, 500, 50};
};
void describe(Schema& schema, VacfOptions& options);

/// The observers that accumulate averages; absent: off.
struct ObservablesOptions {
  std::optional<RdfOptions> rdf;
  std::optional<MsdOptions> msd;
  std::optional<VacfOptions> vacf;
};
void describe(Schema& schema, ObservablesOptions& options);

/// The observers of the options.
[[nodiscard]] std::vector<std::unique_ptr<Observer>> make_observables(const ObservablesOptions& options,
                                                                      const TimeOptions& time);

}  // namespace quintet
