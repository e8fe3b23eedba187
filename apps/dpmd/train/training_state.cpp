#include "apps/dpmd/train/training_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/dpmd/setup/system.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::dpmd {

namespace {

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

void check_is_training(const hdf5::File& checkpoint) {
  QUINTET_CHECK(checkpoint.root().has("training"), "{}: is no checkpoint of 'dpmd train'", checkpoint.path());
}

void write_known_model(hdf5::Group& group, const potential::Model& model) {
  const std::uint64_t n = model.type_names.size();
  group.write_text("type_map", join_lines(model.type_names));
  group.write<std::int32_t>("sel", std::vector<std::int32_t>(model.sel.begin(), model.sel.end()),
                            {model.sel.size()},
                            {"1", {"type"}, "Most neighbours of each type, or of all types"});
  const std::vector<std::string> axes{"type", "component"};
  group.write<double>("mean", flat(model.mean), {n, 4}, {"1", axes, "Mean of the environment matrix"});
  group.write<double>("deviation", flat(model.deviation), {n, 4}, {"1", axes, "Its standard deviation"});
  group.write<double>("output_bias", model.output_bias, {n}, {"eV", {"type"}, "Energy per atom"});
  const auto& parameters = model.atom_parameters;
  const std::uint64_t n_parameters = parameters.count();
  if (n_parameters == 0) return;
  group.write<double>("parameter_mean", parameters.mean, {n_parameters},
                      {"1", {"number"}, "Mean of the parameters of atoms (aparam)"});
  group.write<double>("parameter_inverse_deviation", parameters.inverse_deviation, {n_parameters},
                      {"1", {"number"}, "Inverse of their standard deviation"});
}

KnownModel read_known_model(const hdf5::File& checkpoint) {
  const hdf5::Group group = checkpoint.root().open_group("training");
  KnownModel known;
  known.type_map = split_lines(group.read_text("type_map"));
  const std::uint64_t n = known.type_map.size();
  const auto sel = group.read<std::int32_t>("sel");
  known.sel.assign(sel.begin(), sel.end());
  known.mean = rows_of(group.read<double>("mean", {n, 4}));
  known.deviation = rows_of(group.read<double>("deviation", {n, 4}));
  known.output_bias = group.read<double>("output_bias", {n});
  if (!group.has("parameter_mean")) return known;
  known.atom_parameters.mean = group.read<double>("parameter_mean");
  known.atom_parameters.inverse_deviation = group.read<double>("parameter_inverse_deviation");
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
