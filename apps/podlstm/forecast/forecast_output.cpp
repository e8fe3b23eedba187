#include "apps/podlstm/forecast/forecast_output.hpp"

#include <cmath>

#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/calendar.hpp"

namespace quintet::podlstm {

namespace {

constexpr double fill_value = 9.96921e36;  // netCDF's own for float32

/// Values at sea points on the whole grid.
std::vector<double> on_grid(const ocean::OceanModes& modes, const double* values) {
  std::vector<double> grid(modes.mask.size(), fill_value);
  for (std::size_t i = 0; i < grid.size(); ++i)
    if (modes.mask[i] != 0) grid[i] = *values++;
  return grid;
}

void describe_variable(netcdf::Writer& file, const std::string& name, const std::string& units,
                       const std::string& text) {
  file.attribute(name, "units", units);
  file.attribute(name, "long_name", text);
}

void define_fields(netcdf::Writer& file, const ocean::OceanModes& modes) {
  file.dimension("lat", modes.latitude.size());
  file.dimension("lon", modes.longitude.size());
  file.variable("lat", netcdf::Type::float64, {"lat"});
  file.variable("lon", netcdf::Type::float64, {"lon"});
  file.attribute("lat", "units", "degrees_north");
  file.attribute("lat", "standard_name", "latitude");
  file.attribute("lon", "units", "degrees_east");
  file.attribute("lon", "standard_name", "longitude");
  for (const std::string name : {"sst", "sst_spread"}) {
    file.variable(name, netcdf::Type::float32, {"time", "lat", "lon"});
    file.attribute(name, "_FillValue", fill_value, true);
  }
  describe_variable(file, "sst", "degree_Celsius",
                    "Sea surface temperature, mean of the ensemble, in the space of the modes");
  file.attribute("sst", "standard_name", "sea_surface_temperature");
  describe_variable(file, "sst_spread", "degree_Celsius", "Standard deviation of the ensemble's members");
}

}  // namespace

void expand_fields(ForecastOutput& output, const ocean::OceanModes& modes) {
  const auto points = modes.n_points(), n_modes = static_cast<std::size_t>(output.n_modes);
  const auto& ensemble = output.coefficients;
  const double n = static_cast<double>(ensemble.members.size());
  for (std::size_t lead = 0; lead < output.dates.size(); ++lead) {
    const auto field = ocean::expand(modes, output.dates[lead], ensemble.mean.data() + lead * n_modes);
    output.fields.insert(output.fields.end(), field.begin(), field.end());
    std::vector<double> square(points, 0.0);
    for (const auto& member : ensemble.members)
      for (std::size_t x = 0; x < points && n > 1; ++x) {
        double deviation = 0;
        for (std::size_t m = 0; m < n_modes; ++m)
          deviation +=
              (member[lead * n_modes + m] - ensemble.mean[lead * n_modes + m]) * modes.modes[m * points + x];
        square[x] += deviation * deviation / (n - 1);
      }
    for (const double value : square) output.spread.push_back(std::sqrt(value));
  }
}

void write_forecast(const Comm& comm, const std::string& path, const ForecastOutput& output,
                    const ocean::OceanModes& modes, const std::string& title, const std::string& history) {
  together(comm, [&] {
    if (!comm.is_root()) return;
    auto file = netcdf::Writer::create(path);
    const auto& ensemble = output.coefficients;
    const auto leads = output.dates.size(), n_modes = static_cast<std::size_t>(output.n_modes);
    file.attribute("", "Conventions", "CF-1.8");
    file.attribute("", "title", title);
    file.attribute("", "history", history);
    file.attribute("", "source", modes.source);
    file.dimension("time", leads);
    file.dimension("mode", n_modes);
    file.dimension("member", ensemble.members.size());
    file.variable("time", netcdf::Type::float64, {"time"});
    describe_variable(file, "time", "days since 1800-01-01 00:00:00", "Dates that are forecast");
    file.attribute("time", "standard_name", "time");
    file.attribute("time", "calendar", "proleptic_gregorian");
    file.variable("forecast_reference_time", netcdf::Type::float64, {});
    describe_variable(file, "forecast_reference_time", "days since 1800-01-01 00:00:00",
                      "Last date that the forecast has seen");
    file.attribute("forecast_reference_time", "standard_name", "forecast_reference_time");
    file.attribute("forecast_reference_time", "calendar", "proleptic_gregorian");
    file.variable("a", netcdf::Type::float64, {"time", "mode"});
    describe_variable(file, "a", modes.units, "Coefficients of the modes, mean of the ensemble");
    file.variable("a_spread", netcdf::Type::float64, {"time", "mode"});
    describe_variable(file, "a_spread", modes.units, "Standard deviation of the ensemble's members");
    file.variable("a_members", netcdf::Type::float64, {"member", "time", "mode"});
    describe_variable(file, "a_members", modes.units, "Coefficients of each member");
    if (!output.fields.empty()) define_fields(file, modes);

    file.write("time", output.dates);
    file.write("forecast_reference_time", std::vector<double>{output.from});
    file.write("a", ensemble.mean);
    file.write("a_spread", ensemble.spread);
    std::vector<double> members;
    for (const auto& member : ensemble.members) members.insert(members.end(), member.begin(), member.end());
    file.write("a_members", members);
    if (!output.fields.empty()) {
      file.write("lat", modes.latitude);
      file.write("lon", modes.longitude);
      const auto points = modes.n_points();
      for (std::size_t lead = 0; lead < leads; ++lead)
        for (const auto* which : {&output.fields, &output.spread})
          file.write(which == &output.fields ? "sst" : "sst_spread", {lead, 0, 0},
                     {1, modes.latitude.size(), modes.longitude.size()},
                     on_grid(modes, which->data() + lead * points));
    }
    file.close();
  });
}

}  // namespace quintet::podlstm
