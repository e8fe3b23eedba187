#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/observables/observables.hpp"

namespace quintet {

class ForceField;

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

/// Section `bonds`: distributions of bond lengths and angles.
struct BondOptions {
  std::int64_t interval = 100;                          ///< (steps)
  double cutoff = 0;                                    ///< (angstrom)
  std::vector<std::pair<std::string, double>> pairs{};  ///< cutoffs of pairs of types, A_B (angstrom)
  double bin_width = 0.01;                              ///< of lengths (angstrom)
  std::int64_t angle_bins = 180;                        ///< widths of a bin from 0 to 180 degrees
};
void describe(Schema& schema, BondOptions& options);

/// Section `heat_current`: its autocorrelation and the thermal conductivity.
struct HeatCurrentOptions {
  std::int64_t interval = 5;   ///< (steps)
  std::int64_t length = 2000;  ///< longest time difference (samples)
  double plateau_start = 0.5;  ///< of the longest time difference
};
void describe(Schema& schema, HeatCurrentOptions& options);

/// The observers that accumulate averages; absent: off.
struct ObservablesOptions {
  std::optional<RdfOptions> rdf;
  std::optional<BondOptions> bonds;
  std::optional<MsdOptions> msd;
  std::optional<VacfOptions> vacf;
  std::optional<HeatCurrentOptions> heat_current;
};
void describe(Schema& schema, ObservablesOptions& options);

/// The observers of the options; `field` is what moves the atoms, and outlives them.
[[nodiscard]] std::vector<std::unique_ptr<Observer>> make_observables(const ObservablesOptions& options,
                                                                      const TimeOptions& time,
                                                                      ForceField& field);

}  // namespace quintet
