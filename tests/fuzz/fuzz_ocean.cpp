#include "io/hdf5/file.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coefficient_file.hpp"
#include "physics/ocean/modes_file.hpp"
#include "physics/ocean/record.hpp"
#include "physics/ocean/sources/field_source.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/support/open_fields.hpp"

/// Readers of podlstm: netCDF files, records of fields, masks, coefficients, modes.
namespace quintet::fuzz {
namespace {

using netcdf::Format;
using netcdf::Type;

std::string fields_file(Format format) {
  return written("a.nc", [format](const std::string& path) {
    auto file = netcdf::Writer::create(path, format);
    file.dimension("time", 0);
    file.dimension("lat", 2);
    file.dimension("lon", 3);
    file.variable("time", Type::float64, {"time"});
    file.variable("lat", Type::float32, {"lat"});
    file.variable("lon", Type::float32, {"lon"});
    file.variable("sst", Type::int16, {"time", "lat", "lon"});
    file.attribute("time", "units", "days since 1800-1-1 00:00:00");
    file.attribute("lat", "units", "degrees_north");
    file.attribute("lon", "units", "degrees_east");
    file.attribute("sst", "units", "degC");
    file.attribute("sst", "scale_factor", 0.01, true);
    file.attribute("sst", "missing_value", 32767);
    file.write("lat", std::vector<double>{0.5, -0.5});
    file.write("lon", std::vector<double>{0.5, 120.5, 240.5});
    file.write("time", {0}, {2}, std::vector<double>{66410, 66417});
    file.write("sst", {0, 0, 0}, {2, 2, 3},
               std::vector<double>{2000, 2100, 32767, 2200, 2300, 2400, 2000, 2100, 32767, 2200, 2301, 2400});
    file.close();
  });
}

std::vector<std::string> classic_files() {
  return {fields_file(Format::classic), fields_file(Format::offset64)};
}
std::vector<std::string> hdf5_files() { return {fields_file(Format::netcdf4)}; }

void read_netcdf(const std::string& path) {
  const auto file = netcdf::File::open(path);
  for (const auto& variable : file.variables())
    if (variable.holds_numbers()) static_cast<void>(file.read_unpacked(variable));
}

/// What `fit` does with a file of fields.
void read_record(const std::string& path) {
  read_netcdf(path);
  auto source = test::open_fields(path, "sst");
  if (source->grid.size() * source->days.size() > 1'000'000) return;  // large ones are the user's own
  const ocean::Record record(Comm::self(), std::move(source), std::nullopt, {});
  static_cast<void>(record.read(0, record.n_times()));
}

std::vector<std::string> coefficient_files() {
  return {written("a.nc", [](const std::string& path) {
    auto file = netcdf::Writer::create(path, Format::classic);
    file.dimension("time", 3);
    file.dimension("mode", 2);
    file.variable("time", Type::float64, {"time"});
    file.variable("a", Type::float64, {"time", "mode"});
    file.attribute("time", "units", "days since 1-1-1");
    file.attribute("time", "calendar", "standard");
    file.attribute("a", "n_train", 2);
    file.write("time", std::vector<double>{726468, 726475, 726482});
    file.write("a", std::vector<double>{1, 2, 3, 4, 5, 6});
    file.close();
  })};
}

void read_coefficients(const std::string& path) {
  static_cast<void>(ocean::read_coefficients(Comm::self(), path, "a"));
}

std::vector<std::string> modes_files() {
  return {written("modes.h5", [](const std::string& path) {
    ocean::OceanModes modes;
    modes.series.time = {66410, 66417, 66424};
    modes.series.n_modes = 1;
    modes.series.values = {1, 2, -3};
    modes.singular_values = {4};
    modes.n_fit = 3;
    modes.latitude = {-1, 1}, modes.longitude = {10, 20};
    modes.mask = {1, 0, 1, 1};
    modes.weights = {1, 1, 1}, modes.modes = {1, 0, 0}, modes.mean = {20, 21, 22};
    modes.harmonics = 1, modes.cycle = {1, 0, 0, 0, 0, 3};
    ocean::write_modes(Comm::self(), path, modes, hdf5::current_provenance());
  })};
}

std::vector<std::string> mask_files() {
  std::vector<std::string> files;
  for (const auto format : {Format::classic, Format::netcdf4})
    files.push_back(written("mask.nc", [format](const std::string& path) {
      auto file = netcdf::Writer::create(path, format);
      file.dimension("time", 1);
      file.dimension("lat", 2);
      file.dimension("lon", 3);
      file.variable("time", Type::float64, {"time"});
      file.variable("lat", Type::float32, {"lat"});
      file.variable("lon", Type::float32, {"lon"});
      file.variable("mask", Type::int16, {"time", "lat", "lon"});
      file.attribute("time", "units", "days since 1800-1-1 00:00:00");
      file.attribute("lat", "units", "degrees_north");
      file.attribute("lon", "units", "degrees_east");
      file.write("lat", std::vector<double>{0.5, -0.5});
      file.write("lon", std::vector<double>{-119.5, 0.5, 120.5});
      file.write("time", std::vector<double>{0});
      file.write("mask", std::vector<double>{1, 0, 1, 1, 1, 0});
      file.close();
    }));
  return files;
}

void read_mask(const std::string& path) { static_cast<void>(ocean::read_mask(path, "mask", 1)); }

void read_modes(const std::string& path) { static_cast<void>(ocean::read_modes(Comm::self(), path)); }

}  // namespace

std::vector<Reader> readers() {
  return {{"netcdf_classic", "a.nc", classic_files, read_record},
          {"netcdf_hdf5", "a.nc", hdf5_files, read_record},
          {"ocean_coefficients", "a.nc", coefficient_files, read_coefficients},
          {"ocean_mask", "mask.nc", mask_files, read_mask},
          {"ocean_modes", "modes.h5", modes_files, read_modes}};
}

}  // namespace quintet::fuzz
