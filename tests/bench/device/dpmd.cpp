#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "physics/particles/device/resident_atoms.hpp"
#include "surrogates/potential/device/potential_device.hpp"
#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/bench.hpp"
#include "tests/bench/device/dpmd_case.hpp"

/// Deep Potential molecular dynamics on a device, alone.
///
///   device_dpmd CASE check                       energies, forces and virial beside those of the SIMD engine
///   device_dpmd CASE evaluate PRECISION CELLS REPEATS
///                                                evaluations whose positions and forces travel
///   device_dpmd CASE time PRECISION CELLS STEPS [CHUNK]
///                                                NVE of CELLS^3 (or AxBxC) copies of the cell, atoms stay on
///                                                the device: time of a step, then of its stages
///
/// PRECISION: double, mixed; double+repulsion, mixed+repulsion.
///
/// CASE comes from build/tests/bench/dpmd_device_case. Each measurement is one JSON object a line.
namespace {

using namespace quintet::potential;
using dpmd_case::Case;
using quintet::CellOfAtoms;
using quintet::ResidentAtoms;

struct Cells {
  int n[3];
};
Cells cells_of(const char* text) {
  Cells c{};
  if (std::sscanf(text, "%dx%dx%d", &c.n[0], &c.n[1], &c.n[2]) != 3)
    c.n[0] = c.n[1] = c.n[2] = std::atoi(text);
  return c;
}

/// Uniform in (-1, 1), of a counter alone.
double jitter(std::uint64_t k) {
  k = (k + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  k = (k ^ k >> 27) * 0x94D049BB133111EBull;
  return ((k ^ k >> 31) >> 11) * 0x1.0p-52 - 1;
}

/// Copies of the cell, each atom moved by up to 0.02 angstrom, velocities of 330 K.
dpmd_case::System replicated(const dpmd_case::System& cell, const Cells& cells) {
  dpmd_case::System s = cell;
  s.position.clear();
  s.velocity.clear();
  s.type.clear();
  s.id.clear();
  const std::size_t n = cell.type.size();
  for (int a = 0; a < cells.n[0]; ++a)
    for (int b = 0; b < cells.n[1]; ++b)
      for (int c = 0; c < cells.n[2]; ++c)
        for (std::size_t i = 0; i < n; ++i) {
          const std::uint64_t id = s.type.size();
          for (int l = 0; l < 3; ++l)
            s.position.push_back(cell.position[3 * i + l] + a * cell.rows[l] + b * cell.rows[3 + l] +
                                 c * cell.rows[6 + l] + 0.02 * jitter(6 * id + l));
          for (int l = 0; l < 3; ++l)
            s.velocity.push_back(
                std::sqrt(3 * 8.617333262e-5 * 330 / 1.0364269656262175e-4 / cell.mass[cell.type[i]]) *
                jitter(6 * id + 3 + l));
          s.type.push_back(cell.type[i]);
          s.id.push_back(static_cast<std::int64_t>(id) + 1);
        }
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      s.rows[3 * k + l] *= cells.n[k];
      s.inverse[3 * l + k] /= cells.n[k];
    }
  return s;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (!(std::abs(a[i] - b[i]) <= most)) most = std::abs(a[i] - b[i]);
  return most;
}

/// NVE of atoms that stay on the device, as `dpmd run` steps on one rank (MolecularDynamics, Domain).
class Dynamics {
 public:
  static constexpr double dt = 0.0001, skin = 1;  // (ps), (angstrom)

  Dynamics(const DeviceModel& model, bool mixed, const dpmd_case::System& system, int chunk = 0)
      : potential_(quintet_make_device_potential(model, mixed)),
        atoms_(quintet_make_resident_atoms(true)),
        cell_{system.rows, system.inverse, system.origin, system.periodic, model.rcut + skin},
        n_(system.type.size()) {
    if (chunk > 0) potential_->set_chunk(chunk);
    const std::vector<int> image(3 * system.type.size());
    (void)atoms_->take_alone({n_, n_, system.position.data(), system.velocity.data(), system.position.data(),
                              system.type.data(), system.id.data(), image.data(), system.mass},
                             cell_);
    rebuild();
    compute();
  }

  void advance(int n) {
    for (int step = 0; step < n; ++step) {
      timed("integrate", [&] {
        atoms_->kick(0.5 * dt);
        atoms_->drift(dt);
      });
      if (has_moved_too_far())
        rebuild();
      else
        timed("ghosts", [&] { atoms_->place_images(0, cell_.rows); });
      compute();
      timed("integrate", [&] { atoms_->kick(0.5 * dt); });
    }
  }
  [[nodiscard]] const DeviceTotals& totals() const { return totals_; }
  [[nodiscard]] double energy() { return totals_.energy + atoms_->kinetic_energy(); }
  [[nodiscard]] std::vector<double> forces() {
    const std::size_t n = n_, n_all = n + n_ghost_;
    std::vector<double> x(3 * n_all), v(3 * n), force(3 * n);
    std::vector<int> type(n_all), image(3 * n);
    std::vector<std::int64_t> id(n_all);
    atoms_->fetch({x.data(), v.data(), force.data(), type.data(), image.data(), id.data()});
    return force;
  }
  [[nodiscard]] int rebuilds() const { return rebuilds_; }
  [[nodiscard]] int n_ghosts() const { return n_ghost_; }
  [[nodiscard]] std::string description() const { return potential_->description(); }
  /// Of atoms and lists, and of a chunk.
  [[nodiscard]] std::array<double, 2> bytes() const {
    const auto of_potential = potential_->bytes();
    return {of_potential[0] + quintet::resident_bytes(n_, n_ + n_ghost_),
            static_cast<double>(of_potential[1])};
  }
  void time_stages() {
    timing_ = true;
    potential_->set_timing(true);
  }
  [[nodiscard]] std::map<std::string, double> timings() const {
    auto all = potential_->timings();
    all.insert(timings_.begin(), timings_.end());
    return all;
  }

 private:
  void compute() {
    totals_ = potential_->compute(atoms_->rows());
    if (totals_.too_close >= 0 || totals_.too_strong >= 0) std::fprintf(stderr, "atoms came too close\n");
  }
  bool has_moved_too_far() {
    bool result = false;
    timed("moved", [&] {
      const double squared =
          atoms_->largest_displacement_squared({0, 0, 0}, {0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
      result = 2 * std::sqrt(squared) > skin;
    });
    return result;
  }
  void rebuild() {
    timed("make_ghosts", [&] {
      n_ghost_ = atoms_->rebuild(cell_);
      atoms_->place_images(0, cell_.rows);
    });
    potential_->build(atoms_->rows(), cell_.range);
    ++rebuilds_;
  }
  template <class Action>
  void timed(const char* stage, const Action& action) {
    if (timing_) Kokkos::fence();
    const Kokkos::Timer timer;
    action();
    if (!timing_) return;
    Kokkos::fence();
    timings_[stage] += timer.seconds();
  }

  std::unique_ptr<DevicePotential> potential_;
  std::unique_ptr<ResidentAtoms> atoms_;
  CellOfAtoms cell_;
  int n_, n_ghost_ = 0, rebuilds_ = 0;
  DeviceTotals totals_;
  bool timing_ = false;
  std::map<std::string, double> timings_;
};

/// Atoms that travel and atoms that stay, with each other, on the cell's atoms alone in space: no ghosts are
/// needed then.
int check_force_field(const Case& c, int p) {
  dpmd_case::System cluster = c.system;
  cluster.periodic = {false, false, false};
  Dynamics dynamics(c.model[p], p == 1, cluster);
  const std::unique_ptr<DevicePotential> potential(quintet_make_device_potential(c.model[p], p == 1));
  const int n = cluster.type.size();
  potential->build({n, n, cluster.position.data(), cluster.type.data()}, c.model[p].rcut + 1);
  std::vector<double> force(3 * cluster.type.size()), atom_energy(n), atom_virial(9 * cluster.type.size());
  DeviceTotals totals;
  for (int r = 0; r < 4; ++r)  // the last ones are replayed
    totals =
        potential->compute(cluster.position.data(), force.data(), r % 2 == 0 ? nullptr : atom_energy.data(),
                           r % 2 == 0 ? nullptr : atom_virial.data());
  double sum = 0, trace = 0;
  for (const double e : atom_energy) sum += e;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) trace += atom_virial[9 * std::int64_t{i} + 4 * k];
  const double worst = largest_difference(force, dynamics.forces());
  std::printf(
      "{\"bench\": \"device_dpmd\", \"case\": \"check force field %s\", \"energy_difference_ev\": %.3e, "
      "\"force_difference\": %.3e, \"atom_energies_difference_ev\": %.3e, \"virial_trace_difference_ev\": "
      "%.3e}\n",
      p == 0 ? "double" : "mixed", totals.energy - dynamics.totals().energy, worst, sum - totals.energy,
      trace - totals.virial[0] - totals.virial[4] - totals.virial[8]);
  return worst <= 1e-4 && std::abs(sum - totals.energy) < 1e-3 ? 0 : 1;
}

/// Atoms that stay beside what the SIMD engine finds, with and without repulsion.
int check_totals(const Case& c, int p, bool repels) {
  DeviceModel model = c.model[p];
  if (repels) model.repulsion = c.repulsion;
  const dpmd_case::Reference& reference = repels ? c.repelled[p] : c.reference[p];
  Dynamics dynamics(model, p == 1, c.system);
  const DeviceTotals& totals = dynamics.totals();
  const auto force = dynamics.forces();
  double size = 0, virial = 0;
  for (const double f : reference.force) size = std::max(size, std::abs(f));
  for (int k = 0; k < 9; ++k) virial = std::max(virial, std::abs(totals.virial[k] - reference.virial[k]));
  const double worst = largest_difference(force, reference.force);
  std::printf(
      "{\"bench\": \"device_dpmd\", \"case\": \"check %s%s\", \"atoms\": %zu, \"energy_ev\": %.12f, "
      "\"energy_difference_ev\": %.3e, \"largest_force\": %.4f, \"force_difference\": %.3e, "
      "\"virial_difference\": %.3e}\n",
      p == 0 ? "double" : "mixed", repels ? " with repulsion" : "", c.system.type.size(), totals.energy,
      totals.energy - reference.energy, size, worst, virial);
  return worst <= (p == 0 ? 1e-10 : 1e-3) * std::max(1.0, size) ? 0 : 1;
}

int check(const Case& c) {
  int bad = check_force_field(c, 0) + check_force_field(c, 1);
  for (int p = 0; p < 2; ++p)
    for (const bool repels : {false, true}) bad += check_totals(c, p, repels);
  return bad;
}

/// Seconds a step.
double run(Dynamics& dynamics, int steps) {
  Kokkos::fence();
  const Kokkos::Timer timer;
  dynamics.advance(steps);
  Kokkos::fence();
  return timer.seconds() / steps;
}

/// Evaluations whose positions and forces travel, as in `dpmd run`: the cells alone in space.
void time_evaluations(const Case& c, bool mixed, const Cells& cells, int repeats) {
  const dpmd_case::System s = replicated(c.system, cells);
  const int n = s.type.size();
  const std::unique_ptr<DevicePotential> potential(quintet_make_device_potential(c.model[mixed], mixed));
  std::vector<double> force(3 * s.type.size()), times;
  potential->build({n, n, s.position.data(), s.type.data()}, c.model[mixed].rcut + 1);
  for (int r = 0; r < repeats + 3; ++r) {
    Kokkos::Timer timer;
    (void)potential->compute(s.position.data(), force.data(), nullptr, nullptr);
    if (r >= 3) times.push_back(timer.seconds());
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf(
      "{\"bench\": \"device_dpmd\", \"case\": \"%s %d atoms, positions there and forces back\", "
      "\"us_per_evaluation\": %.2f, \"atoms_per_s\": %.4g}\n",
      mixed ? "mixed" : "double", n, 1e6 * median, n / median);
}

void time_steps(const Case& c, bool mixed, const Cells& cells, int steps, int chunk) {
  const dpmd_case::System system = replicated(c.system, cells);
  const double n = system.type.size();
  Dynamics dynamics(c.model[mixed], mixed, system, chunk);
  const double before = dynamics.energy();
  run(dynamics, 2);
  std::vector<double> times;
  for (int r = 0; r < 5; ++r) times.push_back(run(dynamics, steps));
  std::sort(times.begin(), times.end());
  const double drift = (dynamics.energy() - before) / n;
  const int rebuilds = dynamics.rebuilds(), timed = std::max(2, steps / 4);
  dynamics.time_stages();
  run(dynamics, timed);
  const auto bytes = dynamics.bytes();
  std::printf(
      "{\"bench\": \"device_dpmd\", \"case\": \"%s%s %.0f atoms\", \"on\": \"%s\", \"us_per_step\": %.2f, "
      "\"atoms_per_s\": %.4g, \"least_us_per_step\": %.2f, \"rebuilds\": %d, \"drift_ev_per_atom\": %.2e, "
      "\"ghosts\": %d, \"resident_bytes_per_atom\": %.0f, \"chunk_mb\": %.1f, \"stages_ns_per_atom\": {",
      mixed ? "mixed" : "double", c.model[mixed].repulsion.empty() ? "" : "+repulsion", n,
      dynamics.description().c_str(), 1e6 * times[2], n / times[2], 1e6 * times[0], rebuilds, drift,
      dynamics.n_ghosts(), bytes[0] / n, bytes[1] / 1e6);
  const char* separator = "";
  for (const auto& [stage, seconds] : dynamics.timings()) {
    std::printf("%s\"%s\": %.3f", separator, stage.c_str(), 1e9 * seconds / timed / n);
    separator = ", ";
  }
  std::printf("}}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "device_dpmd CASE check | CASE time double|mixed[+repulsion] CELLS STEPS [CHUNK]\n");
    return 1;
  }
  const device_bench::Session session("device_dpmd");
  if (!session.ok()) return 4;
  return device_bench::guarded("device_dpmd", [&] {
    Case c = device_bench::read_cases<Case>(argv[1]);
    const std::string precision = argc > 3 ? argv[3] : "double";
    const bool mixed = precision.starts_with("mixed");
    if (precision.ends_with("+repulsion"))
      for (auto& model : c.model) model.repulsion = c.repulsion;
    if (std::strcmp(argv[2], "check") == 0) return check(c);
    if (std::strcmp(argv[2], "evaluate") == 0 && argc >= 6)
      time_evaluations(c, mixed, cells_of(argv[4]), std::atoi(argv[5]));
    else if (argc >= 6)
      time_steps(c, mixed, cells_of(argv[4]), std::atoi(argv[5]), argc > 6 ? std::atoi(argv[6]) : 0);
    return 0;
  });
}
