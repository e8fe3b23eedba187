#include "apps/dpmd/convert/compress.hpp"

#include "apps/dpmd/convert/convert.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "surrogates/potential/training/data.hpp"

namespace quintet::dpmd {

namespace {

/// The least distance between two atoms and where it is known from.
struct LeastDistance {
  double value;
  std::string origin;
};

LeastDistance least_distance(const potential::Model& model, const std::string& path,
                             const CompressOptions& options) {
  if (options.least_distance) return {*options.least_distance, "as given"};
  if (!options.data.empty()) {
    potential::DataOptions reading{
        .type_map = model.type_names, .types_in_order = false, .need_energy = false, .need_force = false};
    const auto systems = potential::read_systems(options.data, reading);
    return {potential::count_neighbours(systems, model.n_types(), model.rcut).least_distance,
            "of the data given"};
  }
  QUINTET_CHECK(
      model.least_distance,
      "{} does not say the least distance between atoms in its training data; give the data (--data "
      "SYSTEM...) or the distance (--least-distance 0.9, in angstrom)",
      path);
  return {*model.least_distance, "of the training data, as the model says"};
}

void tell(const std::string& path, const potential::Model& model, const LeastDistance& least) {
  std::size_t rows = 0, numbers = 0;
  for (const auto& table : model.tables) {
    numbers += table.coefficients.size();
    rows += table.coefficients.size() / (6 * std::int64_t{table.n_channels});
  }
  const auto& table = model.tables.front();
  log::info("least distance {:.6g} angstrom, {}", least.value, least.origin);
  log::info("{} from {} by {} to {} and by {} to {}{}: {}, {:.1f} MB", counted(model.tables.size(), "table"),
            table.lower, table.stride[0], table.upper, table.stride[1], table.two_sided ? "+-" : "",
            table.maximum, counted(rows, "row"), numbers * (model.single_precision ? 4e-6 : 8e-6));
  if (!model.gates.empty()) log::info("gates of {} of types", counted(model.gates.size(), "pair"));
  log::info("{}: {}", path, model.summary());
}

}  // namespace

void describe(Schema& schema, CompressOptions& options) {
  schema.text("file", options.file, "Deep Potential model that is not compressed (or --model MODEL)");
  schema.text("output", options.output, "File to write: .dp, .yaml or .json").required();
  schema.number("least_distance", options.least_distance,
                "Least distance between atoms (angstrom); absent: of the data or the model");
  schema.texts("data", options.data, "Systems whose least distance counts");
  schema.number(
      "stride", options.stride,
      "Width of the table's fine rows, of se_e3 a tenth of it; the coarse ones are ten times as wide");
  schema.number("extrapolate", options.extrapolate,
                "The coarse rows reach this many times as far as the fine ones");
  schema.flag("overwrite", options.overwrite, "Replace the output if it is there");
  schema.text("model", options.model, "The model, as other commands take it");
}

void compress(const Comm& comm, const CompressOptions& options) {
  on_root(comm, [&] {
    const std::string &path = options.output, &input = model_of(options.file, options.model);
    require_new_model(path, options.overwrite);
    const double fine = options.stride;
    auto model = potential::read_dp(input);
    const auto least = least_distance(model, input, options);
    model = potential::compressed(std::move(model), least.value, {fine, 10 * fine}, options.extrapolate);
    if (potential::has_embedding_timesteps(model))
      log::warning(
          "{}: its descriptor has time steps (resnet_dt), which DeePMD-kit's own 'dp compress' leaves out of "
          "its "
          "tables; the tables written here have them and are right",
          input);
    potential::write_dp(path, model);
    tell(path, model, least);
  });
}

}  // namespace quintet::dpmd
