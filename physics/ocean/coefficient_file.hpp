#pragma once

#include <optional>
#include <string>

#include "io/files/reading.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/series.hpp"

namespace quintet::ocean {

/// Coefficients that somebody else has made.
struct CoefficientFile {
  CoefficientSeries series;
  std::optional<int>
      n_fit;  ///< leading times behind the modes: attribute n_train of the variable or the file
  std::string calendar;
  Reading reading;
};

/// Read a variable a(time, mode) and its times from a netCDF file. Collective. Throws InputError that names
/// file and place: another shape, no time, dates that do not ascend, values that are missing.
[[nodiscard]] CoefficientFile read_coefficients(const Comm& comm, const std::string& path,
                                                const std::string& variable);

}  // namespace quintet::ocean
