#include "apps/vlasov/setup/theory_checks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <fmt/ranges.h>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

using Kind = TheoryOptions::Kind;

constexpr const char* way_out =
    "; give the theory of this run, or write its rates down yourself (theory.kind: given)";

bool is_part(const DriftingMaxwellian& beam, const DriftingMaxwellian& part, bool across) {
  constexpr double tolerance = 0.03;
  const double scale = std::max(part.thermal_speed, 1e-300);
  if (std::abs(beam.thermal_speed - part.thermal_speed) > tolerance * scale) return false;
  return across || std::abs(beam.drift - part.drift) <= tolerance * (scale + std::abs(part.drift));
}

std::string part_text(const DriftingMaxwellian& part, const std::string& species) {
  return fmt::format("{} (plasma_frequency {:.4g}, thermal_speed {:.4g}, drift {:.4g})", species,
                     part.plasma_frequency, part.thermal_speed, part.drift);
}

/// Beams and species must be one another's, in plasma frequencies too.
void check_beams(const Setup& setup, const std::vector<DriftingMaxwellian>& beams,
                 const std::vector<PlasmaPart>& parts, const std::array<double, 3>& k, bool across) {
  double of_beams = 0, of_parts = 0;
  std::string known;
  for (const auto& part : parts) {
    const auto one = along(part, k);
    of_parts += one.plasma_frequency * one.plasma_frequency;
    known += (known.empty() ? "" : ", ") + part_text(one, setup.species[part.species].name);
  }
  for (std::size_t i = 0; i < beams.size(); ++i) {
    of_beams += beams[i].plasma_frequency * beams[i].plasma_frequency;
    QUINTET_CHECK(
        std::any_of(parts.begin(), parts.end(),
                    [&](const auto& part) { return is_part(beams[i], along(part, k), across); }),
        "theory.beams.{}: no species has particles of thermal_speed {:.4g} and drift {:.4g} along the "
        "wave; the run starts with {}{}",
        i, beams[i].thermal_speed, beams[i].drift, known, way_out);
  }
  constexpr double tolerance = 0.02;
  QUINTET_CHECK(
      std::abs(of_beams - of_parts) <= tolerance * of_parts,
      "theory.beams: the squares of their plasma frequencies sum to {:.5g}, those of the run to {:.5g}: "
      "it starts with {}{}",
      of_beams, of_parts, known, way_out);
}

double greatest_rate(const Setup& setup) {
  double greatest = 0;
  if (setup.system.collisions)
    for (const auto& row : setup.system.collisions->frequency)
      greatest = std::max(greatest, std::accumulate(row.begin(), row.end(), 0.0));
  return greatest;
}

void check_magnetic_field(const RunOptions& options, const Setup& setup, const std::array<double, 3>& k,
                          const Theory& theory) {
  const auto b = mean_magnetic_field(options, setup);
  const double length = std::hypot(k[0], k[1], k[2]);
  double along_k = 0, square = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    along_k += b[d] * k[d] / length;
    square += b[d] * b[d];
  }
  // An electrostatic wave does not feel B along k; one velocity direction knows no gyration.
  const bool electrostatic = options.theory->kind != Kind::weibel;
  if (electrostatic) square -= along_k * along_k;
  if (setup.basis.vdim() == 1) return;
  double fastest = 0;
  for (const auto& species : setup.species)
    fastest = std::max(fastest, std::abs(species.charge / species.mass) * std::sqrt(std::max(square, 0.0)));
  constexpr double tolerance = 0.03;
  QUINTET_CHECK(fastest <= tolerance * std::abs(theory.omega),
                "theory.kind: this theory has no magnetic field, but the run has one{} in which particles "
                "gyrate at {:.4g} ({:.3g} of |omega|){}",
                electrostatic ? " across the wave" : "", fastest, fastest / std::abs(theory.omega), way_out);
}

/// Maxwell's equations take the mean current of a periodic domain for what it is: E_t = -J/epsilon0 sets all
/// particles swinging at omega_p by delta u = |q/m| J/(epsilon0 omega_p^2), Doppler shifts that no theory of
/// steady drifts has. Poisson's equation drops it.
void warn_of_current(const RunOptions& options, const Setup& setup, const std::vector<PlasmaPart>& parts,
                     const std::array<double, 3>& k, const Theory& theory) {
  const PhaseGrid& grid = setup.species.front().grid;
  const bool periodic =
      std::all_of(grid.periodic.begin(), grid.periodic.begin() + grid.cdim, [](bool one) { return one; });
  if (setup.system.field != FieldModel::maxwell || !periodic) return;
  double j = 0, square = 0, lightest = 0;  // J/epsilon0 along the wave, omega_p^2, |q/m|
  for (const auto& part : parts) {
    const auto& species = setup.species[part.species];
    const auto one = along(part, k);
    const double omega_squared = one.plasma_frequency * one.plasma_frequency;
    j += omega_squared * one.drift * species.mass / species.charge;
    square += omega_squared;
    lightest = std::max(lightest, std::abs(species.charge / species.mass));
  }
  const double k_length = std::hypot(k[0], k[1], k[2]), of_plasma = j;
  const auto given = mean_current(options, setup);
  for (std::size_t d = 0; d < 3; ++d) j += given[d] * k[d] / (k_length * setup.system.maxwell.epsilon0);
  const double swing = lightest * std::abs(j) / square;
  constexpr double tolerance = 0.01;
  if (k_length * swing <= tolerance * std::abs(theory.omega)) return;
  const double epsilon0 = setup.system.maxwell.epsilon0;
  std::array<double, 3> against{};
  for (std::size_t d = 0; d < 3; ++d) against[d] = -of_plasma * epsilon0 * k[d] / k_length + 0.0;
  log::warning(
      "theory: the mean current density along the wave is {:.4g}{}. With field.model: maxwell it drives a "
      "uniform E, in which drifts oscillate by {:.3g} at the plasma frequency. The theory is of steady "
      "drifts; "
      "field.current: [{:.6g}] compensates it",
      j * epsilon0, options.field.current.empty() ? "" : " with field.current at t = 0", swing,
      fmt::join(against, ", "));
}

/// Whether velocity cells are made for a beam: two of its thermal speeds lie within them, and a cell is no
/// wider than that.
bool can_hold(const PhaseGrid& grid, const DriftingMaxwellian& beam, const std::array<double, 3>& k) {
  const double length = std::hypot(k[0], k[1], k[2]), reach = 2 * beam.thermal_speed;
  for (int v = 0; v < grid.vdim; ++v) {
    const int d = grid.cdim + v;
    const double drift = beam.drift * k[v] / length;
    if (drift - reach < grid.lower[d] || drift + reach > grid.upper[d] || grid.least_width(d) > reach)
      return false;
  }
  return true;
}

}  // namespace

DriftingMaxwellian along(const PlasmaPart& part, const std::array<double, 3>& k) {
  const double length = std::hypot(k[0], k[1], k[2]);
  DriftingMaxwellian beam{part.plasma_frequency, 0, 0};
  double square = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    square += std::pow(k[d] / length * part.thermal_speed[d], 2);
    beam.drift += k[d] / length * part.drift[d];
  }
  beam.thermal_speed = std::sqrt(square);
  return beam;
}

std::vector<std::size_t> species_of(const DriftingMaxwellian& beam,
                                    const std::optional<std::vector<PlasmaPart>>& parts, const Setup& setup,
                                    const std::array<double, 3>& k) {
  std::vector<std::size_t> result;
  if (parts)
    for (const auto& part : *parts)
      if (is_part(beam, along(part, k), false)) result.push_back(part.species);
  if (!result.empty()) return result;
  for (std::size_t s = 0; s < setup.species.size(); ++s)
    if (setup.species[s].charge != 0 && can_hold(setup.species[s].grid, beam, k)) result.push_back(s);
  if (!result.empty()) return result;
  for (std::size_t s = 0; s < setup.species.size(); ++s)
    if (setup.species[s].charge != 0) result.push_back(s);
  return result;
}

std::complex<double> collisional_mode(const RunOptions& options, const Setup& setup, double k,
                                      const std::vector<DriftingMaxwellian>& beams) {
  const auto& collisions = setup.system.collisions;
  QUINTET_CHECK(collisions, "theory.kind: collisional, but the run has no collisions{}", way_out);
  QUINTET_CHECK(
      collisions->profile.empty() && !collisions->spitzer,
      "theory.kind: collisional takes one constant collision frequency, but that of the run varies{}",
      way_out);
  QUINTET_CHECK(beams.size() == 1 && beams.front().drift == 0,
                "theory.kind: collisional is of one Maxwellian at rest, not of {} with a drift of {:.4g}{}",
                beams.size(), beams.front().drift, way_out);
  double nu = 0;
  for (std::size_t s = 0; s < setup.species.size(); ++s)
    if (setup.species[s].charge != 0) nu = std::max(nu, collisions->frequency[s][s]);
  const double given =
      options.theory->collision_frequency ? setup.formulas.number("theory.collision_frequency") : nu;
  QUINTET_CHECK(
      std::abs(given - nu) <= 1e-9 * (given + nu),
      "theory.collision_frequency: {:g}, but collisions.frequency of the run is {:g}; leave it away to "
      "have that of the run",
      given, nu);
  const auto& row = row_of(collision_operators(), collisions->kind);
  QUINTET_CHECK(collisions->conserving || row.diffuses,
                "theory.kind: collisional has no formula for {} with conserving: false{}", row.name, way_out);
  const int vdim = setup.basis.vdim();
  if (!row.diffuses)
    return bgk_landau_mode(k, nu, vdim, beams.front().plasma_frequency, beams.front().thermal_speed);
  return collisional_landau_mode(
      k, nu,
      collisions->conserving ? CollisionInvariants::density_momentum_energy : CollisionInvariants::density,
      vdim, beams.front().plasma_frequency, beams.front().thermal_speed);
}

void check_theory(const RunOptions& options, const Setup& setup, const std::vector<DriftingMaxwellian>& beams,
                  const std::optional<std::vector<PlasmaPart>>& parts, const std::array<double, 3>& k,
                  const Theory& theory) {
  const Kind kind = options.theory->kind;
  if (kind == Kind::given) return;
  if (parts) check_beams(setup, beams, *parts, k, kind == Kind::weibel);
  constexpr double tolerance = 0.01;
  if (kind != Kind::collisional)
    QUINTET_CHECK(greatest_rate(setup) <= tolerance * std::abs(theory.omega),
                  "theory.kind: this theory has no collisions, but the run's collision frequency is {:g} "
                  "({:.2g} of |omega|){}",
                  greatest_rate(setup), greatest_rate(setup) / std::abs(theory.omega),
                  kind == Kind::electrostatic ? "; take kind: collisional (one Maxwellian at rest), or write "
                                                "its rates down yourself (kind: given)"
                                              : way_out);
  check_magnetic_field(options, setup, k, theory);
  if (parts && kind != Kind::weibel) warn_of_current(options, setup, *parts, k, theory);
}

}  // namespace quintet::vlasov
