#include "apps/dpmd/train/start_check.hpp"

#include <cmath>

#include "apps/dpmd/test/parity.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::dpmd {

namespace {

constexpr double sure = 0.9;         // correlation
constexpr double near_factor = 0.3;  // of a factor between units

/// Sums over pairs of a label and the model's value.
struct Sums {
  double ll = 0, lm = 0, mm = 0;
  void add(double label, double model) {
    ll += label * label;
    lm += label * model;
    mm += model * model;
  }
  /// About 0, not about the means: signs are what is looked for.
  [[nodiscard]] double correlation() const { return ll > 0 && mm > 0 ? lm / std::sqrt(ll * mm) : 0; }
  [[nodiscard]] double factor() const { return lm / mm; }
};

/// Up to 16 frames that have the label, of at most 20 000 atoms together.
template <class Has>
std::vector<FrameIndex> some_frames(const std::vector<potential::LabelledSystem>& systems, Has&& has) {
  constexpr std::size_t most_frames = 16, most_atoms = 20000;
  std::vector<FrameIndex> all, chosen;
  for (const auto& index : frames_of(systems))
    if (has(systems[index.system].frames[index.frame])) all.push_back(index);
  std::size_t n_atoms = 0;
  const std::size_t n = std::min(all.size(), most_frames);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& index = all[i * all.size() / n];
    n_atoms += systems[index.system].n_atoms();
    if (!chosen.empty() && n_atoms > most_atoms) break;
    chosen.push_back(index);
  }
  return chosen;
}

/// What the labels are, beside the model, by trace and by the rest of the virials.
struct Comparison {
  Sums force, trace, deviator;
};

Comparison compare(ForceField& field, const std::vector<potential::LabelledSystem>& systems,
                   std::span<const FrameIndex> frames) {
  Comparison result;
  for (const auto& model : predict(Comm::self(), field, systems, frames)) {
    const auto& label = systems[model.index.system].frames[model.index.frame];
    for (std::size_t i = 0; i < label.forces.size(); ++i)
      for (int k = 0; k < 3; ++k) result.force.add(label.forces[i][k], model.forces[i][k]);
    if (!label.virial) continue;
    const auto trace = [](const Mat3& w) { return w[0] + w[4] + w[8]; };
    const double of_label = trace(*label.virial), of_model = trace(model.virial);
    result.trace.add(of_label, of_model);
    for (std::size_t k = 0; k < 9; ++k) {
      const double share = k % 4 == 0 ? 1.0 / 3 : 0;
      result.deviator.add((*label.virial)[k] - share * of_label, model.virial[k] - share * of_model);
    }
  }
  return result;
}

/// The keys that would make a factor 1: "stress_sign: pressure"; "" where none does.
std::string keys_that_mend(double factor, const LabelsOptions& labels) {
  constexpr double gpa = 160.2176634;  // of an eV/angstrom^3
  const bool flipped = factor < 0;
  const double own = labels.stress_unit;  // (eV/angstrom^3) that the stress was read with
  for (const auto& [name, unit] : {std::pair("eV/angstrom^3", 1.0), std::pair("GPa", 1 / gpa),
                                   std::pair("kbar", 0.1 / gpa), std::pair("bar", 1e-4 / gpa)}) {
    if (std::abs(std::abs(factor) * unit / own - 1) > near_factor) continue;
    std::string keys;
    if (std::abs(unit / own - 1) > near_factor) keys = fmt::format("data.labels.stress_unit: {}", name);
    if (flipped)
      keys += fmt::format("{}data.labels.stress_sign: {}", keys.empty() ? "" : ", ",
                          labels.stress_sign == LabelsOptions::Sign::tension ? "pressure" : "tension");
    return keys;
  }
  return "";
}

}  // namespace

void check_start(const potential::Model& start, const std::vector<potential::LabelledSystem>& systems,
                 const LossOptions& loss, const LabelsOptions& labels) {
  if (!loss.force.active() && !loss.virial.active()) return;
  const auto frames = some_frames(systems, [&](const Configuration& frame) {
    return loss.virial.active() ? frame.virial.has_value() : !frame.forces.empty();
  });
  if (frames.empty()) return;
  potential::DeepPotential field(start, {});
  const Comparison found = compare(field, systems, frames);
  QUINTET_CHECK(!loss.force.active() || found.force.correlation() > -sure,
                "the labels' forces are the other way round than those of model.start (correlation {:.3f} in "
                "{}): "
                "they are gradients; write forces, that is their negatives",
                found.force.correlation(), counted(frames.size(), "frame"));
  if (!loss.virial.active() || found.force.correlation() < sure || found.trace.mm == 0) return;
  const double factor = found.trace.factor(), side = factor < 0 ? -1 : 1;
  if (std::abs(found.trace.correlation()) < sure || side * found.deviator.correlation() < -0.5) return;
  const auto keys = keys_that_mend(factor, labels);
  QUINTET_CHECK(
      keys.empty(),
      "the traces of the labels' virials are {:.4g} times those of model.start ({}, correlation "
      "{:.3f}), while their forces agree: they are of another sign or unit. For stresses in extended "
      "XYZ: {}; virial.npy must be sum F x (eV), positive under pressure; without virials: "
      "loss.virial: {{start: 0, limit: 0}}",
      factor, counted(frames.size(), "frame"), found.trace.correlation(), keys);
}

}  // namespace quintet::dpmd
