#include "apps/dpmd/training/training_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "apps/dpmd/dynamics/system.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::dpmd {

namespace {

using Leaves = std::vector<std::pair<std::string, std::string>>;

/// All values of a document as "a.b.c" and text.
void flatten(const Tree& tree, const std::string& path, Leaves& leaves) {
  if (!tree.is_map()) {
    leaves.emplace_back(path, to_json(tree, 0));
    return;
  }
  for (const auto& [key, value] : tree.entries())
    flatten(value, path.empty() ? key : fmt::format("{}.{}", path, key), leaves);
}

Leaves leaves_of(const Tree& tree) {
  Leaves leaves;
  flatten(tree, "", leaves);
  return leaves;
}

/// Keys that no step depends on.
bool is_free(const std::string& key) {
  static const std::vector<std::string> free{"model.start",      "report_interval", "checkpoint_interval",
                                             "checkpoint_keep",  "output",          "divergence",
                                             "data.frame_memory"};
  return std::find(free.begin(), free.end(), key) != free.end() || key.starts_with("data.validation");
}

std::vector<double> flat(const std::vector<std::array<double, 4>>& rows) {
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return values;
}

std::vector<std::array<double, 4>> rows_of(const std::vector<double>& values) {
  std::vector<std::array<double, 4>> rows(values.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) rows[i / 4][i % 4] = values[i];
  return rows;
}

}  // namespace

void check_same_training(const hdf5::File& checkpoint, const TrainOptions& options) {
  QUINTET_CHECK(checkpoint.root().has("training"), "{}: is no checkpoint of 'dpmd train'", checkpoint.path());
  const Tree before = parse_yaml(read_provenance(checkpoint.root()).configuration, checkpoint.path());
  TrainOptions copy = options;
  const Leaves then = leaves_of(before), now = leaves_of(options_tree(described(copy)));
  std::vector<std::string> model, others;
  for (const auto& [key, value] : now) {
    const auto at =
        std::find_if(then.begin(), then.end(), [&](const auto& leaf) { return leaf.first == key; });
    if (is_free(key) || (at != then.end() && at->second == value)) continue;
    auto& list = key.starts_with("model.") ? model : others;
    list.push_back(
        fmt::format("{}: {} there, {} here", key, at == then.end() ? "absent" : at->second, value));
  }
  QUINTET_CHECK(model.empty(), "{}: the checkpoint is of another model ({}); start a new run",
                checkpoint.path(), fmt::join(model, "; "));
  if (!others.empty())
    log::warning("Options differ from those of the checkpoint, so this is not the run it would have been: {}",
                 fmt::join(others, "; "));
}

void write_known_model(hdf5::Group& group, const potential::Model& model) {
  const std::uint64_t n = model.type_names.size();
  group.write_text("type_map", join_lines(model.type_names));
  group.write<std::int32_t>("sel", std::vector<std::int32_t>(model.sel.begin(), model.sel.end()), {n},
                            {"1", {"type"}, "Most neighbours of each type"});
  const std::vector<std::string> axes{"type", "component"};
  group.write<double>("mean", flat(model.mean), {n, 4}, {"1", axes, "Mean of the environment matrix"});
  group.write<double>("deviation", flat(model.deviation), {n, 4}, {"1", axes, "Its standard deviation"});
  group.write<double>("output_bias", model.output_bias, {n}, {"eV", {"type"}, "Energy an atom"});
}

KnownModel read_known_model(const hdf5::File& checkpoint) {
  const hdf5::Group group = checkpoint.root().open_group("training");
  KnownModel known;
  known.type_map = split_lines(group.read_text("type_map"));
  const std::uint64_t n = known.type_map.size();
  const auto sel = group.read<std::int32_t>("sel", {n});
  known.sel.assign(sel.begin(), sel.end());
  known.mean = rows_of(group.read<double>("mean", {n, 4}));
  known.deviation = rows_of(group.read<double>("deviation", {n, 4}));
  known.output_bias = group.read<double>("output_bias", {n});
  return known;
}

void check_finite(const potential::Trainer& trainer, std::int64_t step) {
  const auto parameters = trainer.parameters();
  const auto bad =
      std::find_if(parameters.begin(), parameters.end(), [](double p) { return !std::isfinite(p); });
  if (bad != parameters.end())
    throw NumericalError(
        fmt::format("step {}: weight {} of {} is {}; lower learning_rate.start, or look for wrong "
                    "labels; the last good checkpoint is kept",
                    step, bad - parameters.begin(), parameters.size(), *bad));
}

}  // namespace quintet::dpmd
