#pragma once

#include <string>

#include "io/hdf5/file_fwd.hpp"
#include "surrogates/sequence/forecast/forecast_model.hpp"

namespace quintet::sequence {

/// Write model.h5 (schema quintet.ocean_forecast, version 1): all that a forecast needs and all that it is
/// valid for. Collective.
void write_forecast_model(const Comm& comm, const std::string& path, const ForecastModel& model,
                          const hdf5::Provenance& provenance);

/// Read it. Collective. Throws InputError that names the file: another schema, arrays that do not fit
/// together, values that are not finite.
[[nodiscard]] ForecastModel read_forecast_model(const Comm& comm, const std::string& path);

}  // namespace quintet::sequence
