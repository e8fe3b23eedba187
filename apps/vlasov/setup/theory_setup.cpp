#include "apps/vlasov/setup/theory_setup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "apps/application/loop/windows.hpp"
#include "apps/vlasov/setup/plasma_parts.hpp"
#include "apps/vlasov/setup/theory_checks.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"
#include "physics/kinetics/theory/theory.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

using Kind = TheoryOptions::Kind;

/// Wave vector: theory.wavenumber (or that of the longest wave along x) along theory.direction (or x).
std::array<double, 3> wave_vector(const TheoryOptions& options, const Formulas& formulas,
                                  const PhaseGrid& grid) {
  const double k = options.wavenumber ? formulas.positive("theory.wavenumber")
                                      : 2 * M_PI / (grid.upper[0] - grid.lower[0]);
  if (options.direction.empty()) return {k, 0, 0};
  QUINTET_CHECK(options.direction.size() == static_cast<std::size_t>(grid.cdim),
                "theory.direction: has {} values; expected {}, one for each direction of x",
                options.direction.size(), grid.cdim);
  std::array<double, 3> result{};
  double square = 0;
  for (std::size_t d = 0; d < options.direction.size(); ++d) {
    result[d] = formulas.number(fmt::format("theory.direction.{}", d));
    square += result[d] * result[d];
  }
  QUINTET_CHECK(square > 0, "theory.direction: is 0; expected a vector");
  for (double& one : result) one *= k / std::sqrt(square);
  return result;
}

std::vector<TransverseMaxwellian> beams_across(const TheoryOptions& options, const Formulas& formulas,
                                               const std::vector<DriftingMaxwellian>& beams) {
  std::vector<TransverseMaxwellian> result;
  for (std::size_t i = 0; i < beams.size(); ++i) {
    double transverse = beams[i].thermal_speed;
    if (i < options.beams.size() && options.beams[i].transverse_speed)
      transverse = formulas.number(fmt::format("theory.beams.{}.transverse_speed", i));
    result.push_back({beams[i].plasma_frequency, beams[i].thermal_speed,
                      beams[i].drift * beams[i].drift + transverse * transverse});
  }
  return result;
}

/// The beams of the input, or those of the run where it names none.
std::vector<DriftingMaxwellian> beams_of(const TheoryOptions& options, const Formulas& formulas,
                                         const std::optional<std::vector<PlasmaPart>>& parts,
                                         const std::array<double, 3>& k) {
  std::vector<DriftingMaxwellian> beams;
  for (std::size_t i = 0; i < options.beams.size(); ++i) {
    const auto key = fmt::format("theory.beams.{}.", i);
    beams.push_back({formulas.number(key + "plasma_frequency"), formulas.number(key + "thermal_speed"),
                     formulas.number(key + "drift")});
  }
  if (beams.empty() && parts && options.kind != Kind::weibel)
    for (const auto& part : *parts) beams.push_back(along(part, k));
  if (beams.empty()) beams.emplace_back();
  return beams;
}

/// Roots that a signal shows beside the first: growing at half its rate or more, or damped no more than twice
/// as much. The mirror image -omega* of a plasma at rest says nothing new.
std::vector<std::complex<double>> others_beside(const std::vector<std::complex<double>>& roots) {
  std::vector<std::complex<double>> others;
  const auto first = roots.front();
  const double least = first.imag() > 0 ? 0.5 * first.imag() : 2 * first.imag();
  for (std::size_t i = 1; i < roots.size(); ++i)
    if (roots[i].imag() >= least && std::abs(roots[i] + std::conj(first)) > 1e-6 * std::abs(first))
      others.push_back(roots[i]);
  return others;
}

void set_roots(const RunOptions& all, const Setup& setup, const std::vector<DriftingMaxwellian>& beams,
               const std::array<double, 3>& k_vector, Theory& theory) {
  const TheoryOptions& options = *all.theory;
  const Formulas& formulas = setup.formulas;
  if (options.kind == Kind::given) {
    theory.omega = {options.frequency ? formulas.number("theory.frequency") : 0.0,
                    formulas.number("theory.growth_rate")};
    return;
  }
  const double k = std::hypot(k_vector[0], k_vector[1], k_vector[2]);
  if (options.kind == Kind::weibel) {
    theory.omega = {
        0.0, weibel_rate(k, formulas.positive("theory.light_speed"), beams_across(options, formulas, beams))};
    return;
  }
  if (options.kind == Kind::electrostatic) {
    constexpr int most_roots = 4;
    theory.omega = electrostatic_mode(k, beams);
    theory.others = others_beside(electrostatic_modes(k, beams, most_roots));
    return;
  }
  if (options.kind != Kind::collisional) throw InternalError("a kind of theory without a formula");
  theory.omega = collisional_mode(all, setup, k, beams);
  const auto& collisions = *setup.system.collisions;
  if (!collisions.split) return;
  double nu = 0;
  for (const auto& row : collisions.frequency)
    nu = std::max(nu, std::accumulate(row.begin(), row.end(), 0.0));
  theory.split_rate = (collisions.kind == CollisionOptions::Operator::bgk ? 1 : 3) * nu;
}

/// The widest cell along a velocity direction within three thermal speeds of a beam: wider ones outside hold
/// next to nothing of it.
double velocity_width(const PhaseGrid& grid, int v, double drift, double thermal_speed) {
  const int d = grid.cdim + v, n = grid.cells[d];
  if (grid.is_uniform(d)) return grid.width(d);
  double widest = grid.least_width(d);
  for (int i = 0; i < n; ++i)
    if (std::abs(grid.centre(d, i) - drift) - 0.5 * grid.width(d, i) < 3 * thermal_speed)
      widest = std::max(widest, grid.width(d, i));
  return widest;
}

/// When the velocity cells of the beam's own species give back what a damped wave has left of it in them.
void set_recurrence(const Setup& setup, const std::vector<DriftingMaxwellian>& beams,
                    const std::optional<std::vector<PlasmaPart>>& parts, const std::array<double, 3>& k,
                    Theory& theory) {
  const auto& collisions = setup.system.collisions;
  for (const auto& beam : beams)
    for (const std::size_t s : species_of(beam, parts, setup, k)) {
      const auto& species = setup.species[s];
      VelocityStructure structure;
      structure.k = k;
      structure.thermal_speed = beam.thermal_speed;
      const double length = std::hypot(k[0], k[1], k[2]);
      for (int d = 0; d < setup.basis.vdim(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        structure.dv[i] = velocity_width(species.grid, d, beam.drift * k[i] / length, beam.thermal_speed);
      }
      for (std::size_t d = setup.basis.vdim(); d < 3; ++d) structure.k[d] = 0;
      if (structure.k[0] == 0 && structure.k[1] == 0 && structure.k[2] == 0) continue;
      if (collisions && collisions->profile.empty()) {  // what varies in x may be 0 somewhere
        const auto& row = collisions->frequency[s];
        const bool diffuses = row_of(collision_operators(), collisions->kind).diffuses;
        (diffuses ? structure.diffusion : structure.relaxation) =
            std::accumulate(row.begin(), row.end(), 0.0);
      }
      const double onset = recurrence_onset(structure, theory.growth_rate(), 1e-3, setup.end);
      if (onset >= theory.clean_until) continue;
      theory.clean_until = onset;
      theory.recurrence = std::numeric_limits<double>::infinity();
      for (std::size_t d = 0; d < 3; ++d)
        if (structure.k[d] != 0)
          theory.recurrence = std::min(theory.recurrence, recurrence_time(structure.k[d], structure.dv[d]));
    }
}

/// How well the cells of the species about a growing wave's phase velocity resolve its resonance.
void set_resonance(const Setup& setup, const std::vector<DriftingMaxwellian>& beams,
                   const std::optional<std::vector<PlasmaPart>>& parts, const std::array<double, 3>& k,
                   Theory& theory) {
  const double length = std::hypot(k[0], k[1], k[2]);
  for (const auto& beam : beams)
    for (const std::size_t s : species_of(beam, parts, setup, k)) {
      const PhaseGrid& grid = setup.species[s].grid;
      constexpr double reach = 6;  // thermal speeds: beyond there are no particles
      if (std::abs(theory.phase_velocity() - beam.drift) > reach * beam.thermal_speed) continue;
      for (int d = 0; d < setup.basis.vdim(); ++d) {
        const double k_d = std::abs(k[d]);
        if (k_d < 1e-6 * length) continue;
        const double dv = velocity_width(grid, d, theory.phase_velocity() * k_d / length, 0);
        theory.resonance_error =
            std::max(theory.resonance_error,
                     resonance_error(theory.growth_rate(), k_d, dv, velocity_degree(setup.basis)));
      }
    }
}

/// The direction of x that the wave runs along, or nothing where it is oblique.
std::optional<int> axis_of(const std::array<double, 3>& k, int vdim) {
  const double length = std::hypot(k[0], k[1], k[2]);
  for (int d = 0; d < vdim; ++d)
    if (std::abs(k[d]) > (1 - 1e-9) * length) return d;
  return std::nullopt;
}

/// What the cells change of an electrostatic wave along an axis. With collisions: of the wave without them.
void set_grid_errors(const Setup& setup, const std::vector<DriftingMaxwellian>& beams,
                     const std::optional<std::vector<PlasmaPart>>& parts, const std::array<double, 3>& k,
                     Theory& theory) {
  const auto axis = axis_of(k, std::min(setup.basis.cdim(), setup.basis.vdim()));
  if (!axis || theory.omega == 0.0) return;
  std::vector<GridBeam> grid_beams;
  for (const auto& beam : beams) {
    if (!(beam.thermal_speed > 0)) return;
    const auto species = species_of(beam, parts, setup, k);
    if (species.empty()) return;
    const PhaseGrid& grid = setup.species[species.front()].grid;
    const int v = grid.cdim + *axis;
    GridBeam one{beam, {}, velocity_degree(setup.basis)};
    for (int i = 0; i <= grid.cells[v]; ++i) one.edges.push_back(grid.edge(v, i));
    if (k[*axis] < 0) {  // drifts are along the wave already
      std::reverse(one.edges.begin(), one.edges.end());
      for (double& edge : one.edges) edge *= -1;
    }
    grid_beams.push_back(std::move(one));
  }
  const GridOfWave cells{theory.wave_number, setup.species.front().grid.width(*axis), setup.basis.order(),
                         setup.system.field == FieldModel::poisson};
  try {
    const auto omega = setup.system.collisions ? electrostatic_mode(cells.k, beams) : theory.omega;
    theory.of_grid = wave_errors(omega, cells, grid_beams);
    theory.knows_grid = true;
  } catch (const NumericalError&) {  // no wave without collisions
  }
}

}  // namespace

std::optional<Theory> make_theory(const RunOptions& options, const Setup& setup) {
  if (!options.theory) return std::nullopt;
  const TheoryOptions& given = *options.theory;
  const auto k = wave_vector(given, setup.formulas, setup.species.front().grid);
  const auto parts = plasma_parts(options, setup);
  const auto beams = beams_of(given, setup.formulas, parts, k);
  Theory theory;
  theory.quantity = given.quantity;
  theory.label = given.label;
  set_roots(options, setup, beams, k, theory);
  check_theory(options, setup, beams, parts, k, theory);
  theory.wave_number = std::hypot(k[0], k[1], k[2]);
  if (theory.oscillates()) set_recurrence(setup, beams, parts, k, theory);
  if (theory.growth_rate() > 0 && given.kind != Kind::given) set_resonance(setup, beams, parts, k, theory);
  if (given.kind == Kind::electrostatic || given.kind == Kind::collisional)
    set_grid_errors(setup, beams, parts, k, theory);
  if (!given.window.empty()) {
    const auto times =
        std::array{setup.formulas.number("theory.window.0"), setup.formulas.number("theory.window.1")};
    QUINTET_CHECK(times[1] > times[0], "theory.window: {} to {}; expected rising times", times[0], times[1]);
    // No more than a warning: a try of a few steps is asked for with the same file.
    warn_if_beyond("theory.window.0", times[0], "time.end", setup.end, "no fitted rate");
    if (times[1] > theory.clean_until)
      log::warning(
          "theory.window ends at {:g}, but the recurrence of the velocity cells exceeds a thousandth of the "
          "damped wave from time {:.4g} on (recurrence time 2 pi/(k dv) = {:.4g}): {}; smaller velocity "
          "cells delay it",
          times[1], theory.clean_until, theory.recurrence,
          times[0] < theory.clean_until ? "the fit ends there"
                                        : "rates fitted in this window are not those of the wave");
    theory.window = {times[0],
                     times[0] < theory.clean_until ? std::min(times[1], theory.clean_until) : times[1]};
    if (times[0] >= theory.clean_until) theory.clean_until = std::numeric_limits<double>::infinity();
  }
  return theory;
}

std::optional<WaveSignal> wave_signal(const RunOptions& options, const Formulas& formulas,
                                      const PhaseGrid& grid) {
  if (!options.theory) return std::nullopt;
  WaveSignal wave;
  wave.k = wave_vector(*options.theory, formulas, grid);
  const double k = std::hypot(wave.k[0], wave.k[1], wave.k[2]);
  constexpr std::array<std::string_view, 6> names = {"ex", "ey", "ez", "bx", "by", "bz"};
  for (std::size_t c = 0; c < names.size(); ++c)
    if (options.theory->quantity == std::string(names[c]) + "_squared") {
      wave.weight[c] = 1;
      wave.component = names[c];
      return wave;
    }
  if (options.theory->quantity != "electric_energy") return std::nullopt;
  for (std::size_t d = 0; d < 3; ++d) wave.weight[d] = wave.k[d] / k;
  wave.component = "ek";
  return wave;
}

}  // namespace quintet::vlasov
