#include "surrogates/sequence/forecast/forecast_file.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "io/config/table.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/network/heads.hpp"
#include "surrogates/sequence/training/precisions.hpp"

namespace quintet::sequence {

namespace {

constexpr const char* schema = "quintet.ocean_forecast";
constexpr int schema_version = 1;
constexpr int most = 1 << 20;  // of any one size in a file

void check_finite(const std::vector<double>& values, const std::string& what) {
  QUINTET_CHECK(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }),
                "{}: holds numbers that are not finite", what);
}

/// Reads numbers with the file's name in messages.
class Reader {
 public:
  Reader(const hdf5::Group& root, std::string path) : root_(root), path_(std::move(path)) {}
  [[nodiscard]] int size(const char* name, int least) const {
    const auto value = root_.integer_attribute(name);
    QUINTET_CHECK(value >= least && value <= most, "{}: {} is {}; expected {} to {}", path_, name, value,
                  least, most);
    return value;
  }
  [[nodiscard]] double number(const char* name) const {
    const auto values = root_.number_attribute(name);
    QUINTET_CHECK(values.size() == 1 && std::isfinite(values[0]), "{}: {}: expected one finite number", path_,
                  name);
    return values[0];
  }
  [[nodiscard]] std::vector<double> values(const char* name, const hdf5::Shape& shape) const {
    auto read = root_.read<double>(name, shape);
    check_finite(read, path_ + ": " + name);
    return read;
  }
  /// The value of an attribute that names it. @param names pairs, as choices_of() makes them of a table
  template <class Value>
  [[nodiscard]] Value named(const char* name, const std::vector<std::pair<std::string, Value>>& names) const {
    const auto text = root_.text_attribute(name);
    for (const auto& [key, value] : names)
      if (key == text) return value;
    throw InputError(fmt::format("{}: {} '{}' is not known to this version", path_, name, text));
  }

 private:
  const hdf5::Group& root_;
  std::string path_;
};

/// Networks of binary codes: `codes/network_K`, and all other parameters as `biases`.
void write_codes_of(hdf5::Group& root, const ForecastModel& model) {
  const Graph graph = graph_of(model.architecture);
  std::vector<float> biases;
  for (std::size_t k = 0; k < model.members.size(); ++k) {
    write_codes(root.group(fmt::format("codes/network_{}", k + 1)), model.codes[k]);
    const auto own = biases_of(graph, model.members[k]);
    biases.insert(biases.end(), own.begin(), own.end());
  }
  root.write<float>("biases", biases, {model.members.size(), biases.size() / model.members.size()},
                    {"1", {"member", "parameter"}, "What no matrix holds, operation by operation"});
}

void read_codes_of(const hdf5::Group& root, const Reader& reader, const std::string& path, std::size_t n,
                   ForecastModel& model) {
  const Graph graph = graph_of(model.architecture);
  const auto width = biases_of(graph, std::vector<double>(graph.n_parameters)).size();
  const auto biases = reader.values("biases", {n, width});
  const auto groups = root.open_group("codes");
  for (std::size_t k = 0; k < n; ++k) {
    auto codes = read_codes(groups.open_group(fmt::format("network_{}", k + 1)), path);
    check_matrices(graph, codes, path);
    const auto own = with_biases(graph, std::span(biases).subspan(k * width, width));
    model.members.push_back(decode_matrices(graph, own, codes));
    model.codes.push_back(std::move(codes));
  }
}

void write_members(hdf5::Group& root, const ForecastModel& model) {
  root.set_attribute("members", static_cast<int>(model.members.size()));
  if (!model.codes.empty()) return write_codes_of(root, model);
  std::vector<double> all;
  for (const auto& member : model.members) all.insert(all.end(), member.begin(), member.end());
  if (!all.empty())
    root.write<double>("parameters", all, {model.members.size(), model.members[0].size()},
                       {"1", {"member", "parameter"}, "Weights of the networks, operation by operation"});
}

/// The nodes with the modes there: what its edges and products follow from.
void write_graph(hdf5::Group& root, const ForecastModel& model) {
  const GraphNetwork& graph = *model.graph;
  const SeaNodes& nodes = *graph.nodes;
  const std::uint64_t n = nodes.size();
  root.set_attribute("network", summary(graph));
  root.set_attribute("network_kind", "graph");
  root.set_attribute("graph_coarsen", graph.options.coarsen);
  root.set_attribute("graph_neighbours", graph.options.neighbours);
  root.set_attribute("graph_mesh", graph.options.mesh);
  root.set_attribute("graph_features", graph.options.features);
  root.set_attribute("graph_layers", graph.options.layers);
  root.set_attribute("precision", name_of(model.precision));
  root.set_attribute("graph_spacing", nodes.spacing);
  const auto write = [&](const char* name, const std::vector<double>& values, const char* unit,
                         const char* text) {
    root.write<double>(name, values, {n}, {unit, {"node"}, text});
  };
  write("node_latitude", nodes.latitude, "degrees_north", "Latitudes of the graph's nodes");
  write("node_longitude", nodes.longitude, "degrees_east", "Longitudes of the graph's nodes");
  write("node_area", nodes.area, "1", "Cosines of latitude, summed over a node's points");
  write("node_weight", nodes.weight, "1", "Weights of the modes' inner product, summed over a node's points");
  root.write<double>("node_modes", nodes.modes, {n, static_cast<std::uint64_t>(nodes.n_modes)},
                     {"1", {"node", "mode"}, "Modes at the nodes"});
  write_members(root, model);
}

void read_members(const Reader& reader, std::size_t n, ForecastModel& model) {
  const std::size_t width = n_parameters(model);
  const auto all = reader.values("parameters", {n, width});
  for (std::size_t k = 0; k < n; ++k)
    model.members.emplace_back(all.begin() + k * width, all.begin() + (k + 1) * width);
}

// Edges and products follow from the nodes, so that the file holds none: sizes are checked before anything is
// made of them, for files are edited.
void read_graph(const hdf5::Group& root, const Reader& reader, const std::string& path,
                ForecastModel& model) {
  GraphOptions options;
  options.coarsen = reader.size("graph_coarsen", 1);
  options.neighbours = reader.size("graph_neighbours", 3);
  options.mesh = reader.size("graph_mesh", 0);
  options.features = reader.size("graph_features", 1);
  options.layers = reader.size("graph_layers", 1);
  constexpr int widest = 1 << 14;
  QUINTET_CHECK(options.features <= widest && options.layers <= widest && options.neighbours <= widest,
                "{}: a graph network of {} layers of {} features, {} neighbours; at most {} each", path,
                options.layers, options.features, options.neighbours, widest);
  SeaNodes nodes;
  nodes.n_modes = model.n_modes();
  nodes.spacing = reader.number("graph_spacing");
  const auto shape = root.shape("node_latitude");
  QUINTET_CHECK(shape.size() == 1 && shape[0] >= 2 && shape[0] < (1U << 30U) && nodes.spacing >= 0,
                "{}: node_latitude: expected two or more nodes, and a graph_spacing of 0 or more", path);
  nodes.latitude = reader.values("node_latitude", shape);
  nodes.longitude = reader.values("node_longitude", shape);
  nodes.area = reader.values("node_area", shape);
  nodes.weight = reader.values("node_weight", shape);
  nodes.modes = reader.values("node_modes", {shape[0], static_cast<std::uint64_t>(nodes.n_modes)});
  for (const auto* values : {&nodes.area, &nodes.weight})
    QUINTET_CHECK(std::all_of(values->begin(), values->end(), [](double x) { return x > 0; }),
                  "{}: areas and weights of nodes: expected numbers above 0", path);
  // Files before there was float32 do not say.
  if (root.has_attribute("precision"))
    options.precision = reader.named("precision", choices_of(graph_precisions()));
  model.precision = options.precision;
  model.graph = graph_network(model, std::make_shared<const SeaNodes>(std::move(nodes)), options);
  read_members(reader, reader.size("members", 1), model);
}

void write_network(hdf5::Group& root, const ForecastModel& model) {
  if (model.graph && !model.members.empty()) return write_graph(root, model);
  const auto architecture = options_of(model.architecture);
  root.set_attribute("nodes", architecture.nodes);
  root.set_attribute("skips", architecture.skips);
  root.set_attribute("head", row_of(heads(), architecture.head).name);
  root.set_attribute("precision", name_of(model.precision));
  root.set_attribute("network", summary(model.architecture));
  write_members(root, model);
}

void read_network(const hdf5::Group& root, const Reader& reader, const std::string& path,
                  ForecastModel& model) {
  if (root.has_attribute("network_kind")) {
    const auto kind = root.text_attribute("network_kind");
    QUINTET_CHECK(kind == "graph", "{}: network_kind '{}' is not known to this version", path, kind);
    return read_graph(root, reader, path, model);
  }
  ArchitectureOptions options;
  options.nodes = root.texts_attribute("nodes");
  options.skips = root.texts_attribute("skips");
  options.head = reader.named("head", choices_of(heads()));
  model.precision = reader.named("precision", choices_of(precisions()));
  model.architecture = make_architecture(options, model.n_inputs(), model.n_modes(), model.shape.out);
  const std::size_t n = reader.size("members", 0);
  if (n == 0) return;
  if (root.has("codes")) return read_codes_of(root, reader, path, n, model);
  read_members(reader, n, model);
}

}  // namespace

void write_forecast_model(const Comm& comm, const std::string& path, const ForecastModel& model,
                          const hdf5::Provenance& provenance) {
  auto file = hdf5::File::create(comm, path);
  auto& root = file.root();
  hdf5::write_header(root, schema, schema_version, provenance);
  const auto& base = model.base;
  const auto& climatology = base.climatology;
  const std::uint64_t modes = model.n_modes(), out = model.shape.out;
  root.set_attribute("kind", row_of(forecast_kinds(), model.kind).name);
  root.set_attribute("window_in", model.shape.in);
  root.set_attribute("window_out", model.shape.out);
  root.set_attribute("n_modes", model.n_modes());
  root.set_attribute("irregular_steps", row_of(irregular_rows(), model.irregular).name);
  root.set_attribute("step_days", model.step.days);
  root.set_attribute("step_months", model.step.months);
  root.set_attribute("modes_fingerprint", model.modes);
  root.set_attribute("trained_from", model.trained_from);
  root.set_attribute("trained_until", model.trained_until);
  root.set_attribute("validated_until", model.validated_until);
  root.set_attribute("leaks", model.leaks);
  root.set_attribute("seasons", model.seasons);
  root.set_attribute("base", base.name);
  root.set_attribute("base_lags", base.features.lags);
  root.set_attribute("base_means", base.features.means);
  root.set_attribute("base_seasons", base.features.seasons);
  root.set_attribute("climatology_harmonics", climatology.harmonics());
  root.set_attribute("climatology_middle", climatology.middle());
  root.set_attribute("climatology_first", climatology.first());
  root.set_attribute("climatology_last", climatology.last());
  root.set_attribute("climatology_valid_until", climatology.valid_until());
  root.write<double>("climatology", climatology.values(),
                     {static_cast<std::uint64_t>(2 + 2 * climatology.harmonics()), modes},
                     {"degree_Celsius",
                      {"function", "mode"},
                      "1, cos and sin of each harmonic, time in decades about climatology_middle"});
  const std::uint64_t features = base.features.count(model.n_modes());
  if (features > 0)
    root.write<double>("base_weights", base.weights, {features, out, modes},
                       {"1", {"feature", "lead", "mode"}, "Weights of the linear base"});
  root.write<double>("base_offset", base.offset, {out, modes},
                     {"degree_Celsius", {"lead", "mode"}, "Offset of the linear base"});
  const auto scaling = [&](const char* name, const std::vector<double>& values) {
    root.write<double>(name, values, {modes},
                       {"degree_Celsius", {"mode"}, "Networks see and give (value - offset)/scale"});
  };
  scaling("input_offset", model.input.offset);
  scaling("input_scale", model.input.scale);
  scaling("output_offset", model.output.offset);
  scaling("output_scale", model.output.scale);
  if (!model.validation_errors.empty())
    root.write<double>("validation_errors", model.validation_errors, {out, modes, modes},
                       {"degree_Celsius2",
                        {"lead", "mode", "mode"},
                        "Mean products of errors of the ensemble's mean on the validation windows"});
  write_network(root, model);
  file.close();
  hdf5::seal(comm, path);
}

ForecastModel read_forecast_model(const Comm& comm, const std::string& path) {
  hdf5::verify_if_sealed(comm, path);
  const auto file = hdf5::File::open(comm, path);
  hdf5::check_header(file, schema, schema_version);
  const auto& root = file.root();
  const Reader reader(root, path);
  ForecastModel model;
  model.kind = reader.named("kind", choices_of(forecast_kinds()));
  model.shape = {reader.size("window_in", 1), reader.size("window_out", 1)};
  const int n_modes = reader.size("n_modes", 1);
  const std::uint64_t modes = n_modes, out = model.shape.out;
  model.irregular = reader.named("irregular_steps", choices_of(irregular_rows()));
  model.step = {reader.number("step_days"), reader.size("step_months", 0)};
  model.modes = root.text_attribute("modes_fingerprint");
  model.trained_from = reader.number("trained_from");
  model.trained_until = reader.number("trained_until");
  model.validated_until = reader.number("validated_until");
  model.leaks = root.texts_attribute("leaks");
  model.seasons = reader.size("seasons", 0);
  auto& base = model.base;
  base.name = root.text_attribute("base");
  base.out = model.shape.out;
  base.features.lags = reader.size("base_lags", 0);
  for (const double length : root.number_attribute("base_means")) {
    QUINTET_CHECK(length >= 1 && length < most, "{}: base_means: {} is no number of steps", path, length);
    base.features.means.push_back(length);
  }
  base.features.seasons = reader.size("base_seasons", 0);
  const int harmonics = reader.size("climatology_harmonics", 0);
  base.climatology =
      Climatology(harmonics, n_modes, reader.number("climatology_middle"), reader.number("climatology_first"),
                  reader.number("climatology_last"), reader.number("climatology_valid_until"),
                  reader.values("climatology", {static_cast<std::uint64_t>(2 + 2 * harmonics), modes}));
  const std::int64_t of_a_mode =
      base.features.lags + 2 * std::int64_t{base.features.seasons} + std::ssize(base.features.means);
  QUINTET_CHECK(of_a_mode <= most / n_modes, "{}: a linear base that sees {} x {} numbers; at most {}", path,
                of_a_mode, n_modes, most);
  const std::uint64_t features = base.features.count(n_modes);
  if (features > 0) base.weights = reader.values("base_weights", {features, out, modes});
  base.offset = reader.values("base_offset", {out, modes});
  model.input = {reader.values("input_offset", {modes}), reader.values("input_scale", {modes})};
  model.output = {reader.values("output_offset", {modes}), reader.values("output_scale", {modes})};
  for (const auto* scaling : {&model.input, &model.output})
    for (const double scale : scaling->scale)
      QUINTET_CHECK(scale > 0, "{}: a scale of {}; expected more than 0", path, scale);
  if (root.has("validation_errors"))
    model.validation_errors = reader.values("validation_errors", {out, modes, modes});
  read_network(root, reader, path, model);
  return model;
}

}  // namespace quintet::sequence
