#pragma once

#include <string>
#include <vector>

#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/forecast_model.hpp"

namespace quintet::podlstm {

/// One forecast: coefficients, and fields where the modes file has them.
struct ForecastOutput {
  std::vector<double> dates;  ///< [out] (days since 1800-01-01)
  double from = 0;            ///< last date seen
  int n_modes = 0;
  sequence::Ensemble coefficients;  ///< [out, modes]
  std::vector<double> fields;       ///< [out, P] (degC); empty without modes
  std::vector<double> spread;       ///< [out, P] standard deviation of the members' fields
};

/// Fields of the mean, and how far the members lie apart at each point.
void expand_fields(ForecastOutput& output, const ocean::OceanModes& modes);

/// Who made a forecast, for the file's attributes.
struct ForecastOrigin {
  std::string title, history, source;  ///< source: model and modes
  std::string comment;                 ///< what speaks against it; empty: nothing
};

/// forecast.nc: CF-1.8, netCDF-4. Root writes. Collective.
void write_forecast(const Comm& comm, const std::string& path, const ForecastOutput& output,
                    const ocean::OceanModes& modes, const ForecastOrigin& origin);

}  // namespace quintet::podlstm
