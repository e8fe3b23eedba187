#include "apps/podlstm/forecast/forecast_output.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/podlstm/setup/cf_file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::podlstm {

namespace {

constexpr const char* error_text =
    "Root mean square error of forecasts of the validation period at this lead, in the space of the modes";
void define_times(netcdf::Writer& file, const ForecastOutput& output) {
  file.dimension("time", output.dates.size());
  define_axis(file, "time", cf_epoch, "time", "T");
  file.attribute("time", "long_name", "Dates that are forecast, as the record names its own");
  file.attribute("time", "calendar", "proleptic_gregorian");
  file.variable("forecast_reference_time", netcdf::Type::float64, {});
  describe_variable(file, "forecast_reference_time", cf_epoch, "Last date that the forecast has seen");
  file.attribute("forecast_reference_time", "standard_name", "forecast_reference_time");
  file.attribute("forecast_reference_time", "calendar", "proleptic_gregorian");
  file.variable("forecast_period", netcdf::Type::float64, {"time"});
  describe_variable(file, "forecast_period", "days", "Time since then");
  file.attribute("forecast_period", "standard_name", "forecast_period");
}

void define_coefficients(netcdf::Writer& file, const ForecastOutput& output, const std::string& units) {
  file.dimension("mode", output.n_modes);
  file.dimension("member", output.coefficients.members.size());
  file.variable("mode", netcdf::Type::int32, {"mode"});
  describe_variable(file, "mode", "1", "Number of the mode");
  file.variable("member", netcdf::Type::int32, {"member"});
  describe_variable(file, "member", "1", "Number of the ensemble's member");
  file.attribute("member", "standard_name", "realization");
  file.variable("a", netcdf::Type::float64, {"mode", "time"});
  describe_variable(file, "a", units, "Coefficients of the modes, mean of the ensemble");
  file.attribute("a", "ancillary_variables", "a_spread");
  file.variable("a_spread", netcdf::Type::float64, {"mode", "time"});
  describe_variable(file, "a_spread", units, "Standard deviation of the ensemble's members");
  if (!output.errors.empty()) {
    file.variable("a_error", netcdf::Type::float64, {"mode", "time"});
    describe_variable(file, "a_error", units, error_text);
    file.attribute("a_error", "coordinates", "forecast_reference_time forecast_period");
    file.attribute("a", "ancillary_variables", "a_spread a_error");
  }
  file.variable("a_members", netcdf::Type::float64, {"member", "mode", "time"});
  describe_variable(file, "a_members", units, "Coefficients of each member");
  for (const std::string name : {"a", "a_spread", "a_members"})
    file.attribute(name, "coordinates", "forecast_reference_time forecast_period");
}

/// The standard name of a field in a file; "" where it has none. The table has none for an anomaly of
/// temperature.
std::string standard_name_of(const ocean::FieldModes& one) {
  if (one.anomalies && one.units == "degree_Celsius") return "";
  return one.is_sea_surface_temperature() ? "sea_surface_temperature" : one.in_file.standard_name;
}

/// The field in words; an anomaly says so once.
std::string text_of(const ocean::FieldModes& one) {
  const auto text = one.long_name();
  const bool says_so = text.find("nomal") != std::string::npos;
  return one.anomalies && !says_so ? text + " anomaly" : text;
}

void define_field(netcdf::Writer& file, const ocean::OceanModes& modes, const ocean::FieldModes& one,
                  bool errors) {
  const auto name = one.short_name(), spread = name + "_spread", error = name + "_error";
  const auto [lat, lon, own] = grid_names(modes, one);
  for (const auto& variable : {name, spread, error}) {
    if (variable == error && !errors) continue;
    file.variable(variable, netcdf::Type::float32, {"time", lat, lon});
    file.attribute(variable, "_FillValue", cf_fill_value, true);
    file.attribute(variable, "coordinates", "forecast_reference_time forecast_period");
  }
  describe_variable(file, name, one.units,
                    text_of(one) + ", mean of the ensemble, in the space of the modes");
  if (one.anomalies && one.units == "degree_Celsius")
    file.attribute(name, "units_metadata", "temperature: difference");
  const auto standard_name = standard_name_of(one);
  if (!standard_name.empty()) file.attribute(name, "standard_name", standard_name);
  file.attribute(name, "ancillary_variables", errors ? spread + " " + error : spread);
  if (errors) {
    describe_variable(file, error, one.units, error_text);
    if (!standard_name.empty()) file.attribute(error, "standard_name", standard_name + " standard_error");
  }
  describe_variable(file, spread, one.units, "Standard deviation of the ensemble's members");
}

void define_fields(netcdf::Writer& file, const ocean::OceanModes& modes, bool errors) {
  define_grids(file, modes);
  for (const auto* one : variables_of(modes)) define_field(file, modes, *one, errors);
}

void write_fields(netcdf::Writer& file, const ForecastOutput& output, const ocean::OceanModes& modes) {
  write_grids(file, modes);
  const auto variables = variables_of(modes);
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const auto& one = *variables[v];
    const auto write = [&](const std::string& name, const std::vector<double>& values) {
      for (std::size_t lead = 0; lead < output.dates.size() && !values.empty(); ++lead)
        file.write(name, {lead, 0, 0}, {1, one.latitude.size(), one.longitude.size()},
                   on_grid(one, values.data() + lead * one.n_points()));
    };
    const auto name = one.short_name();
    write(name, output.fields[v].mean);
    write(name + "_spread", output.fields[v].spread);
    write(name + "_error", output.fields[v].error);
  }
}

/// Fields of one variable.
FieldForecast fields_of(const ForecastOutput& output, const ocean::FieldModes& modes) {
  FieldForecast fields;
  const auto points = modes.n_points(), n_modes = static_cast<std::size_t>(output.n_modes);
  const auto& ensemble = output.coefficients;
  const double n = ensemble.members.size();
  for (std::size_t lead = 0; lead < output.dates.size(); ++lead) {
    const auto field = ocean::expand(modes, output.dates[lead], ensemble.mean.data() + lead * n_modes);
    fields.mean.insert(fields.mean.end(), field.begin(), field.end());
    std::vector<double> square(points, 0.0);
    for (const auto& member : ensemble.members)
      for (std::size_t x = 0; x < points && n > 1; ++x) {
        double deviation = 0;
        for (std::size_t m = 0; m < n_modes; ++m)
          deviation +=
              (member[lead * n_modes + m] - ensemble.mean[lead * n_modes + m]) * modes.modes[m * points + x];
        square[x] += deviation * deviation / (n - 1);
      }
    for (const double value : square) fields.spread.push_back(std::sqrt(value));
    if (output.errors.empty()) continue;
    const double* products = output.errors.data() + lead * n_modes * n_modes;
    for (std::size_t x = 0; x < points; ++x) {
      double sum = 0;
      for (std::size_t m = 0; m < n_modes; ++m)
        for (std::size_t n_mode = 0; n_mode < n_modes; ++n_mode)
          sum +=
              modes.modes[m * points + x] * products[m * n_modes + n_mode] * modes.modes[n_mode * points + x];
      fields.error.push_back(rounded_root(sum));
    }
  }
  return fields;
}

}  // namespace

void keep_leads(ForecastOutput& output, std::size_t n) {
  const std::size_t modes = output.n_modes;
  output.dates.resize(n);
  output.coefficients.mean.resize(n * modes);
  output.coefficients.spread.resize(n * modes);
  for (auto& member : output.coefficients.members) member.resize(n * modes);
  if (!output.errors.empty()) output.errors.resize(n * modes * modes);
}

void expand_fields(ForecastOutput& output, const ocean::OceanModes& modes) {
  for (const auto* one : variables_of(modes)) output.fields.push_back(fields_of(output, *one));
}

void require_numbers(const ForecastOutput& output, const ocean::OceanModes& modes) {
  constexpr double any_number = std::numeric_limits<double>::max(), of_a_sea = 1e6;
  const auto require = [&output](const std::vector<double>& values, double most, const std::string& what) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(values[i]) <= most))
        throw NumericalError(fmt::format(
            "the forecast for {}: a {} is {:.3g}; are numbers of the model, or of the record, damaged?",
            ocean::date_text(output.dates[i / (values.size() / output.dates.size())]), what, values[i]));
  };
  require(output.coefficients.mean, any_number, "coefficient");
  const auto variables = variables_of(modes);
  for (std::size_t v = 0; v < output.fields.size(); ++v) {
    const bool is_sea = variables[v]->is_sea_surface_temperature();
    const auto what = is_sea ? std::string("temperature") : "value of " + variables[v]->short_name();
    require(output.fields[v].mean, is_sea ? of_a_sea : any_number, what);
    require(output.fields[v].spread, is_sea ? of_a_sea : any_number, "spread of " + what);
  }
}

void write_forecast(const Comm& comm, const std::string& path, const ForecastOutput& output,
                    const ocean::OceanModes& modes, const ForecastOrigin& origin) {
  together(comm, [&] {
    if (!comm.is_root()) return;
    auto file = netcdf::Writer::create(path);
    const auto& ensemble = output.coefficients;
    const std::size_t n_modes = output.n_modes;
    file.attribute("", "Conventions", "CF-1.8");
    file.attribute("", "title", origin.title);
    file.attribute("", "history", origin.history);
    file.attribute("", "source", origin.source);
    if (!origin.comment.empty()) file.attribute("", "comment", origin.comment);
    define_times(file, output);
    define_coefficients(file, output, modes.units);
    if (!output.fields.empty()) define_fields(file, modes, !output.errors.empty());

    auto period = output.dates;
    for (double& day : period) day -= output.from;
    file.write("time", output.dates);
    file.write("forecast_reference_time", std::vector<double>{output.from});
    file.write("forecast_period", period);
    file.write("mode", numbers_from_one(n_modes));
    file.write("member", numbers_from_one(ensemble.members.size()));
    file.write("a", by_mode(ensemble.mean, n_modes));
    file.write("a_spread", by_mode(ensemble.spread, n_modes));
    if (!output.errors.empty()) {
      std::vector<double> errors;
      for (std::size_t lead = 0; lead < output.dates.size(); ++lead)
        for (int m = 0; m < output.n_modes; ++m) errors.push_back(output.error_of(lead, m));
      file.write("a_error", by_mode(errors, n_modes));
    }
    std::vector<double> members;
    for (const auto& member : ensemble.members) {
      const auto turned = by_mode(member, n_modes);
      members.insert(members.end(), turned.begin(), turned.end());
    }
    file.write("a_members", members);
    if (!output.fields.empty()) write_fields(file, output, modes);
    file.close();
  });
}

}  // namespace quintet::podlstm
