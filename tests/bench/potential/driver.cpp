#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/core_rate.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/dynamics/velocities.hpp"
#include "physics/particles/formats/lammps/lammps_data.hpp"
#include "surrogates/potential/evaluation/model_ensemble.hpp"
#include "surrogates/potential/evaluation/precision_check.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "tests/bench/potential/driver_arguments.hpp"
#include "tests/support/deep_potential_writer.hpp"

/// Times our molecular dynamics as the peer's is timed: NVE, dt 0.1 fs, 330 K, skin 2 angstrom, list every 10
/// steps.
///
///   dpmd_md_driver --make-model M.dp                                  a water-shaped model with random
///   weights dpmd_md_driver --model M.dp --cell C.lmp [--replicate 2] [--steps 10] [--repeats 5] [--precision
///   fp64|mixed|bf16] dpmd_md_driver --model M.dp --cell C.lmp --compare yes       mixed and bf16 against
///   double precision
///   dpmd_md_driver --model M.dp --cell C.lmp --companions 3       what the deviation of four models costs
///
/// Prints one JSON object.
namespace {

using namespace quintet;
using potential::DeepPotential;
using potential::DeepPotentialOptions;
using potential::Precision;

DeepPotentialOptions options(const DriverArguments& arguments) {
  DeepPotentialOptions chosen;
  const std::string precision = arguments.text("--precision", "fp64");
  chosen.precision = precision == "mixed"  ? Precision::mixed
                     : precision == "bf16" ? Precision::bf16
                                           : Precision::fp64;
  const std::string compress = arguments.text("--compress", "auto");
  chosen.compression = compress == "off"    ? potential::Compression::off
                       : compress == "file" ? potential::Compression::file
                                            : potential::Compression::automatic;
  return chosen;
}

/// @param types of the model, which the file numbers
Configuration start(const Comm& comm, const DriverArguments& arguments,
                    const std::vector<std::string>& types) {
  if (!comm.is_root()) return {};
  LammpsDataOptions names;
  names.type_names = types;
  const int n = arguments.number("--replicate", 1);
  return replicated(read_lammps_data(arguments.text("--cell"), names), {n, n, n});
}

/// The atoms of the start, ready for forces.
struct Start {
  Start(const Comm& comm, const Configuration& configuration, ForceField& field)
      : domain(comm, {field.cutoff(), 2.0, {0, 0, 0}}, box(comm, configuration)),
        atoms(domain.distribute(configuration)) {
    domain.rebuild(exec, atoms);
  }
  static Box box(const Comm& comm, const Configuration& configuration) {
    const auto rows = comm.broadcast(configuration.box.rows(), 0);
    return Box(rows, {true, true, true});
  }
  Exec exec;
  Domain domain;
  Atoms atoms;
};

void time_dynamics(const Comm& comm, const DriverArguments& arguments) {
  const int steps = arguments.number("--steps", 10), repeats = arguments.number("--repeats", 5), every = 10;
  DeepPotential field(potential::read_dp(arguments.text("--model")), options(arguments));
  Start s(comm, start(comm, arguments, field.type_names()), field);
  if (field.rounds())
    potential::PrecisionCheck(field, options(arguments))
        .take_reference(s.exec, comm, s.atoms, s.domain.list());
  draw_velocities(s.exec, comm, s.atoms, 330.0, 23456789);
  ParticleSystem system(s.atoms, s.domain, field);
  auto integrator = make_integrator({}, {0.0001, 1000000}, 0, system);
  system.update_forces(s.exec);
  const double energy = system.total.energy, kinetic = total_kinetic_energy(s.exec, system);

  std::int64_t step = 0;
  const auto run = [&](int n) {
    for (int i = 0; i < n; ++i) {
      integrator->step(s.exec, system, step++);
      if (step % every != 0) continue;
      Kokkos::Timer timer;
      s.domain.rebuild(s.exec, s.atoms);
      system.times.neighbours += timer.seconds();
    }
  };
  run(2);
  system.times = {};
  double wall = 1e300, cpu = 1e300;
  const Bracket<double> bracket;
  for (int r = 0; r < repeats; ++r) {
    comm.barrier();
    Kokkos::Timer timer;
    const double before = cpu_seconds();
    run(steps);
    const double used = cpu_seconds() - before, elapsed = timer.seconds();
    wall = std::min(wall, comm.maximum(elapsed));
    cpu = std::min(cpu, comm.maximum(used));
  }
  const Core core = bracket.close();
  const double core_peak = comm.minimum(core.peak), slots = comm.minimum(core.slots);
  const double drift = system.total.energy + total_kinetic_energy(s.exec, system) - energy - kinetic;
  const double peak = peak_memory_mb(), largest = comm.maximum(peak), all = comm.sum(peak);
  const double phases[3] = {system.times.neighbours, system.times.forces, system.times.communication};
  if (!comm.is_root()) return;
  const double per_step = 1e6 / steps / s.atoms.n_global, per_phase = per_step / repeats;
  std::printf(
      "{\"atoms\": %lld, \"ranks\": %d, \"precision\": \"%s\", \"cpu_us_per_atom_step\": %.3f, "
      "\"wall_us_per_atom_step\": %.3f, \"mean_us_neighbours\": %.3f, \"mean_us_forces\": %.3f, "
      "\"mean_us_communication\": %.3f, \"memory_mb_largest_rank\": %.2f, \"memory_mb_all_ranks\": %.2f, "
      "\"core_gflops\": %.1f, \"issue_slots_per_s\": %.4e, \"potential_energy_start_ev\": %.9f, "
      "\"energy_drift_ev_per_atom\": %.3e, \"description\": \"%s\"}\n",
      static_cast<long long>(s.atoms.n_global), comm.size(), arguments.text("--precision", "fp64").c_str(),
      cpu * per_step, wall * per_step, phases[0] * per_phase, phases[1] * per_phase, phases[2] * per_phase,
      largest, all, 1e-9 * core_peak, slots, energy, drift / s.atoms.n_global, field.description().c_str());
}

/// Energy and force errors of mixed precision and of bf16 against double (compress: off) at the start.
void compare_precisions(const Comm& comm, const DriverArguments& arguments) {
  const auto model = potential::read_dp(arguments.text("--model"));
  DeepPotential reference(model,
                          {Precision::fp64, potential::Compression::off, potential::SelRule::per_type});
  Start s(comm, start(comm, arguments, reference.type_names()), reference);
  const auto evaluate = [&](ForceField& field, std::vector<double>& force) {
    const double energy = comm.sum(field.compute(s.exec, s.atoms, s.domain.list()).energy);
    s.domain.return_forces(s.exec, s.atoms);
    force.assign(s.atoms.force.data(), s.atoms.force.data() + 3 * std::int64_t{s.atoms.n_local});
    return energy;
  };
  std::vector<double> exact, force;
  const double energy = evaluate(reference, exact);
  std::string text = "{";
  for (const auto& [precision, name] : {std::pair{Precision::fp64, "double_compressed"},
                                        {Precision::mixed, "mixed"},
                                        {Precision::bf16, "bf16"}}) {
    const DeepPotentialOptions chosen{precision, potential::Compression::automatic,
                                      potential::SelRule::per_type};
    DeepPotential field(model, chosen);
    if (field.rounds())
      potential::PrecisionCheck(field, chosen).take_reference(s.exec, comm, s.atoms, s.domain.list());
    const double difference = evaluate(field, force) - energy;
    double square = 0, largest = 0, size = 0;
    for (std::size_t i = 0; i < force.size(); ++i) {
      square += (force[i] - exact[i]) * (force[i] - exact[i]);
      size += exact[i] * exact[i];
      largest = std::max(largest, std::abs(force[i] - exact[i]));
    }
    const double n = s.atoms.n_global;
    text += fmt::format(
        "\"{0}_energy_error_ev_per_atom\": {1:.3e}, \"{0}_force_rmse_ev_per_angstrom\": {2:.3e}, "
        "\"{0}_force_largest_ev_per_angstrom\": {3:.3e}, ",
        name, std::abs(difference) / n, std::sqrt(comm.sum(square) / (3 * n)), comm.maximum(largest));
    if (precision == Precision::bf16)
      text += fmt::format("\"force_rms_ev_per_angstrom\": {:.4f}}}", std::sqrt(comm.sum(size) / (3 * n)));
  }
  if (comm.is_root()) std::printf("%s\n", text.c_str());
}

/// CPU time of an evaluation by the driving model, and of the deviation between it and companions (the same
/// model again), which costs one evaluation by each: one by one, with neighbours found once, and that in
/// mixed precision. The least of the repeats, which take turns.
void time_deviation(const Comm& comm, const DriverArguments& arguments) {
  const int n = arguments.number("--companions", 3), repeats = arguments.number("--repeats", 50);
  const auto model = potential::read_dp(arguments.text("--model"));
  DeepPotential field(model, options(arguments));
  Start s(comm, start(comm, arguments, field.type_names()), field);
  const auto companions = [&](const DeepPotentialOptions& chosen) {
    std::vector<std::unique_ptr<DeepPotential>> all;
    for (int m = 0; m < n; ++m) all.push_back(std::make_unique<DeepPotential>(model, chosen));
    return all;
  };
  std::vector<std::unique_ptr<ForceField>> alone;
  for (auto& one : companions(options(arguments))) alone.push_back(std::move(one));
  auto single = options(arguments);
  single.precision = Precision::mixed;
  potential::ModelEnsemble ensembles[3] = {
      {std::move(alone), {}},
      {potential::with_shared_neighbours(companions(options(arguments))), {}},
      {potential::with_shared_neighbours(companions(single)), {}}};
  double least[4] = {1e300, 1e300, 1e300, 1e300}, found[3] = {};
  Energetics total;
  const auto timed = [&](double& best, auto&& body) {
    const double before = cpu_seconds();
    body();
    best = std::min(best, comm.maximum(cpu_seconds() - before));
  };
  for (int r = 0; r < repeats; ++r) {
    timed(least[3], [&] {
      total = field.compute(s.exec, s.atoms, s.domain.list());
      s.domain.return_forces(s.exec, s.atoms);
      s.exec.fence();
    });
    total.energy = comm.sum(total.energy);
    comm.reduce(std::span<double>(total.virial), Comm::Reduction::sum);
    for (int e = 0; e < 3; ++e)
      timed(least[e], [&] { found[e] = ensembles[e].measure(s.exec, s.atoms, s.domain, total).max_force; });
  }
  if (!comm.is_root()) return;
  const double per_atom = 1e6 / s.atoms.n_global;
  std::string shares;  // of an evaluation for each step, where the deviation is taken every so many
  for (const int interval : {1, 10, 20, 100})
    shares += fmt::format("\"percent_every_{0}\": {1:.1f}, \"percent_every_{0}_mixed\": {2:.1f}, ", interval,
                          100 * least[1] / least[3] / interval, 100 * least[2] / least[3] / interval);
  std::printf(
      "{%s\"atoms\": %lld, \"companions\": %d, \"cpu_us_per_atom_evaluation\": %.3f, "
      "\"over_evaluation_one_by_one\": %.3f, \"over_evaluation_shared\": %.3f, "
      "\"over_evaluation_shared_mixed\": %.3f, \"max_force_deviation_shared\": %.3e, "
      "\"max_force_deviation_shared_mixed\": %.3e}\n",
      shares.c_str(), static_cast<long long>(s.atoms.n_global), n, least[3] * per_atom, least[0] / least[3],
      least[1] / least[3], least[2] / least[3], found[1], found[2]);
}

}  // namespace

int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  try {
    const DriverArguments arguments(argc, argv);
    if (arguments.has("--make-model"))
      potential::write_dp(arguments.text("--make-model"), dp::random_model({}, 20));
    else if (arguments.has("--compare"))
      compare_precisions(runtime.comm(), arguments);
    else if (arguments.has("--companions"))
      time_deviation(runtime.comm(), arguments);
    else
      time_dynamics(runtime.comm(), arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dpmd_md_driver: %s\n", error.what());
    std::_Exit(1);
  }
}
