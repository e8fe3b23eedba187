#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <Kokkos_Core.hpp>

#include "surrogates/potential/device/potential_device.hpp"
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
/// CASE comes from build/tests/bench/dpmd_device_case. Each measurement is one JSON object a line.
namespace {

using namespace quintet::potential;
using dpmd_case::Case;

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
  return static_cast<double>((k ^ k >> 31) >> 11) * 0x1.0p-52 - 1;
}

/// Copies of the cell, each atom moved by up to 0.02 angstrom, velocities of 330 K.
DeviceSystem replicated(const DeviceSystem& cell, const Cells& cells) {
  DeviceSystem s = cell;
  s.position.clear();
  s.velocity.clear();
  s.type.clear();
  s.id.clear();
  s.image.clear();
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

/// The two engines with each other, on the cell's atoms alone in space: no ghosts are needed then.
int check_force_field(const Case& c, int p) {
  DeviceSystem cluster = c.system;
  cluster.periodic = {false, false, false};
  const std::unique_ptr<DeviceDynamics> dynamics(
      quintet_make_device_dynamics(c.model[p], p == 1, {0.0001, 1.0, 0, 0, 1}));
  dynamics->set(cluster);
  const auto sample = dynamics->sample();
  const std::unique_ptr<DevicePotential> potential(quintet_make_device_potential(c.model[p], p == 1));
  const int n = static_cast<int>(cluster.type.size());
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
    for (int k = 0; k < 3; ++k) trace += atom_virial[9 * static_cast<std::size_t>(i) + 4 * k];
  const double worst = largest_difference(force, dynamics->forces());
  std::printf(
      "{\"bench\": \"device_dpmd\", \"case\": \"check force field %s\", \"energy_difference_ev\": %.3e, "
      "\"force_difference\": %.3e, \"atom_energies_difference_ev\": %.3e, \"virial_trace_difference_ev\": "
      "%.3e}\n",
      p == 0 ? "double" : "mixed", totals.energy - sample.potential, worst, sum - totals.energy,
      trace - totals.virial[0] - totals.virial[4] - totals.virial[8]);
  return worst <= 1e-4 && std::abs(sum - totals.energy) < 1e-3 ? 0 : 1;
}

int check(const Case& c) {
  int bad = check_force_field(c, 0) + check_force_field(c, 1);
  for (int p = 0; p < 2; ++p) {
    const std::unique_ptr<DeviceDynamics> dynamics(
        quintet_make_device_dynamics(c.model[p], p == 1, {0.0001, 1.0, 0, 0, 1}));
    dynamics->set(c.system);
    const auto sample = dynamics->sample();
    const auto force = dynamics->forces();
    double size = 0, virial = 0;
    for (const double f : c.reference[p].force) size = std::max(size, std::abs(f));
    for (int k = 0; k < 9; ++k)
      virial = std::max(virial, std::abs(sample.virial[k] - c.reference[p].virial[k]));
    const double worst = largest_difference(force, c.reference[p].force);
    std::printf(
        "{\"bench\": \"device_dpmd\", \"case\": \"check %s\", \"atoms\": %zu, \"energy_ev\": %.12f, "
        "\"energy_difference_ev\": %.3e, \"largest_force\": %.4f, \"force_difference\": %.3e, "
        "\"virial_difference\": %.3e}\n",
        p == 0 ? "double" : "mixed", c.system.type.size(), sample.potential,
        sample.potential - c.reference[p].energy, size, worst, virial);
    if (!(worst <= (p == 0 ? 1e-10 : 1e-3) * std::max(1.0, size))) bad = 1;
  }
  return bad;
}

double run(DeviceDynamics& dynamics, std::int64_t& step, int steps) {
  Kokkos::fence();
  Kokkos::Timer timer;
  dynamics.advance(step, steps);
  const auto sample = dynamics.sample();
  const double seconds = timer.seconds();
  if (sample.too_close >= 0 || sample.too_strong >= 0) std::fprintf(stderr, "atoms came too close\n");
  step += steps;
  return seconds / steps;
}

/// Evaluations whose positions and forces travel, as in `dpmd run`: the cells alone in space.
void time_evaluations(const Case& c, bool mixed, const Cells& cells, int repeats) {
  const DeviceSystem s = replicated(c.system, cells);
  const int n = static_cast<int>(s.type.size());
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
  const DeviceSystem system = replicated(c.system, cells);
  const double n = static_cast<double>(system.type.size()), skin = 1.0;
  const std::unique_ptr<DeviceDynamics> dynamics(
      quintet_make_device_dynamics(c.model[mixed], mixed, {0.0001, skin, 0, 0, 1}));
  if (chunk > 0) dynamics->set_chunk(chunk);
  dynamics->set(system);
  const auto before = dynamics->sample();
  std::int64_t step = 0;
  run(*dynamics, step, 2);
  std::vector<double> times;
  for (int r = 0; r < 5; ++r) times.push_back(run(*dynamics, step, steps));
  std::sort(times.begin(), times.end());
  const auto after = dynamics->sample();
  dynamics->set_timing(true);
  run(*dynamics, step, std::max(2, steps / 4));
  const double timed = std::max(2, steps / 4);
  const auto bytes = dynamics->bytes();
  std::printf(
      "{\"bench\": \"device_dpmd\", \"case\": \"%s %.0f atoms\", \"on\": \"%s\", \"us_per_step\": %.2f, "
      "\"atoms_per_s\": %.4g, \"least_us_per_step\": %.2f, \"rebuilds\": %lld, \"drift_ev_per_atom\": %.2e, "
      "\"listed_per_atom\": %.1f, \"ghosts\": %lld, \"resident_bytes_per_atom\": %.0f, \"chunk_mb\": %.1f, "
      "\"stages_ns_per_atom\": {",
      mixed ? "mixed" : "double", n, dynamics->description().c_str(), 1e6 * times[2], n / times[2],
      1e6 * times[0], static_cast<long long>(after.rebuilds),
      (after.potential + after.kinetic - before.potential - before.kinetic) / n, dynamics->listed_per_atom(),
      static_cast<long long>(dynamics->n_ghosts()), static_cast<double>(bytes[0]) / n,
      static_cast<double>(bytes[1]) / 1e6);
  const char* separator = "";
  for (const auto& [stage, seconds] : dynamics->timings()) {
    std::printf("%s\"%s\": %.3f", separator, stage.c_str(), 1e9 * seconds / timed / n);
    separator = ", ";
  }
  std::printf("}}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "device_dpmd CASE check | CASE time double|mixed CELLS STEPS [CHUNK]\n");
    return 1;
  }
  Kokkos::initialize(argc, argv);
  int status = 0;
  try {
    Case c;
    {
      dpmd_case::Archive<std::ifstream> archive(argv[1]);
      dpmd_case::visit(archive, c);
    }
    const bool mixed = argc > 3 && std::strcmp(argv[3], "mixed") == 0;
    if (std::strcmp(argv[2], "check") == 0)
      status = check(c);
    else if (std::strcmp(argv[2], "evaluate") == 0 && argc >= 6)
      time_evaluations(c, mixed, cells_of(argv[4]), std::atoi(argv[5]));
    else if (argc >= 6)
      time_steps(c, mixed, cells_of(argv[4]), std::atoi(argv[5]), argc > 6 ? std::atoi(argv[6]) : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_dpmd: %s\n", error.what());
    status = 1;
  }
  Kokkos::finalize();
  return status;
}
