#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/series.hpp"

namespace quintet::sequence {

/// Sea points of NOAA's grid of one degree, behind the coefficients' modes of unit norm.
constexpr double sea_points = 44219;

/// The paper's own weekly coefficients of NOAA OI SST, five modes, 1981-10-29 to 2014; none where they are
/// not at hand.
inline std::optional<CoefficientSeries> weekly_coefficients() {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string path =
      std::string(source != nullptr ? source : ".") + "/../shared/data/ocean/sst_pod_coefficients_weekly.nc";
  if (!std::filesystem::exists(path)) return std::nullopt;
  const auto file = hdf5::File::open(Comm::world(), path);
  return CoefficientSeries{file.root().read<double>("time"), file.root().read<double>("a"), 5};
}

}  // namespace quintet::sequence

#define NEEDS_COEFFICIENTS(series)                                        \
  const auto series##_read = ::quintet::sequence::weekly_coefficients();  \
  if (!series##_read) GTEST_SKIP() << "../shared/data/ocean is not here"; \
  const auto& series = *series##_read
