#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/record.hpp"
#include "physics/ocean/sources/joined_source.hpp"
#include "tests/support/open_fields.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::ocean {

/// A file of fields as somebody writes them.
struct Written {
  netcdf::Format format = netcdf::Format::classic;
  std::vector<double> latitude{1.5, 0.5, -0.5}, longitude{0.5, 90.5, 180.5, 270.5}, days{66410, 66417, 66424};
  std::string units = "degC", time_units = "days since 1800-1-1 00:00:00", calendar;
  std::map<std::string, std::string> words{};  ///< more attributes of sst
  bool packed = true, with_level = false, latitude_units = true;
  std::function<double(double latitude, double longitude, double day)> value =
      [](double y, double x, double day) { return 20 + y + 0.01 * x + 0.1 * (day - 66410) / 7; };

  void write(const std::string& path) const {
    auto file = netcdf::Writer::create(path, format);
    file.dimension("time", 0);
    if (with_level) file.dimension("lev", 1);
    file.dimension("lat", latitude.size());
    file.dimension("lon", longitude.size());
    file.variable("time", netcdf::Type::float64, {"time"});
    file.variable("lat", netcdf::Type::float32, {"lat"});
    file.variable("lon", netcdf::Type::float32, {"lon"});
    std::vector<std::string> axes{"time", "lat", "lon"};
    if (with_level) axes.insert(axes.begin() + 1, "lev");
    file.variable("sst", packed ? netcdf::Type::int16 : netcdf::Type::float64, axes);
    if (!time_units.empty()) file.attribute("time", "units", time_units);
    if (!calendar.empty()) file.attribute("time", "calendar", calendar);
    if (latitude_units) file.attribute("lat", "units", "degrees_north");
    file.attribute("lon", "units", "degrees_east");
    if (!units.empty()) file.attribute("sst", "units", units);
    for (const auto& [name, word] : words) file.attribute("sst", name, word);
    file.attribute("sst", "missing_value", 32767);
    if (packed) file.attribute("sst", "scale_factor", 0.01, true);
    file.write("lat", latitude);
    file.write("lon", longitude);
    std::vector<double> values;
    for (const double day : days)
      for (const double y : latitude)
        for (const double x : longitude) {
          const double v = value(y, x, day);
          values.push_back(std::isnan(v) ? 32767 : packed ? std::round(v * 100) : v);
        }
    const std::uint64_t n = days.size();
    file.write("time", {0}, {n}, days);
    std::vector<std::uint64_t> start{0, 0, 0}, count{n, latitude.size(), longitude.size()};
    if (with_level) start.push_back(0), count.insert(count.begin() + 1, 1);
    file.write("sst", start, count, values);
    file.close();
  }
};

class RecordTest : public ::testing::Test {
 protected:
  Comm comm = Comm::world();
  std::unique_ptr<Scratch> scratch = comm.is_root() ? std::make_unique<Scratch>("record") : nullptr;
  std::string folder = comm.broadcast(comm.is_root() ? scratch->path() : std::string());
  ~RecordTest() override { comm.barrier(); }

  std::string path(const std::string& name) { return folder + "/" + name; }
  void write(const std::string& name, const Written& written) {
    comm.barrier();
    if (comm.is_root()) written.write(path(name));
    comm.barrier();
  }
  Record open(const std::vector<std::string>& names, const RecordOptions& options = {},
              const std::optional<MaskFile>& mask = std::nullopt, const FieldOptions& said = {}) {
    std::vector<std::unique_ptr<FieldSource>> sources;
    for (const auto& name : names) sources.push_back(test::open_fields(path(name), "sst", said));
    return {comm, joined(std::move(sources)), mask, options};
  }
  /// All values of a record at all ranks: [points, times].
  std::vector<double> values(const Record& record) {
    const auto mine = record.read(0, record.n_times());
    std::vector<double> rows;
    for (int p = 0; p < mine.rows(); ++p) rows.insert(rows.end(), mine.row(p), mine.row(p) + mine.columns());
    return comm.all_gather(std::span<const double>(rows));
  }
  void refused(const std::vector<std::string>& names, const std::string& part,
               const RecordOptions& options = {}, const std::optional<MaskFile>& mask = std::nullopt,
               const FieldOptions& said = {}) {
    std::string message;
    try {
      static_cast<void>(open(names, options, mask, said));
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' lacks '" << part << "'";
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  void refused(const Written& written, const std::string& part, const RecordOptions& options = {}) {
    write("bad.nc", written);
    refused({std::string("bad.nc")}, part, options);
  }
};

}  // namespace quintet::ocean
