#include "surrogates/potential/training/data_checks.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::potential {

namespace {

constexpr double typical_force = 100;   // eV/angstrom: root mean square component of no sensible data
constexpr double largest_force = 1000;  // eV/angstrom
constexpr double largest_energy = 1e6;  // eV an atom: more than all electrons of the heaviest atoms
constexpr double largest_spread = 10;   // eV an atom between frames of one composition
constexpr double farthest = 1e7;        // angstrom
constexpr double near = 0.3;            // angstrom: neighbouring frames
constexpr int pairs_needed = 5;         // of neighbouring frames, before a slope is believed
constexpr double correlation_needed = 0.95;

bool is_finite(const Vec3& v) {
  return std::all_of(v.begin(), v.end(), [](double c) { return std::isfinite(c); });
}

void check_frame(const Configuration& c, const std::string& where) {
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    const auto& x = c.positions[i];
    for (int k = 0; k < 3; ++k)
      QUINTET_CHECK(std::abs(x[k]) <= farthest,
                    "{}: {} of atom {} is {}; expected a finite number of at most {:g} angstrom", where,
                    "xyz"[k], i, x[k], farthest);
    QUINTET_CHECK(c.forces.empty() || is_finite(c.forces[i]),
                  "{}: the force on atom {} is ({}, {}, {}); expected finite numbers (eV/angstrom)", where, i,
                  c.forces[i][0], c.forces[i][1], c.forces[i][2]);
  }
  QUINTET_CHECK(!c.energy || std::isfinite(*c.energy), "{}: the energy is {}; expected a finite number (eV)",
                where, *c.energy);
  for (int k = 0; c.virial && k < 9; ++k)
    QUINTET_CHECK(std::isfinite((*c.virial)[k]), "{}: virial entry {} is {}; expected a finite number (eV)",
                  where, k, (*c.virial)[k]);
}

/// What the labels of a system are like.
struct Sizes {
  double force2 = 0, components = 0;  ///< sum of squared components, and their number
  double largest = 0;                 ///< |F|
  std::size_t frame = 0, atom = 0;    ///< of the largest force
  double energy_least = 1e300, energy_most = -1e300;
  [[nodiscard]] double rms() const { return components > 0 ? std::sqrt(force2 / components) : 0; }
  [[nodiscard]] double spread() const { return std::max(0.0, energy_most - energy_least); }
};

Sizes sizes_of(const LabelledSystem& system) {
  Sizes sizes;
  for (std::size_t f = 0; f < system.frames.size(); ++f) {
    const auto& frame = system.frames[f];
    for (std::size_t i = 0; i < frame.forces.size(); ++i) {
      const auto& force = frame.forces[i];
      const double size2 = force[0] * force[0] + force[1] * force[1] + force[2] * force[2];
      sizes.force2 += size2;
      sizes.components += 3;
      if (std::sqrt(size2) <= sizes.largest) continue;
      sizes.largest = std::sqrt(size2);
      sizes.frame = f;
      sizes.atom = i;
    }
    if (frame.energy) {
      sizes.energy_least = std::min(sizes.energy_least, *frame.energy);
      sizes.energy_most = std::max(sizes.energy_most, *frame.energy);
    }
  }
  return sizes;
}

void warn_of_forces(const LabelledSystem& system, const Sizes& sizes) {
  if (sizes.rms() > typical_force)
    log::warning(
        "{}: the root mean square force component is {:.3g} eV/angstrom, usual are 0.1 to 10; is the unit of "
        "the forces eV/angstrom?",
        system.name, sizes.rms());
  else if (sizes.largest > largest_force)
    log::warning(
        "{}: frame {}: the force on atom {} is {:.3g} eV/angstrom ({:.3g} root mean square component in all "
        "frames); a frame like this may spoil the training",
        system.name, sizes.frame, sizes.atom, sizes.largest, sizes.rms());
}

void warn_of_energies(const LabelledSystem& system, const Sizes& sizes) {
  if (sizes.energy_most < sizes.energy_least) return;
  const double n = system.n_atoms();
  const double largest = std::max(std::abs(sizes.energy_least), std::abs(sizes.energy_most)) / n;
  if (largest > largest_energy)
    log::warning("{}: energies reach {:.3g} eV per atom; is their unit eV, for the whole cell?", system.name,
                 largest);
  else if (sizes.spread() > largest_spread * n)
    log::warning(
        "{}: energies of frames of the same composition differ by up to {:.3g} eV per atom, usual is less "
        "than 1; is their unit eV?",
        system.name, sizes.spread() / n);
}

void warn_of_work(const LabelledSystem& system) {
  const Work work = compare_with_work(system);
  if (work.pairs < pairs_needed || std::abs(work.correlation) < correlation_needed) return;
  if (work.slope > 0.5 && work.slope < 2) return;
  log::warning(
      "{}: from frame to frame the energy changes by {:.4g} times the work that the forces do on the atoms "
      "({} pairs of frames, correlation {:.3f}); expected 1. {}",
      system.name, work.slope, work.pairs, work.correlation,
      work.slope < 0 ? "Are the forces gradients, that is, of the wrong sign?"
                     : "Are energies in eV and forces in eV/angstrom?");
}

/// Refuse a stress that no matter bears: what GPa or kbar look like where eV/angstrom^3 are meant.
void check_stress(const LabelledSystem& system, double limit) {
  constexpr double gpa = 160.2176634;  // of an eV/angstrom^3
  for (std::size_t f = 0; f < system.frames.size(); ++f) {
    const auto& frame = system.frames[f];
    if (!frame.virial || !frame.box.fully_periodic()) continue;
    double largest = 0;
    for (const double v : *frame.virial) largest = std::max(largest, std::abs(v));
    largest /= frame.box.volume();
    QUINTET_CHECK(
        largest <= limit,
        "{}: frame {}: virial / volume reaches {:.4g} GPa, more than the limit of {:.4g}; is it of "
        "another unit? For stresses in extended XYZ, data.labels.stress_unit: kbar makes it {:.3g} GPa, "
        "GPa makes it {:.3g}. If it is right, raise data.labels.stress_limit",
        system.name, f, largest * gpa, limit * gpa, largest / 10, largest);
  }
}

/// Refuse virials of another sign or unit, as far as energies of strained frames tell.
void check_strain(const LabelledSystem& system) {
  const Work work = compare_with_strain(system);
  if (work.pairs < pairs_needed || std::abs(work.correlation) < correlation_needed) return;
  QUINTET_CHECK(
      work.slope > 0.5 && work.slope < 2,
      "{}: where the cell changes from frame to frame, the energy changes by {:.4g} times what the virials "
      "say ({} pairs of frames, correlation {:.3f}); expected 1. {} For stresses in extended XYZ: "
      "data.labels.stress_sign, stress_unit; without virials: loss.virial: {{start: 0, limit: 0}}",
      system.name, work.slope, work.pairs, work.correlation,
      work.slope < 0 ? "Are they of the other sign?" : "Are they of another unit?");
}

/// Warn for the first few systems only: a wrong unit is wrong in all of them.
template <class Action>
void warn_at_most(const std::vector<LabelledSystem>& systems, Action&& warn) {
  constexpr int most = 5;
  const int before = log::warning_count();
  for (std::size_t s = 0; s < systems.size(); ++s) {
    warn(systems[s]);
    if (log::warning_count() - before < most || s + 1 == systems.size()) continue;
    log::warning("{} further systems are not checked for units", systems.size() - s - 1);
    return;
  }
}

template <class Has>
void require_label(const std::vector<LabelledSystem>& systems, const char* what, const char* file,
                   bool needed, Has&& has) {
  std::size_t with = 0, all = 0;
  const LabelledSystem* lacking = nullptr;
  for (const auto& system : systems)
    for (const auto& frame : system.frames) {
      ++all;
      if (has(frame))
        ++with;
      else if (lacking == nullptr)
        lacking = &system;
    }
  QUINTET_CHECK(!needed || with > 0,
                "none of the {} frames has {} ({}), but the loss asks for it; first system: {}", all, what,
                file, systems.front().name);
  if (needed && with < all)
    log::warning("{} of {} frames lack {} ({}), first in {}; they count in the other terms only", all - with,
                 all, what, file, lacking->name);
}

/// Between two frames: how atoms move beside the strain of the cell (shortest way round), the work of the
/// forces along that, and the strain.
struct Step {
  double largest = 0, work = 0;
  Mat3 strain{};  ///< rows of b = rows of a (1 + strain)
};
Step step_between(const Configuration& a, const Configuration& b) {
  Step step;
  const bool one_cell = a.box.rows() == b.box.rows();
  if (!one_cell) {
    step.strain = product(a.box.inverse(), b.box.rows());
    for (int k = 0; k < 3; ++k) step.strain[4 * k] -= 1;
  }
  for (std::size_t i = 0; i < a.n_atoms(); ++i) {
    Vec3 dx, s{};
    for (int k = 0; k < 3; ++k) {
      dx[k] = b.positions[i][k] - a.positions[i][k];
      for (int l = 0; l < 3; ++l) dx[k] -= a.positions[i][l] * step.strain[3 * l + k];
    }
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) s[k] += dx[l] * b.box.inverse()[3 * l + k];
      const double turns = b.box.periodic()[k] ? std::round(s[k]) : 0.0;
      for (int l = 0; l < 3; ++l) dx[l] -= turns * b.box.rows()[3 * k + l];
    }
    step.largest = std::max(step.largest, std::hypot(dx[0], dx[1], dx[2]));
    for (int k = 0; k < 3; ++k) step.work += 0.5 * (a.forces[i][k] + b.forces[i][k]) * dx[k];
  }
  return step;
}

}  // namespace

namespace {

/// Sums over pairs of frames of an expected change of energy and of the one that the labels say.
class Comparison {
 public:
  void add(double expected, double change) {
    ++pairs_;
    expected2_ += expected * expected;
    both_ += expected * change;
    change2_ += change * change;
  }
  [[nodiscard]] Work result() const {
    Work result{pairs_, 0, 0};
    if (expected2_ > 0) result.slope = both_ / expected2_;
    if (expected2_ > 0 && change2_ > 0) result.correlation = both_ / std::sqrt(expected2_ * change2_);
    return result;
  }

 private:
  int pairs_ = 0;
  double expected2_ = 0, both_ = 0, change2_ = 0;
};

}  // namespace

Work compare_with_work(const LabelledSystem& system) {
  Comparison comparison;
  for (std::size_t f = 0; f + 1 < system.frames.size(); ++f) {
    const auto &a = system.frames[f], &b = system.frames[f + 1];
    if (!a.energy || !b.energy || a.forces.empty() || b.forces.empty() || a.box.rows() != b.box.rows())
      continue;
    const Step step = step_between(a, b);
    if (step.largest > near || step.largest == 0) continue;
    comparison.add(-step.work, *b.energy - *a.energy);
  }
  return comparison.result();
}

Work compare_with_strain(const LabelledSystem& system) {
  constexpr double most_strain = 0.03;
  Comparison comparison;
  for (std::size_t f = 0; f + 1 < system.frames.size(); ++f) {
    const auto &a = system.frames[f], &b = system.frames[f + 1];
    if (!a.energy || !b.energy || a.forces.empty() || b.forces.empty() || !a.virial || !b.virial ||
        a.box.rows() == b.box.rows() || !a.box.fully_periodic())
      continue;
    const Step step = step_between(a, b);
    double largest = 0, work = 0;
    for (int k = 0; k < 9; ++k) {
      largest = std::max(largest, std::abs(step.strain[k]));
      work += 0.5 * ((*a.virial)[k] + (*b.virial)[k]) * step.strain[k];
    }
    if (step.largest > near || largest > most_strain) continue;
    comparison.add(-work, *b.energy - *a.energy + step.work);
  }
  return comparison.result();
}

void leave_out_near_pairs(std::vector<LabelledSystem>& systems, double distance) {
  if (distance <= 0) return;
  for (auto& system : systems) {
    const std::size_t n_frames = system.frames.size();
    std::vector<Configuration> kept;
    double nearest = distance;
    std::size_t where = 0;
    for (std::size_t f = 0; f < n_frames; ++f) {
      const double found = make_frame(system.frames[f], distance).least_distance;
      if (found >= distance) {
        kept.push_back(std::move(system.frames[f]));
      } else if (found < nearest) {
        nearest = found;
        where = f;
      }
    }
    QUINTET_CHECK(
        !kept.empty(),
        "{}: each of its {} frames has two atoms nearer than data.min_pair_distance = {:g} angstrom "
        "(frame {}: {:.4g}); lower it, or leave the system out",
        system.name, n_frames, distance, where, nearest);
    if (kept.size() < n_frames)
      log::warning(
          "{}: {} of {} frames are left out: two atoms are nearer than data.min_pair_distance = {:g} "
          "angstrom "
          "(nearest in frame {}: {:.4g})",
          system.name, n_frames - kept.size(), n_frames, distance, where, nearest);
    system.frames = std::move(kept);
  }
}

void check_labels(const std::vector<LabelledSystem>& systems, const DataOptions& options) {
  for (const auto& system : systems)
    for (std::size_t f = 0; f < system.frames.size(); ++f)
      check_frame(system.frames[f], fmt::format("{}: frame {}", system.name, f));
  require_label(systems, "an energy", "energy.npy", options.need_energy,
                [](const Configuration& c) { return c.energy.has_value(); });
  require_label(systems, "forces", "force.npy", options.need_force,
                [](const Configuration& c) { return !c.forces.empty(); });
  require_label(systems, "a virial", "virial.npy", options.need_virial,
                [](const Configuration& c) { return c.virial.has_value(); });
  if (options.need_virial)
    for (const auto& system : systems) {
      check_stress(system, options.stress_limit);
      check_strain(system);
    }
  warn_at_most(systems, [](const LabelledSystem& system) {
    const Sizes sizes = sizes_of(system);
    warn_of_forces(system, sizes);
    warn_of_energies(system, sizes);
    warn_of_work(system);
  });
}

}  // namespace quintet::potential
