#include "apps/vlasov/setup/theory_setup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/theory/theory.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

using Kind = TheoryOptions::Kind;

std::vector<DriftingMaxwellian> beams_along(const std::vector<BeamOptions>& options,
                                            const Formulas& formulas) {
  std::vector<DriftingMaxwellian> beams;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto key = fmt::format("theory.beams.{}.", i);
    beams.push_back({formulas.number(key + "plasma_frequency"), formulas.number(key + "thermal_speed"),
                     formulas.number(key + "drift")});
  }
  if (beams.empty()) beams.emplace_back();
  return beams;
}

std::vector<TransverseMaxwellian> beams_across(const std::vector<BeamOptions>& options,
                                               const Formulas& formulas) {
  std::vector<TransverseMaxwellian> result;
  const auto beams = beams_along(options, formulas);
  for (std::size_t i = 0; i < beams.size(); ++i) {
    double transverse = beams[i].thermal_speed;
    if (i < options.size() && options[i].transverse_speed)
      transverse = formulas.number(fmt::format("theory.beams.{}.transverse_speed", i));
    result.push_back({beams[i].plasma_frequency, beams[i].thermal_speed,
                      beams[i].drift * beams[i].drift + transverse * transverse});
  }
  return result;
}

std::complex<double> mode_of(const TheoryOptions& options, const Formulas& formulas, int vdim) {
  if (options.kind == Kind::given)
    return {options.frequency ? formulas.number("theory.frequency") : 0.0,
            formulas.number("theory.growth_rate")};
  const double k = formulas.positive("theory.wavenumber");
  if (options.kind == Kind::weibel)
    return {0.0,
            weibel_rate(k, formulas.positive("theory.light_speed"), beams_across(options.beams, formulas))};
  const auto beams = beams_along(options.beams, formulas);
  if (options.kind == Kind::electrostatic) return electrostatic_mode(k, beams);
  if (options.kind != Kind::collisional) throw InternalError("a kind of theory without a formula");
  const double nu = formulas.number("theory.collision_frequency");
  return collisional_landau_mode(k, nu, CollisionInvariants::density_momentum_energy, vdim,
                                 beams.front().plasma_frequency, beams.front().thermal_speed);
}

/// Wave number along x: the one given, or that of the longest wave there.
double wavenumber(const TheoryOptions& options, const Setup& setup) {
  if (options.wavenumber) return setup.formulas.positive("theory.wavenumber");
  const PhaseGrid& grid = setup.species.front().grid;
  return 2 * M_PI / (grid.upper[0] - grid.lower[0]);
}

/// The widest cell along v within three thermal speeds of a beam: wider ones outside hold next to nothing of
/// it.
double velocity_width(const PhaseGrid& grid, const DriftingMaxwellian& beam) {
  const int d = grid.cdim, n = grid.cells[d];
  if (grid.is_uniform(d)) return grid.width(d);
  double widest = grid.least_width(d);
  for (int i = 0; i < n; ++i)
    if (std::abs(grid.centre(d, i) - beam.drift) - 0.5 * grid.width(d, i) < 3 * beam.thermal_speed)
      widest = std::max(widest, grid.width(d, i));
  return widest;
}

/// When the velocity cells of some charged species give back what a damped wave has left of some beam in
/// them.
void set_recurrence(const TheoryOptions& options, const Setup& setup, Theory& theory) {
  const auto& collisions = setup.system.collisions;
  for (std::size_t s = 0; s < setup.species.size(); ++s) {
    const auto& species = setup.species[s];
    if (species.charge == 0) continue;
    for (const auto& beam : beams_along(options.beams, setup.formulas)) {
      VelocityStructure structure{wavenumber(options, setup), velocity_width(species.grid, beam),
                                  beam.thermal_speed};
      if (collisions && collisions->profile.empty()) {  // what varies in x may be 0 somewhere
        const auto& row = collisions->frequency[s];
        const bool diffuses = row_of(collision_operators(), collisions->kind).diffuses;
        (diffuses ? structure.diffusion : structure.relaxation) =
            std::accumulate(row.begin(), row.end(), 0.0);
      }
      const double onset = recurrence_onset(structure, theory.growth_rate());
      if (onset >= theory.clean_until) continue;
      theory.clean_until = onset;
      theory.recurrence = recurrence_time(structure.k, structure.dv);
    }
  }
}

}  // namespace

std::optional<Theory> make_theory(const std::optional<TheoryOptions>& options, const Setup& setup) {
  if (!options) return std::nullopt;
  Theory theory;
  theory.omega = mode_of(*options, setup.formulas, setup.basis.vdim());
  theory.quantity = options->quantity;
  theory.label = options->label;
  if (theory.oscillates()) set_recurrence(*options, setup, theory);
  if (!options->window.empty()) {
    const auto times =
        std::array{setup.formulas.number("theory.window.0"), setup.formulas.number("theory.window.1")};
    QUINTET_CHECK(times[1] > times[0], "theory.window: {} to {}; expected rising times", times[0], times[1]);
    QUINTET_CHECK(
        times[1] <= theory.clean_until,
        "theory.window: ends at {:g}, but from time {:.4g} on velocity cells give back more than a "
        "thousandth "
        "of the damped wave (recurrence at 2 pi/(k dv) = {:.4g}); end the window there or take smaller cells",
        times[1], theory.clean_until, theory.recurrence);
    theory.window = {times[0], times[1]};
  }
  return theory;
}

}  // namespace quintet::vlasov
