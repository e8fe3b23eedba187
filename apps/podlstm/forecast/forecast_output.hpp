#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/forecast_model.hpp"

namespace quintet::podlstm {

/// Fields of one variable.
struct FieldForecast {
  std::vector<double> mean;    ///< [out, P] (units of the variable); empty without modes
  std::vector<double> spread;  ///< [out, P] standard deviation of the members' fields
  std::vector<double> error;   ///< [out, P] root mean square of errors in validation; empty: not known
};

/// One forecast: coefficients, and fields where the modes file has them.
struct ForecastOutput {
  std::vector<double> dates;  ///< [out] (days since 1800-01-01)
  double from = 0;            ///< last date seen
  int n_modes = 0;
  sequence::Ensemble coefficients;  ///< [out, modes]
  std::vector<double> errors;  ///< [out, modes, modes] products of errors in validation; empty: not known
  std::vector<FieldForecast> fields;  ///< of each variable, the first one first; empty without modes

  /// Root mean square error of a coefficient in validation.
  [[nodiscard]] double error_of(std::size_t lead, int mode) const {
    const std::size_t m = mode, n = n_modes;
    return std::sqrt(errors[(lead * n + m) * n + m]);
  }
};

/// Keep the first `n` leads; before fields are made of them.
void keep_leads(ForecastOutput& output, std::size_t n);

/// Fields of the mean, how far the members lie apart at each point, and how far off forecasts of validation
/// were.
void expand_fields(ForecastOutput& output, const ocean::OceanModes& modes);

/// Throw NumericalError, with the date, if a coefficient is NaN or a temperature impossible in the sea.
void require_numbers(const ForecastOutput& output, const ocean::OceanModes& modes);

/// Origin of a forecast, for the file's attributes.
struct ForecastOrigin {
  std::string title, history, source;  ///< source: model and modes
  std::string comment;                 ///< what speaks against it; empty: nothing
};

/// forecast.nc: CF-1.8, netCDF-4. Root writes. Collective.
void write_forecast(const Comm& comm, const std::string& path, const ForecastOutput& output,
                    const ocean::OceanModes& modes, const ForecastOrigin& origin);

}  // namespace quintet::podlstm
