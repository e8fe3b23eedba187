#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/hindcast/sea_judgement.hpp"
#include "apps/podlstm/setup/cf_file.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet::podlstm {

namespace {

/// A map of a method at all leads, as both files have it.
struct MapVariable {
  std::string name, unit, text;
  std::vector<std::span<const double>> leads;
};

std::vector<MapVariable> variables_of(const sequence::SeaScores& scores, const ocean::OceanModes& modes,
                                      const std::vector<std::string>& names, const Judged& judged) {
  std::vector<MapVariable> all;
  const int n_leads = scores.options().leads.size();
  for (int k = 0; k < scores.n_methods(); ++k) {
    const auto add = [&](const std::string& name, const std::string& unit, const std::string& text,
                         auto map_at) {
      all.push_back({name + "_" + names[k],
                     unit == "degC" ? modes.units : unit,
                     fmt::format("{} of {}", text, names[k]),
                     {}});
      for (int i = 0; i < n_leads; ++i) all.back().leads.push_back(map_at(i));
    };
    for (const auto& row : sequence::sea_map_rows())
      add(row.name, row.unit, row.doc, [&](int i) { return scores.map(row, k, i); });
    add("rmse_gain_error", "degC", "standard error of the gain over " + names[judged.against],
        [&](int i) { return scores.gain_error(k, i); });
  }
  return all;
}

/// NetCDF's numbers that are missing: land, and what is not known.
std::vector<double> filled(const ocean::OceanModes& modes, std::span<const double> values) {
  std::vector<double> own(values.begin(), values.end());
  for (double& value : own) value = std::isfinite(value) ? value : cf_fill_value;
  return on_grid(modes, own.data());
}

void write_netcdf(const std::string& path, const sequence::SeaScores& scores, const ocean::OceanModes& modes,
                  const std::vector<MapVariable>& variables, const Judged& judged,
                  const std::string& history) {
  auto file = netcdf::Writer::create(path);
  file.attribute("", "Conventions", "CF-1.8");
  const auto of = modes.is_sea_surface_temperature() ? "" : " of " + modes.short_name();
  file.attribute("", "title",
                 fmt::format("Skill of forecasts{} from rolling origins, in the space of the modes", of));
  file.attribute("", "history", history);
  file.attribute("", "source", "modes of " + modes.source);
  file.attribute("", "comment", judged.words());
  file.dimension("lead", scores.options().leads.size());
  file.variable("lead", netcdf::Type::int32, {"lead"});
  describe_variable(file, "lead", "1", "Steps ahead");
  define_grid(file, modes);
  for (const auto& one : variables) {
    file.variable(one.name, netcdf::Type::float32, {"lead", "lat", "lon"});
    describe_variable(file, one.name, one.unit, one.text);
    file.attribute(one.name, "_FillValue", cf_fill_value, true);
    if (one.unit == "degree_Celsius") file.attribute(one.name, "units_metadata", "temperature: difference");
  }
  file.write("lead", std::vector<double>(scores.options().leads.begin(), scores.options().leads.end()));
  write_grid(file, modes);
  for (const auto& one : variables)
    for (std::size_t i = 0; i < one.leads.size(); ++i)
      file.write(one.name, {i, 0, 0}, {1, modes.latitude.size(), modes.longitude.size()},
                 filled(modes, one.leads[i]));
  file.close();
}

}  // namespace

void write_maps(Context& context, const sequence::SeaScores& scores, const ocean::OceanModes& modes,
                const std::vector<std::string>& names, const Judged& judged) {
  const auto variables = variables_of(scores, modes, names, judged);
  const auto& who = context.provenance();
  on_root(context.comm(), [&] {
    write_netcdf(context.path("skill_maps.nc"), scores, modes, variables, judged,
                 fmt::format("{}: {} {}", who.date, who.program, who.version));
  });
  auto group = context.results().root().group("skill_maps");
  group.write<double>("lat", modes.latitude, {modes.latitude.size()},
                      {"degrees_north", {"lat"}, "Latitudes"});
  group.write<double>("lon", modes.longitude, {modes.longitude.size()},
                      {"degrees_east", {"lon"}, "Longitudes"});
  const std::vector<std::int64_t> leads(scores.options().leads.begin(), scores.options().leads.end());
  group.write<std::int64_t>("lead", leads, {leads.size()}, {"1", {"lead"}, "Steps ahead"});
  for (const auto& one : variables) {
    std::vector<double> fields;
    for (const auto& values : one.leads) {
      auto value = values.begin();
      for (const auto sea : modes.mask)
        fields.push_back(sea == 1 ? *value++ : std::numeric_limits<double>::quiet_NaN());
    }
    group.write<double>(one.name, fields, {one.leads.size(), modes.latitude.size(), modes.longitude.size()},
                        {one.unit, {"lead", "lat", "lon"}, one.text + "; NaN on land"});
  }
}

}  // namespace quintet::podlstm
