#include "surrogates/sequence/forecast/forecast_file.hpp"

#include <algorithm>
#include <cmath>

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

void write_network(hdf5::Group& root, const ForecastModel& model) {
  const auto architecture = options_of(model.architecture);
  root.set_attribute("nodes", architecture.nodes);
  root.set_attribute("skips", architecture.skips);
  root.set_attribute("head", row_of(heads(), architecture.head).name);
  root.set_attribute("precision", name_of(model.precision));
  root.set_attribute("network", summary(model.architecture));
  root.set_attribute("members", static_cast<int>(model.members.size()));
  if (!model.codes.empty()) return write_codes_of(root, model);
  std::vector<double> all;
  for (const auto& member : model.members) all.insert(all.end(), member.begin(), member.end());
  if (!all.empty())
    root.write<double>("parameters", all, {model.members.size(), model.members[0].size()},
                       {"1", {"member", "parameter"}, "Weights of the networks, operation by operation"});
}

void read_network(const hdf5::Group& root, const Reader& reader, const std::string& path,
                  ForecastModel& model) {
  ArchitectureOptions options;
  options.nodes = root.texts_attribute("nodes");
  options.skips = root.texts_attribute("skips");
  options.head = reader.named("head", choices_of(heads()));
  model.precision = reader.named("precision", choices_of(precisions()));
  model.architecture = make_architecture(options, model.n_inputs(), model.n_modes(), model.shape.out);
  const auto n = static_cast<std::size_t>(reader.size("members", 0)),
             width = graph_of(model.architecture).n_parameters;
  if (n == 0) return;
  if (root.has("codes")) return read_codes_of(root, reader, path, n, model);
  const auto all = reader.values("parameters", {n, width});
  for (std::size_t k = 0; k < n; ++k)
    model.members.emplace_back(all.begin() + k * width, all.begin() + (k + 1) * width);
}

}  // namespace

void write_forecast_model(const Comm& comm, const std::string& path, const ForecastModel& model,
                          const hdf5::Provenance& provenance) {
  auto file = hdf5::File::create(comm, path);
  auto& root = file.root();
  hdf5::write_header(root, schema, schema_version, provenance);
  const auto& base = model.base;
  const auto& climatology = base.climatology;
  const auto modes = static_cast<std::uint64_t>(model.n_modes()),
             out = static_cast<std::uint64_t>(model.shape.out);
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
  const auto features = static_cast<std::uint64_t>(base.features.count(model.n_modes()));
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
  const auto modes = static_cast<std::uint64_t>(n_modes), out = static_cast<std::uint64_t>(model.shape.out);
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
    base.features.means.push_back(static_cast<std::int64_t>(length));
  }
  base.features.seasons = reader.size("base_seasons", 0);
  const int harmonics = reader.size("climatology_harmonics", 0);
  base.climatology =
      Climatology(harmonics, n_modes, reader.number("climatology_middle"), reader.number("climatology_first"),
                  reader.number("climatology_last"), reader.number("climatology_valid_until"),
                  reader.values("climatology", {static_cast<std::uint64_t>(2 + 2 * harmonics), modes}));
  const std::int64_t of_a_mode = base.features.lags + 2 * std::int64_t{base.features.seasons} +
                                 static_cast<std::int64_t>(base.features.means.size());
  QUINTET_CHECK(of_a_mode <= most / n_modes, "{}: a linear base that sees {} x {} numbers; at most {}", path,
                of_a_mode, n_modes, most);
  const auto features = static_cast<std::uint64_t>(base.features.count(n_modes));
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
