#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>

#include <zlib.h>

#include "io/config/tree.hpp"
#include "io/fields/field_series.hpp"
#include "io/files/decompress.hpp"
#include "io/files/input_file.hpp"
#include "io/files/number_table.hpp"
#include "io/formula/formula.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/support/zip_writer.hpp"
#include "tests/unit/config/sample_options.hpp"

/// Readers of io: documents, options, formulas, HDF5 files, checkpoints, fields over time, packed bytes,
/// tables of numbers.
namespace quintet::fuzz {
namespace {

std::vector<std::string> documents() {
  return {
      "time: {dt: 0.5 fs, steps: 10}\nensemble: nvt\nobservers:\n  - {name: thermo, every: 5}\n  - every: "
      "7\n",
      "a: &x [1, 2.5e-3, 'text', \"q\\n\\u00e4\", null, ~, yes]\nb: *x\nc: {d: *x, ? e : |\n  block\n  of "
      "text\n}\n",
      "time:\n  steps: 3  # comment\nbarostat: {pressure: [1 bar, 2 bar, 3e5 Pa], relaxation: 1 ps}\n"
      "replicate: [1, 2, 3]\ntypes: [O, H]\nweights: [0.1, 1/3]\ntemperature: 300 K\nwrap: false\n",
      R"({"model": {"type_map": ["O", "H"], "sel": [46, 92]}, "list": [[1, 2], [3, 4]], "text": "a\tb"})"};
}

void read_document(const std::string& path) {
  const Tree tree = read_yaml(path);
  const std::string yaml = to_yaml(tree);
  static_cast<void>(to_json(tree));
  static_cast<void>(parse_yaml(yaml, "again"));
}

void read_options(const std::string& path) {
  sample::Run run;
  parse_options(read_yaml(path), described(run));
}

std::vector<std::string> formulas() {
  return {"1 + 0.01*cos(k*x)", "x > 0 ? exp(-x^2/2)/sqrt(2*pi) : min(x, t, 1e-3)", "-2^3^2 + atan2(t, x)",
          "step(x)*gauss((x - 1)/0.1) && 1 || k == 0.5", "((((x))))"};
}

void read_formula(const std::string& path) {
  const Formula formula(read_input_file(path), {"x", "t"}, {{"k", 0.5}}, "formula");
  for (const double x : {0.0, -1.5, 1e300}) static_cast<void>(formula(std::vector<double>{x, 1}));
}

void read_constants(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> constants;
  const Tree tree = read_yaml(path);
  for (const auto& [name, value] : tree.entries()) constants.emplace_back(name, value.as_text());
  static_cast<void>(evaluate_constants(constants));
}

void fill(hdf5::Group& root) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  root.write<double>("positions", values, {2, 3}, {"angstrom", {"atom", "xyz"}, "Positions"});
  auto group = root.group("inner");
  group.write<std::int64_t>("ids", std::vector<std::int64_t>{7, 8}, {2}, {"1", {"atom"}, "Ids"});
  group.write_text("note", "a text of some length", {});
  group.set_attribute("list", std::vector<std::string>{"one", "two"});
  group.set_attribute("numbers", std::vector<double>{0.5, 1.5});
  auto series = root.series<double>("energy", {1}, {"eV", {"time", "component"}, "Energy"});
  for (const double e : values) series.append<double>(std::vector<double>{e});
}

std::vector<std::string> hdf5_files() {
  return {written("a.h5", [](const std::string& path) {
    auto file = hdf5::File::create(Comm::self(), path);
    hdf5::write_header(file.root(), "quintet_run", 1, hdf5::current_provenance());
    fill(file.root());
    file.close();
  })};
}

std::vector<std::string> checkpoints() {
  return {written("step_000000000003.h5", [](const std::string& path) {
    const auto folder = path.substr(0, path.rfind('/'));
    hdf5::CheckpointStore(Comm::self(), folder, 1).write(3, hdf5::current_provenance(), fill);
  })};
}

/// All that a group holds, as far as its element type can be read.
void read_group(const hdf5::Group& group, int depth) {
  for (const auto& name : group.names()) {
    if (group.is_group(name)) {
      if (depth < 8) read_group(group.open_group(name), depth + 1);
    } else if (const auto type = group.element_type(name); type == "string") {
      static_cast<void>(group.read_texts(name));
    } else if (type.find("int") != std::string::npos) {
      static_cast<void>(group.read<std::int64_t>(name));
    } else {
      static_cast<void>(group.read<double>(name));
    }
  }
}

void read_hdf5(const std::string& path) {
  static_cast<void>(hdf5::inspect(Comm::self(), path));
  const auto file = hdf5::File::open(Comm::self(), path);
  read_group(file.root(), 0);
}

void read_checkpoint(const std::string& path) {
  hdf5::verify_checkpoint(Comm::self(), path);
  const auto file = hdf5::File::open(Comm::self(), path);
  static_cast<void>(hdf5::checkpoint_step(file));
  read_group(file.root(), 0);
}

std::vector<std::string> field_series() {
  return {written("a.h5", [](const std::string& path) {
    FieldSeriesHeader header;
    header.axes = {{"x", "1", {0, 1, 2}, true, 0, 3}, {"z", "1", {-0.25, 0.25}, false, -0.5, 0.5}};
    header.fields = {
        {"b", "1", "Buoyancy.", "", -1}, {"u", "1", "", "velocity", 0}, {"w", "1", "", "velocity", 1}};
    header.parameters = {{"Ra", 1e4}};
    header.n_samples = 2;
    header.seeds = {1, 2};
    header.mask = {1, 1, 1, 0, 1, 1};
    auto writer = FieldSeriesWriter::create(Comm::self(), path, header, hdf5::current_provenance());
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    for (int sample = 0; sample < 2; ++sample)
      for (int frame = 0; frame < 3; ++frame)
        writer.append<float>(sample, frame, {values, values, values}, {{0, 0}, {3, 2}});
    writer.close();
  })};
}

std::vector<std::string> archives() {
  const std::vector<zip::Member> members{
      {"p.npy", zip::npy<float>("<f4", "(2, 3, 2)", std::vector<float>(12, 1.5F))},
      {"x.npy", zip::npy<double>("<f8", "(3,)", {0, 1, 2})},
      {"z.npy", zip::npy<double>("<f8", "(2,)", {0, 1})},
      {"t.npy", zip::npy<double>("<f8", "(2,)", {0, 1})},
      {"Ra.npy", zip::npy<std::int64_t>("<i8", "()", {10000})}};
  return {zip::archive(members, true, false), zip::archive(members, false, true)};
}

void read_series(const std::string& path) {
  const auto reader = FieldSeriesReader::open(Comm::self(), path);
  for (std::size_t field = 0; field < reader.header().fields.size(); ++field)
    for (std::uint64_t sample = 0; sample < reader.n_samples(); ++sample)
      static_cast<void>(
          reader.read<float>(static_cast<int>(field), sample, {0, reader.n_frames(sample), {}}));
}

/// A set of a Dedalus handler: 2 writes of 4 x 6 points, Fourier times Chebyshev.
std::vector<std::string> dedalus_sets() {
  return {written("a.h5", [](const std::string& path) {
    auto file = hdf5::File::create(Comm::self(), path);
    auto scales = file.root().group("scales");
    std::vector<double> z;
    for (int k = 0; k < 6; ++k) z.push_back(-0.5 * std::cos(M_PI * (2 * k + 1) / 12));
    scales.write<double>("sim_time", std::vector<double>{0, 0.5}, {2}, {});
    scales.write<double>("x_hash_6d51", std::vector<double>{0, 0.5, 1, 1.5}, {4}, {});
    scales.write<double>("z_hash_5585", z, {6}, {});
    file.root().set_attribute("handler_name", "snapshots");
    auto tasks = file.root().group("tasks");
    const std::vector<double> values(96, 0.25);
    tasks.write<double>("buoyancy", std::span(values).first(48), {2, 4, 6}, {});
    tasks.set_member_attribute("buoyancy", "DIMENSION_LABELS", std::vector<std::string>{"t", "x", "z"});
    tasks.set_member_attribute("buoyancy", "grid_space", std::vector<std::int64_t>{1, 1});
    tasks.write<double>("u", values, {2, 2, 4, 6}, {});
    tasks.set_member_attribute("u", "DIMENSION_LABELS", std::vector<std::string>{"t", "", "x", "z"});
    file.close();
  })};
}

/// Fields over time in netCDF: b at centres, w at faces of z.
std::vector<std::string> netcdf_series() {
  return {written("a.nc", [](const std::string& path) {
    auto file = netcdf::Writer::create(path, netcdf::Format::classic);
    const std::vector<std::pair<std::string, std::vector<double>>> coordinates{
        {"time", {0, 0.5, 1}},
        {"zC", {0.125, 0.375, 0.625, 0.875}},
        {"zF", {0, 0.25, 0.5, 0.75, 1}},
        {"xC", {0.25, 0.75, 1.25, 1.75}}};
    for (const auto& [name, points] : coordinates) {
      file.dimension(name, points.size());
      file.variable(name, netcdf::Type::float64, {name});
    }
    file.variable("b", netcdf::Type::float32, {"time", "zC", "xC"});
    file.variable("w", netcdf::Type::float64, {"time", "zF", "xC"});
    for (const auto& [name, points] : coordinates) file.write(name, points);
    const std::vector<double> values(60, 0.5);
    file.write("b", std::span(values).first(48));
    file.write("w", values);
    file.close();
  })};
}

/// The description of an array of a zarr group, version 2; its only chunk is 6 doubles.
std::vector<std::string> zarr_arrays() {
  return {R"({"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "<f8", "compressor": null,
 "fill_value": "NaN", "order": "C", "filters": null, "dimension_separator": "."})",
          R"({"zarr_format": 2, "shape": [2, 3], "chunks": [1, 3], "dtype": ">i2", "compressor":
 {"id": "zlib", "level": 1}, "fill_value": -1, "order": "F", "filters": null})"};
}

void read_zarr_array(const std::string& path) {
  namespace fs = std::filesystem;
  const auto store = fs::path(path).parent_path() / "store", array = store / "b";
  fs::create_directories(array);
  std::ofstream(store / ".zgroup") << R"({"zarr_format": 2})";
  std::ofstream(array / ".zattrs") << R"({"_ARRAY_DIMENSIONS": ["y", "x"]})";
  std::ofstream(array / "0.0", std::ios::binary) << std::string(48, '\0');
  fs::copy_file(path, array / ".zarray", fs::copy_options::overwrite_existing);
  const auto file = netcdf::File::open(store.string());
  for (const auto& variable : file.variables()) {
    // What is not there counts as the fill value: a store may be of any size.
    double n = 1;
    for (const auto extent : variable.shape) n *= extent;
    if (n < 1e6) static_cast<void>(file.read_unpacked(variable));
  }
}

/// A codec's number, then what it has packed: 16 letters.
std::vector<std::string> packed_bytes() {
  const std::string letters = "abcdefghabcdefgh", lz4 = std::string("\x10\0\0\0\xf0\x01", 6) + letters;
  std::string deflated(64, '\0');
  auto n = static_cast<uLongf>(deflated.size());
  compress(reinterpret_cast<Bytef*>(deflated.data()), &n, reinterpret_cast<const Bytef*>(letters.data()),
           letters.size());
  const std::string blosc = std::string("\x02\x01\x02\x08\x10\0\0\0\x10\0\0\0\x20\0\0\0", 16) + letters;
  return {'\0' + deflated.substr(0, n), '\2' + lz4, '\3' + blosc};
}

void read_packed(const std::string& path) {
  const auto bytes = read_input_file(path);
  if (bytes.empty()) return;
  const auto codec = static_cast<Codec>(static_cast<unsigned char>(bytes[0]) % 4);
  static_cast<void>(decompressed(codec, std::string_view(bytes).substr(1), 16, "bytes"));
}

std::vector<std::string> number_tables() {
  return {"# t x z\n0.5 1 -2e-3\n1.0 2 3\n", "\xef\xbb\xbf\"t\";\"x\"\r\n\"0.5\";1\r\n1;2\r\n",
          "a,b\n1,2\n3,x\n", zip::npy<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6})};
}

void read_rows(const std::string& path) {
  const auto table = read_number_table(path);
  for (std::size_t c = 0; c < table.n_columns; ++c) table.require_numbers(c);
}

}  // namespace

std::vector<Reader> readers() {
  return {{"document", "run.yaml", documents, read_document},
          {"options", "run.yaml", documents, read_options},
          {"formula", "formula.txt", formulas, read_formula},
          {"constants", "constants.yaml",
           [] { return std::vector<std::string>{"a: 1\nb: 2*a + c\nc: sin(a)*pi\nd: max(a, b, c)^2\n"}; },
           read_constants},
          {"hdf5", "a.h5", hdf5_files, read_hdf5},
          {"checkpoint", "step_000000000003.h5", checkpoints, read_checkpoint},
          {"field_series", "a.h5", field_series, read_series},
          {"npz", "a.npz", archives, read_series},
          {"dedalus", "a.h5", dedalus_sets, read_series},
          {"netcdf_series", "a.nc", netcdf_series, read_series},
          {"zarr", "array.json", zarr_arrays, read_zarr_array},
          {"packed", "bytes.bin", packed_bytes, read_packed},
          {"number_table", "table.csv", number_tables, read_rows}};
}

}  // namespace quintet::fuzz
