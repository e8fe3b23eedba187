#include "apps/dpmd/test/parity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/application/report/report.hpp"
#include "apps/dpmd/setup/placed_frame.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::dpmd {

namespace {

constexpr std::size_t numbers_before_forces = 11;  ///< place in the list, energy, virial

/// Forces of a frame in the order of its atoms, evaluated on this rank alone.
Prediction predict_frame(ForceField& field, Configuration frame) {
  frame.type_names = field.type_names();
  frame.masses.assign(frame.type_names.size(), 1.0);  // nothing moves
  frame.ids.clear();
  frame.velocities.clear();
  PlacedFrame placed(Comm::self(), frame, field.cutoff());
  const Energetics result = placed.compute(field);
  Prediction prediction;
  prediction.energy = result.energy;
  prediction.virial = result.virial;
  prediction.forces = placed.forces();
  return prediction;
}

void pack(const Prediction& prediction, std::size_t place, std::vector<double>& numbers) {
  numbers.push_back(place);
  numbers.push_back(prediction.energy);
  numbers.insert(numbers.end(), prediction.virial.begin(), prediction.virial.end());
  for (const auto& force : prediction.forces) numbers.insert(numbers.end(), force.begin(), force.end());
}

Prediction unpack(std::span<const double> numbers, FrameIndex index, std::size_t n_atoms) {
  Prediction prediction;
  prediction.index = index;
  prediction.energy = numbers[1];
  std::copy_n(numbers.begin() + 2, 9, prediction.virial.begin());
  for (std::size_t i = 0; i < n_atoms; ++i) {
    const double* force = numbers.data() + numbers_before_forces + 3 * i;
    prediction.forces.push_back({force[0], force[1], force[2]});
  }
  return prediction;
}

Plot parity_plot(const std::string& title, const std::string& unit, const Pairs& pairs) {
  const auto [low, high] = std::minmax_element(pairs.label.begin(), pairs.label.end());
  Curve points{"", pairs.label, pairs.model, true};
  Curve diagonal{"model = label", {*low, *high}, {*low, *high}, false, true};
  return {title,
          fmt::format("label ({})", unit),
          fmt::format("model ({})", unit),
          {std::move(points), std::move(diagonal)},
          false,
          false,
          ""};
}

void add(Pairs& pairs, double label, double model) {
  pairs.label.push_back(label);
  pairs.model.push_back(model);
}

}  // namespace

std::vector<FrameIndex> frames_of(const std::vector<potential::LabelledSystem>& systems, std::size_t most) {
  std::vector<FrameIndex> all;
  for (std::size_t s = 0; s < systems.size(); ++s)
    for (std::size_t f = 0; f < systems[s].frames.size(); ++f) all.push_back({s, f});
  if (most == 0 || all.size() <= most) return all;
  std::vector<FrameIndex> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(all[i * all.size() / most]);
  return chosen;
}

std::vector<Prediction> predict(const Comm& comm, ForceField& field,
                                const std::vector<potential::LabelledSystem>& systems,
                                std::span<const FrameIndex> frames) {
  std::vector<double> numbers;
  const std::size_t stride = comm.size();
  for (std::size_t i = comm.rank(); i < frames.size(); i += stride)
    pack(predict_frame(field, systems[frames[i].system].frames[frames[i].frame]), i, numbers);
  numbers = comm.gather(std::span<const double>(numbers));
  std::vector<Prediction> predictions(comm.is_root() ? frames.size() : 0);
  for (std::size_t at = 0; at < numbers.size();) {
    const std::size_t place = numbers[at];
    const std::size_t n_atoms = systems[frames[place].system].n_atoms();
    predictions[place] = unpack(std::span(numbers).subspan(at), frames[place], n_atoms);
    at += numbers_before_forces + 3 * n_atoms;
  }
  return predictions;
}

void Errors::add(double difference) {
  ++n;
  absolute += std::abs(difference);
  square += difference * difference;
  largest = std::max(largest, std::abs(difference));
}

Errors& Errors::operator+=(const Errors& other) {
  n += other.n;
  absolute += other.absolute;
  square += other.square;
  largest = std::max(largest, other.largest);
  return *this;
}

double Errors::rmse() const { return n == 0 ? 0 : std::sqrt(square / n); }
double Errors::mae() const { return n == 0 ? 0 : absolute / n; }

Errors errors(const Pairs& pairs) {
  Errors result;
  for (std::size_t i = 0; i < pairs.label.size(); ++i) result.add(pairs.model[i] - pairs.label[i]);
  return result;
}

Parity parity(const std::vector<potential::LabelledSystem>& systems,
              const std::vector<Prediction>& predictions) {
  Parity result;
  for (const auto& prediction : predictions) {
    const auto& label = systems[prediction.index.system].frames[prediction.index.frame];
    const double n = label.n_atoms();
    if (label.energy) add(result.energy, *label.energy / n, prediction.energy / n);
    for (std::size_t i = 0; i < label.forces.size(); ++i)
      for (int k = 0; k < 3; ++k) add(result.force, label.forces[i][k], prediction.forces[i][k]);
    if (label.virial)
      for (std::size_t k = 0; k < 9; ++k)
        add(result.virial, (*label.virial)[k] / n, prediction.virial[k] / n);
  }
  return result;
}

std::optional<double> explained_variance(const Pairs& pairs) {
  const double n = pairs.label.size();
  double mean = 0, spread = 0, left = 0;
  for (const double label : pairs.label) mean += label / n;
  for (std::size_t i = 0; i < pairs.label.size(); ++i) {
    spread += (pairs.label[i] - mean) * (pairs.label[i] - mean);
    left += (pairs.model[i] - pairs.label[i]) * (pairs.model[i] - pairs.label[i]);
  }
  if (!(spread > 1e-20 * n * mean * mean)) return std::nullopt;
  return 1 - left / spread;
}

std::string learnt_nothing(const Parity& parity) {
  constexpr double least = 0.1;
  const bool has_forces = !parity.force.label.empty();
  const auto share = explained_variance(has_forces ? parity.force : parity.energy);
  if (!share || *share >= least) return "";
  return fmt::format(
      "The model has learnt nothing of the {}: {} of their variance is explained by it (the parity line is "
      "flat). "
      "More steps, another learning_rate.start or larger networks may help, if the labels are right",
      has_forces ? "forces" : "energies", *share <= 0 ? "nothing" : fmt::format("{:.0f} %", 100 * *share));
}

void report_parity(Report& report, const std::string& heading, const Parity& parity) {
  struct QuantityRow {
    const char *quantity, *unit, *axis_unit;
    const Pairs& pairs;
    double scale;
  };
  const QuantityRow rows[] = {{"Energy per atom", "meV/atom", "eV/atom", parity.energy, 1e3},
                              {"Force component", "eV/angstrom", "eV/angstrom", parity.force, 1},
                              {"Virial component per atom", "meV/atom", "eV/atom", parity.virial, 1e3}};
  report.section(heading);
  std::vector<std::vector<std::string>> table;
  for (const auto& row : rows) {
    if (row.pairs.label.empty()) continue;
    const Errors e = errors(row.pairs);
    table.push_back({row.quantity, row.unit, fmt::format("{:.4g}", row.scale * e.rmse()),
                     fmt::format("{:.4g}", row.scale * e.mae()), fmt::format("{:.4g}", row.scale * e.largest),
                     fmt::format("{}", e.n)});
  }
  report.table({"quantity", "unit", "rmse", "mae", "largest", "labels"}, table);
  for (const auto& row : rows)
    if (!row.pairs.label.empty()) report.plot(parity_plot(row.quantity, row.axis_unit, row.pairs));
}

}  // namespace quintet::dpmd
