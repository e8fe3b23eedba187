#include <algorithm>
#include <cmath>
#include <map>

#include "io/log/error.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/training/data.hpp"
#include "surrogates/potential/training/initialise.hpp"
#include "surrogates/potential/training/least_squares.hpp"

namespace quintet::potential {

namespace {

constexpr double overlap = 0.1;  // angstrom: nearer atoms are a mistake

/// make_frame() with the place put before its complaint.
TrainingFrame frame_of(const LabelledSystem& system, std::size_t f, double cutoff) {
  try {
    TrainingFrame frame = make_frame(system.frames[f], cutoff);
    if (frame.least_distance < overlap) validate(system.frames[f], overlap);  // names the atoms
    return frame;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: frame {}: {}", system.name, f, error.what()));
  }
}

void count_neighbours_of(const TrainingFrame& frame, NeighbourCensus& census) {
  std::vector<int> count(census.most_neighbours.size());
  for (int i = 0; i < frame.n_atoms; ++i) {
    std::fill(count.begin(), count.end(), 0);
    for (std::size_t c = frame.offset[i]; c < frame.offset[i + 1]; ++c)
      ++count[frame.type[frame.neighbour[c]]];
    for (std::size_t t = 0; t < count.size(); ++t)
      census.most_neighbours[t] = std::max(census.most_neighbours[t], count[t]);
    census.most_together =
        std::max(census.most_together, static_cast<int>(frame.offset[i + 1] - frame.offset[i]));
  }
}

/// Sum and sum of squares of the rows R of one centre type: of R[0], and of R[1], R[2], R[3] together.
struct Moments {
  double slots = 0, radial = 0, radial2 = 0, angular = 0, angular2 = 0;
};

double deviation(double number, double sum, double squares) {
  constexpr double absent = 0.1, least = 0.01;  // DeePMD-kit's values
  if (number == 0) return absent;
  const double mean = sum / number;
  const double root = rounded_root(squares / number - mean * mean);
  return root < least ? least : root;
}

/// The model's environment without normalisation.
Model raw_environment(const Model& model) {
  Model raw;
  raw.kind = model.kind;
  raw.type_names = model.type_names;
  raw.rcut = model.rcut;
  raw.rcut_smooth = model.rcut_smooth;
  raw.protection = model.protection;
  raw.sel = model.sel;
  raw.mean.assign(model.type_names.size(), {0, 0, 0, 0});
  raw.deviation.assign(model.type_names.size(), {1, 1, 1, 1});
  raw.excluded_descriptor_pairs = model.excluded_descriptor_pairs;
  raw.excluded_pairs = model.excluded_pairs;
  return raw;
}

class RowStatistics {
 public:
  explicit RowStatistics(const Model& model)
      : n_types_(model.n_types()), environment_(model, SelRule::per_type), moments_(model.type_names.size()) {
    batch_.reserve(1, std::min(model.n_slots(), 512), n_types_, 1);
  }
  void add(const TrainingFrame& frame) {
    for (int i = 0; i < frame.n_atoms; ++i) {
      batch_.centre = frame.type[i];
      batch_.n_atoms = 0;
      environment_.append(i, frame.position.data(), frame.type.data(), frame.offset.data(),
                          frame.neighbour.data(), batch_, scratch_);
      add_rows(moments_[batch_.centre]);
    }
  }
  [[nodiscard]] const std::vector<Moments>& moments() const { return moments_; }

 private:
  void add_rows(Moments& m) {
    m.slots += environment_.n_slots();
    for (int r = 0; r < batch_.first[n_types_]; ++r) {
      const double* row = batch_.row.data() + 4 * std::int64_t{r};
      m.radial += row[0];
      m.radial2 += row[0] * row[0];
      m.angular += row[1] + row[2] + row[3];
      m.angular2 += row[1] * row[1] + row[2] * row[2] + row[3] * row[3];
    }
  }
  int n_types_;
  Environment environment_;
  Environment::Scratch scratch_;
  Batch<double> batch_;
  std::vector<Moments> moments_;
};

}  // namespace

NeighbourCensus count_neighbours(const std::vector<LabelledSystem>& systems, int n_types, double cutoff,
                                 const Interrupt& interrupt) {
  NeighbourCensus census{cutoff, std::vector<int>(n_types, 0)};
  for (const auto& system : systems)
    for (std::size_t f = 0; f < system.frames.size(); ++f) {
      give_up_if_asked(interrupt);
      const TrainingFrame frame = frame_of(system, f, cutoff);
      census.least_distance = std::min(census.least_distance, frame.least_distance);
      count_neighbours_of(frame, census);
    }
  return census;
}

std::vector<int> automatic_sel(const NeighbourCensus& census, DescriptorKind kind) {
  std::vector<int> sel;
  // DeePMD-kit cuts 1.1 n down to an integer before it rounds that up: 44 neighbours give 48, not 52.
  for (const int n : census.most_of(kind)) sel.push_back((static_cast<int>(1.1 * n) + 3) / 4 * 4);
  if (std::all_of(sel.begin(), sel.end(), [](int n) { return n == 0; })) sel.assign(sel.size(), 4);
  if (kind == DescriptorKind::se_e3)  // divides by each of them
    for (int& n : sel) n = std::max(n, 4);
  return sel;
}

void set_statistics(Model& model, const std::vector<LabelledSystem>& systems, int frames_a_system,
                    bool zero_mean) {
  RowStatistics rows(raw_environment(model));
  for (const auto& system : systems) {
    const std::size_t n = system.frames.size(), taken = std::min<std::size_t>(n, frames_a_system);
    for (std::size_t k = 0; k < taken; ++k) rows.add(frame_of(system, k * n / taken, model.rcut));
  }
  model.mean.clear();
  model.deviation.clear();
  for (const auto& m : rows.moments()) {
    const double mean = m.slots > 0 && !zero_mean ? m.radial / m.slots : 0.0;
    const double radial = deviation(m.slots, m.radial, m.radial2),
                 angular = deviation(3 * m.slots, m.angular, m.angular2);
    model.mean.push_back({mean, 0, 0, 0});
    model.deviation.push_back({radial, angular, angular, angular});
    if (model.kind == DescriptorKind::se_e2_r) model.deviation.back() = {radial, 1, 1, 1};
  }
}

void set_parameter_statistics(Model& model, const std::vector<LabelledSystem>& systems, int n) {
  constexpr double least = 0.01;  // DeePMD-kit's value
  std::vector<double> sum(n, 0.0), squares(n, 0.0);
  double n_atoms = 0;
  for (const auto& system : systems)
    for (const auto& frame : system.frames) {
      n_atoms += static_cast<double>(frame.n_atoms());
      for (std::size_t i = 0; i < frame.parameters.size(); ++i) {
        sum[i % n] += frame.parameters[i];
        squares[i % n] += frame.parameters[i] * frame.parameters[i];
      }
    }
  model.atom_parameters = {};
  for (int k = 0; k < n; ++k) {
    const double mean = sum[k] / n_atoms, root = rounded_root(squares[k] / n_atoms - mean * mean);
    model.atom_parameters.mean.push_back(mean);
    model.atom_parameters.inverse_deviation.push_back(1 / std::max(root, least));
  }
}

void set_energy_bias(Model& model, const std::vector<LabelledSystem>& systems) {
  struct Sum {
    double energy = 0, frames = 0;
  };
  const std::size_t n_types = model.type_names.size();
  std::map<std::vector<double>, Sum> energies;  // by composition: atoms of each type
  for (const auto& system : systems) {
    std::vector<double> count(n_types, 0.0);
    for (const int t : system.frames.front().types)
      if (model.excluded_atoms.empty() || !model.excluded_atoms[t]) ++count[t];
    for (const auto& frame : system.frames)
      if (frame.energy) {
        energies[count].energy += *frame.energy;
        energies[count].frames += 1;
      }
  }
  // Frames of one composition weigh as one row of their mean times the root of their number.
  std::vector<double> rows, values;
  for (const auto& [count, sum] : energies) {
    const double weight = std::sqrt(sum.frames);
    for (const double n : count) rows.push_back(weight * n);
    values.push_back(sum.energy / weight);
  }
  model.output_bias = least_squares(rows, n_types, values);
}

}  // namespace quintet::potential
