#include <cmath>

#include "io/config/tree.hpp"
#include "io/fields/field_series.hpp"
#include "io/files/input_file.hpp"
#include "io/formula/formula.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/support/zip_writer.hpp"
#include "tests/unit/config/sample_options.hpp"

/// Readers of io: documents, options, formulas, HDF5 files, checkpoints, fields over time.
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
          {"npz", "a.npz", archives, read_series}};
}

}  // namespace quintet::fuzz
