#include <numeric>

#include "io/netcdf/netcdf_writer.hpp"
#include "physics/ocean/coefficient_file.hpp"
#include "physics/ocean/modes_file.hpp"
#include "physics/ocean/sources/field_source.hpp"
#include "tests/support/open_fields.hpp"
#include "tests/support/zip_writer.hpp"
#include "tests/unit/fields/fields_support.hpp"
#include "tests/unit/readers/reader_rows.hpp"

// Readers of fields over time, and of what is made of them.

namespace quintet::readers {
namespace {

using netcdf::Format;
using netcdf::Type;

template <class T>
std::vector<T> numbers(int n, int from = 0) {
  std::vector<T> values(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<T>(0.5 * (from + i) - 3);
  return values;
}

void write_own(const std::string& path) {
  testing::write_small(Comm::self(), path, testing::small_header(1), 2);
}

/// As The Well's `rayleigh_benard`.
void write_well(const std::string& path) {
  auto file = hdf5::File::create(Comm::self(), path);
  auto& root = file.root();
  root.set_attribute("dataset_name", "rayleigh_benard");
  root.set_attribute("grid_type", "cartesian");
  root.set_attribute("n_spatial_dims", 2);
  root.set_attribute("n_trajectories", 1);
  auto dimensions = root.group("dimensions");
  dimensions.set_attribute("spatial_dims", std::vector<std::string>{"x", "y"});
  dimensions.write<float>("time", std::vector<float>{0, 0.25, 0.5}, {3}, {});
  dimensions.write<float>("x", std::vector<float>{0, 1, 2, 3}, {4}, {});
  dimensions.write<float>("y", std::vector<float>{0.1F, 0.2F, 0.5F, 0.8F, 0.9F}, {5}, {});
  for (const auto& [name, kind, axis] :
       {std::array{"x_periodic", "PERIODIC", "x"}, std::array{"y_wall_dirichlet", "WALL", "y"}}) {
    auto boundary = root.group(std::string("boundary_conditions/") + name);
    boundary.set_attribute("bc_type", kind);
    boundary.set_attribute("associated_dims", std::vector<std::string>{axis});
  }
  auto scalars = root.group("scalars");
  scalars.set_attribute("field_names", std::vector<std::string>{"Rayleigh", "Prandtl"});
  scalars.write<float>("Rayleigh", std::vector<float>{1e6F}, {}, {});
  scalars.write<float>("Prandtl", std::vector<float>{0.5F}, {1}, {});
  auto t0 = root.group("t0_fields"), t1 = root.group("t1_fields");
  t0.set_attribute("field_names", std::vector<std::string>{"buoyancy", "pressure"});
  t0.write<float>("buoyancy", numbers<float>(60), {1, 3, 4, 5}, {});
  t0.write<float>("pressure", numbers<float>(60, 1000), {1, 3, 4, 5}, {});
  t1.set_attribute("field_names", std::vector<std::string>{"velocity"});
  t1.write<float>("velocity", numbers<float>(120, 2000), {1, 3, 4, 5, 2}, {});
  root.group("t2_fields").set_attribute("field_names", std::vector<std::string>{});
}

void write_npz(const std::string& path) {
  std::vector<zip::Member> members;
  for (const auto* name : {"p", "b", "u", "w"})
    members.push_back(
        {std::string(name) + ".npy",
         zip::npy<float>("<f4", "(3, 4, 5)", numbers<float>(60, 100 * static_cast<int>(members.size())))});
  members.push_back({"x.npy", zip::npy<double>("<f8", "(4,)", {0, 0.5, 1, 1.5})});
  members.push_back({"z.npy", zip::npy<double>("<f8", "(5,)", {-0.4, -0.2, 0, 0.2, 0.4})});
  members.push_back({"t.npy", zip::npy<double>("<f8", "(3,)", {1, 2, 3})});
  zip::write(path, zip::archive(members, false, false));
}

Answer read_series(const std::string& path, const FieldSeriesOptions& options) {
  const auto reader = FieldSeriesReader::open(Comm::self(), path, options);
  const auto& header = reader.header();
  Answer answer{header.name, reader.reading().text()};
  for (const auto& axis : header.axes) {
    answer.values += fmt::format("\n{} {} ", axis.name, axis.units);
    put(answer.values, axis.coordinates);
    put(answer.values, std::array{axis.lower, axis.upper, double(axis.periodic)});
  }
  for (const auto& [name, value] : reader.parameters(0))
    answer.values += fmt::format("{} {:.17g} ", name, value);
  for (const auto& wall : header.wall_values) put(answer.values, std::array{wall.value});
  put(answer.values, reader.times());
  for (std::size_t f = 0; f < header.fields.size(); ++f) {
    answer.values += header.fields[f].name + " " + header.fields[f].units + " ";
    put(answer.values, reader.read<double>(static_cast<int>(f), 0, {0, reader.n_frames(0), {}}));
  }
  return answer;
}

/// Sea surface temperatures as others pack them.
void write_sea(const std::string& path, Format format) {
  auto file = netcdf::Writer::create(path, format);
  file.dimension("time", 0);
  file.dimension("lat", 2);
  file.dimension("lon", 3);
  file.variable("time", Type::float64, {"time"});
  file.variable("lat", Type::float32, {"lat"});
  file.variable("lon", Type::float32, {"lon"});
  file.variable("sst", Type::int16, {"time", "lat", "lon"});
  file.attribute("time", "units", "days since 1800-1-1 00:00:00");
  file.attribute("time", "calendar", "noleap");
  file.attribute("lat", "units", "degrees_north");
  file.attribute("lon", "units", "degrees_east");
  file.attribute("sst", "units", "K");
  file.attribute("sst", "long_name", "sea surface temperature anomaly");
  file.attribute("sst", "_FillValue", 32767);
  file.attribute("sst", "missing_value", 32766);
  file.attribute("sst", "scale_factor", 0.01, true);
  file.attribute("sst", "add_offset", 0.5, true);
  file.attribute("sst", "valid_min", -500);
  file.attribute("sst", "valid_max", 2500);
  file.write("lat", std::vector<double>{0.5, -0.5});
  file.write("lon", std::vector<double>{-119.5, 0.5, 120.5});
  file.write("time", {0}, {2}, std::vector<double>{66410, 66417});
  file.write("sst", {0, 0, 0}, {2, 2, 3},
             std::vector<double>{100, 200, 300, 32767, 500, 2600, 110, 210, 310, 32766, 510, -510});
  file.close();
}

Answer read_sea(const std::string& path) {
  const auto source = test::open_fields(path, "sst");
  Answer answer{source->calendar + " " + source->units, source->reading.text()};
  put(answer.values, std::array{double(source->quantity == ocean::FieldQuantity::anomaly)});
  put(answer.values, source->grid.latitude);
  put(answer.values, source->grid.longitude);
  put(answer.values, source->days);
  put(answer.values, source->read(0, source->days.size()));
  return answer;
}

void write_mask(const std::string& path) {
  auto file = netcdf::Writer::create(path, Format::netcdf4);
  file.dimension("lat", 2);
  file.dimension("lon", 3);
  file.variable("lat", Type::float32, {"lat"});
  file.variable("lon", Type::float32, {"lon"});
  file.variable("mask", Type::int16, {"lat", "lon"});
  file.attribute("lat", "units", "degrees_north");
  file.attribute("lon", "units", "degrees_east");
  file.attribute("mask", "_FillValue", -1);
  file.write("lat", std::vector<double>{0.5, -0.5});
  file.write("lon", std::vector<double>{-119.5, 0.5, 120.5});
  file.write("mask", std::vector<double>{1, 0, 1, 1, -1, 0});
  file.close();
}

Answer read_mask(const std::string& path) {
  const auto mask = ocean::read_mask(path, "mask", 1);
  Answer answer{"", mask.reading.text()};
  put(answer.values, mask.grid.latitude);
  put(answer.values, mask.grid.longitude);
  put(answer.values, mask.sea);
  return answer;
}

void write_coefficients(const std::string& path) {
  auto file = netcdf::Writer::create(path, Format::netcdf4);
  file.dimension("time", 3);
  file.dimension("mode", 2);
  file.variable("time", Type::float64, {"time"});
  file.variable("a", Type::float64, {"time", "mode"});
  file.attribute("time", "units", "days since 1800-1-1");
  file.attribute("time", "calendar", "noleap");
  file.attribute("a", "n_train", 2);
  file.write("time", std::vector<double>{66410, 66417, 66424});
  file.write("a", std::vector<double>{1, 2, 3, 4, 5, 6});
  file.close();
}

Answer read_coefficients(const std::string& path) {
  const auto file = ocean::read_coefficients(Comm::self(), path, "a");
  Answer answer{file.calendar, file.reading.text()};
  put(answer.values, std::array{file.n_fit.value_or(-1), file.series.n_modes});
  put(answer.values, file.series.time);
  put(answer.values, file.series.values);
  return answer;
}

void write_modes(const std::string& path) {
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
}

Answer read_modes(const std::string& path) {
  const auto modes = ocean::read_modes(Comm::self(), path);
  Answer answer{fmt::format("{} {} {}", modes.units, modes.calendar, modes.source), ""};
  put(answer.values, std::array{double(modes.n_fit), modes.captured_variance, double(modes.anomalies),
                                double(modes.harmonics)});
  for (const auto* list : {&modes.series.time, &modes.series.values, &modes.singular_values, &modes.latitude,
                           &modes.longitude, &modes.modes, &modes.mean, &modes.weights, &modes.cycle})
    put(answer.values, *list);
  put(answer.values, modes.mask);
  return answer;
}

}  // namespace

std::vector<Row> field_rows() {
  const FieldSeriesOptions well{.axes = {"z", "x"}}, archive{.facts = {{"z", {.lower = -0.5, .upper = 0.5}}}};
  std::vector<Row> rows{
      {"fields of ours",
       "fields",
       "a.h5",
       write_own,
       [](const auto& path) { return read_series(path, {}); },
       false,
       {"/@dataset_name", "/@schema", "/dimensions/x@units", "/dimensions/z@units", "/scalars/"}},
      {"The Well",
       "fields",
       "a.hdf5",
       write_well,
       [=](const auto& path) { return read_series(path, well); },
       false,
       {"/scalars/"}},
      {"npz", "fields", "a.npz", write_npz, [=](const auto& path) { return read_series(path, archive); }},
      {"mask", "mask", "mask.nc", write_mask, read_mask},
      {"coefficients", "coefficients", "c.nc", write_coefficients, read_coefficients, false, {"/a@n_train"}},
      {"modes", "modes", "modes.h5", write_modes, read_modes}};
  for (const auto format : {Format::classic, Format::netcdf4})
    rows.push_back({format == Format::classic ? "netCDF classic" : "netCDF-4",
                    "sea",
                    "a.nc",
                    [=](const auto& path) { write_sea(path, format); },
                    read_sea,
                    false,
                    {"/sst", "/sst@scale_factor", "/sst@add_offset"}});
  return rows;
}

}  // namespace quintet::readers
