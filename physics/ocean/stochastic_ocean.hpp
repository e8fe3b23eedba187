#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "physics/ocean/sources/field_source.hpp"

namespace quintet::ocean {

/// A made-up ocean with observed seasons: for trials and demonstrations where no record is at hand.
struct StochasticOceanOptions {
  std::optional<std::string> climatology;  ///< a file of twelve monthly fields; none: an analytic climatology
  std::string variable = "sst";
  double spacing = 2;   ///< of the analytic climatology's grid (degrees)
  double from = 66410;  ///< first day (since 1800-01-01): 1981-10-29
  int n_times = 1000;   ///< weeks
  double noise = 0.25;  ///< standard deviation at each point and week, independent (degC)
  double trend = 0.01;  ///< degC a year
  std::uint64_t seed = 1;
};

/// Weekly sea-surface temperature: a seasonal cycle (three harmonics through monthly means), anomalies of a
/// linear inverse model with five states, a trend and noise; never below -1.8 degC.
///
/// The states, each of unit variance but for couplings, change from week to week by
///   (x, y)' = exp(-7/270) R(2 pi 7/1370) (x, y) + noise, the amplitude of which is 1 + 0.5 cos(2 pi (s -
///   0.9)), s the
///     time of year: an El Nino of 45 months that decays within 9, strongest around the turn of the year
///   z_k' = exp(-7/T_k) z_k + c_k (1 - exp(-7/T_k)) x + noise, T = 120, 90, 200 days, c = 0.6, 0, 0.7: North
///   Pacific,
///     Atlantic, Indian Ocean
/// and stand before fixed patterns of bumps (physics/ocean/stochastic_ocean.cpp). The climatology is
/// of land where a month has no value; without a file it is 29 cos^2(lat) - 1.5 degC with a seasonal cycle of
/// 5 sin(lat) degC and four rough continents. Random numbers depend on seed, state or point, and week alone.
/// Throws InputError that names the file.
[[nodiscard]] std::unique_ptr<FieldSource> stochastic_ocean(const StochasticOceanOptions& options);

}  // namespace quintet::ocean
