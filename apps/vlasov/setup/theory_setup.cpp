#include "apps/vlasov/setup/theory_setup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "apps/application/loop/windows.hpp"
#include "apps/vlasov/setup/plasma_parts.hpp"
#include "apps/vlasov/setup/theory_checks.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/theory/excitation.hpp"
#include "physics/kinetics/theory/theory.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

using Kind = TheoryOptions::Kind;

/// Throw where a wave does not fit into the periodic directions of x, k_d L_d = 2 pi n: nothing of the run
/// would be that wave.
void check_fits(const std::array<double, 3>& k, const PhaseGrid& grid) {
  constexpr double tolerance = 1e-3;  // of a period: numbers are given with some digits
  for (int d = 0; d < grid.cdim; ++d) {
    if (!grid.periodic[d]) continue;
    const double length = grid.upper[d] - grid.lower[d], n = k[d] * length / (2 * M_PI);
    const double whole = std::round(n);
    QUINTET_CHECK(std::abs(n - whole) <= tolerance,
                  "theory.wavenumber: {:.5g} wavelengths fit into the periodic domain along {}, {:.6g} long; "
                  "expected a whole number, as with a component of {:.6g} along {} ({})",
                  n, "xyz"[d], length, 2 * M_PI / length * (whole == 0 ? 1 : whole), "xyz"[d],
                  whole == 0 ? "one wavelength" : counted(static_cast<long>(whole), "wavelength"));
  }
}

/// Wave vector: theory.wavenumber (or that of the longest wave along x) along theory.direction (or x).
std::array<double, 3> wave_vector(const TheoryOptions& options, const Formulas& formulas,
                                  const PhaseGrid& grid) {
  const double k = options.wavenumber ? formulas.positive("theory.wavenumber")
                                      : 2 * M_PI / (grid.upper[0] - grid.lower[0]);
  if (options.direction.empty()) return {k, 0, 0};
  QUINTET_CHECK(options.direction.size() == static_cast<std::size_t>(grid.cdim),
                "theory.direction: has {}; expected {}, one for each direction of x",
                counted(options.direction.size(), "value"), grid.cdim);
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

/// c of the run, which theory.light_speed may not contradict.
double light_speed(const TheoryOptions& options, const Setup& setup) {
  const auto& maxwell = setup.system.maxwell;
  const bool has_light = setup.system.field == FieldModel::maxwell;
  QUINTET_CHECK(has_light || options.light_speed,
                "theory.light_speed is missing: without field.model: maxwell the run has none");
  const double of_run = has_light ? 1 / std::sqrt(maxwell.epsilon0 * maxwell.mu0) : 0;
  if (!options.light_speed) return of_run;
  const double given = setup.formulas.positive("theory.light_speed");
  constexpr double tolerance = 1e-3;
  QUINTET_CHECK(!has_light || std::abs(given - of_run) <= tolerance * of_run,
                "theory.light_speed: {:g}, but that of the run is {:g} (field.epsilon0, field.mu0); leave it "
                "out to have that of the run",
                given, of_run);
  return given;
}

/// The roots of the run's dispersion relation: of electrostatic waves all that a signal may show.
std::vector<std::complex<double>> roots_of(const RunOptions& all, const Setup& setup,
                                           const std::vector<DriftingMaxwellian>& beams, double k) {
  const TheoryOptions& options = *all.theory;
  const Formulas& formulas = setup.formulas;
  switch (options.kind) {
    case Kind::given:
      return {{options.frequency ? formulas.number("theory.frequency") : 0.0,
               formulas.number("theory.growth_rate")}};
    case Kind::weibel:
      return {{0.0, weibel_rate(k, light_speed(options, setup), beams_across(options, formulas, beams))}};
    case Kind::electrostatic:
      return electrostatic_candidates(k, beams);
    case Kind::collisional:
      return {collisional_mode(all, setup, k, beams)};
  }
  throw InternalError("a kind of theory without a formula");
}

/// The roots, or how to do without them: a theory that has none must not end a run.
std::vector<std::complex<double>> known_roots(const RunOptions& all, const Setup& setup,
                                              const std::vector<DriftingMaxwellian>& beams, double k) {
  try {
    return roots_of(all, setup, beams, k);
  } catch (const NumericalError& error) {
    throw InputError(fmt::format(
        "theory: of k = {:g} no root is known ({}); write the rates down yourself (theory.kind: given), or "
        "leave section theory out",
        k, error.what()));
  }
}

/// The rate at which split collisions damp heat flux; 0 where none are split.
double split_rate(const Setup& setup) {
  const auto& collisions = setup.system.collisions;
  if (!collisions || !collisions->split) return 0;
  double nu = 0;
  for (const auto& row : collisions->frequency)
    nu = std::max(nu, std::accumulate(row.begin(), row.end(), 0.0));
  return (row_of(collision_operators(), collisions->kind).diffuses ? 3 : 1) * nu;
}

}  // namespace

void Theory::choose(std::size_t i) {
  static_cast<Branch&>(*this) = branches[i];
  window = given_window;
  if (!window) return;
  if (window->begin < clean_until)
    window->end = std::min(window->end, clean_until);
  else  // nothing else is asked for
    clean_until = std::numeric_limits<double>::infinity();
}

std::vector<Branch> Theory::others() const {
  std::vector<Branch> result;
  const double least = growth_rate() > 0 ? 0.5 * growth_rate() : 2 * growth_rate();
  for (const auto& branch : branches)
    if (branch.omega != omega && branch.growth_rate() >= least) result.push_back(branch);
  return result;
}

std::optional<Theory> make_theory(const RunOptions& options, const Setup& setup) {
  if (!options.theory) return std::nullopt;
  const TheoryOptions& given = *options.theory;
  const auto k = wave_vector(given, setup.formulas, setup.species.front().grid);
  check_fits(k, setup.species.front().grid);
  QUINTET_CHECK(
      given.kind == Kind::given || setup.system.field != FieldModel::none,
      "theory.kind: a run without a field (field.model: none) has no waves; leave section theory out, "
      "or give rates to compare with (theory.kind: given)");
  QUINTET_CHECK(given.kind == Kind::given || std::any_of(setup.species.begin(), setup.species.end(),
                                                         [](const Species& one) { return one.charge != 0; }),
                "theory.kind: no species has a charge, so that there are no waves; give species.0.charge, or "
                "leave section theory out");
  TheoryPlasma plasma;
  plasma.k = k;
  plasma.parts = plasma_parts(options, setup, k);
  plasma.beams = beams_of(given, setup.formulas, plasma.parts, k);
  Theory theory;
  theory.quantity = given.quantity;
  theory.label = given.label;
  if (given.kind == Kind::collisional) theory.split_rate = split_rate(setup);
  for (const auto root : known_roots(options, setup, plasma.beams, std::hypot(k[0], k[1], k[2])))
    theory.branches.push_back(make_branch(setup, plasma, root, given.kind));
  if (given.kind == Kind::electrostatic) set_excitation(setup, plasma, theory.branches);
  if (!given.window.empty()) {
    theory.given_window = {setup.formulas.number("theory.window.0"),
                           setup.formulas.number("theory.window.1")};
    const auto [begin, end] = *theory.given_window;
    QUINTET_CHECK(end > begin, "theory.window: {} to {}; expected rising times", begin, end);
    // No more than a warning: a try of a few steps is asked for with the same file.
    warn_if_beyond("theory.window.0", begin, "time.end", setup.end, "no fitted rate");
  }
  const auto [begin, end] = theory.given_window.value_or(Window{0, setup.end});
  const auto expected = expected_branch(theory.branches, begin, end);
  theory.choose(expected);
  check_theory(options, setup, plasma.beams, plasma.parts, k, theory);
  const double clean_until = theory.branches[expected].clean_until;
  if (theory.given_window && end > clean_until)
    log::warning(
        "theory.window ends at {:g}, but the recurrence of the velocity cells exceeds a thousandth of the "
        "damped wave from time {:.4g} on (recurrence time 2 pi/(k dv) = {:.4g}): {}; smaller velocity "
        "cells delay it",
        end, clean_until, theory.recurrence,
        begin < clean_until ? "the fit ends there" : "rates fitted in this window are not those of the wave");
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
