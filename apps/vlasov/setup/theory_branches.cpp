#include "apps/vlasov/setup/theory_branches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/vlasov/setup/theory_checks.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"
#include "physics/kinetics/theory/excitation.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

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
void set_recurrence(const Setup& setup, const TheoryPlasma& plasma, Branch& branch) {
  const auto& [beams, parts, k] = plasma;
  const auto& collisions = setup.system.collisions;
  for (const auto& beam : beams)
    for (const std::size_t s : species_of(beam, parts, setup, k)) {
      const auto& species = setup.species[s];
      VelocityStructure structure;
      structure.k = k;
      structure.thermal_speed = beam.thermal_speed;
      const double length = std::hypot(k[0], k[1], k[2]);
      for (int d = 0; d < setup.basis.vdim(); ++d)
        structure.dv[d] = velocity_width(species.grid, d, beam.drift * k[d] / length, beam.thermal_speed);
      for (int d = setup.basis.vdim(); d < 3; ++d) structure.k[d] = 0;
      if (structure.k[0] == 0 && structure.k[1] == 0 && structure.k[2] == 0) continue;
      if (collisions && collisions->profile.empty()) {  // what varies in x may be 0 somewhere
        const auto& row = collisions->frequency[s];
        const bool diffuses = row_of(collision_operators(), collisions->kind).diffuses;
        (diffuses ? structure.diffusion : structure.relaxation) =
            std::accumulate(row.begin(), row.end(), 0.0);
      }
      const double onset = recurrence_onset(structure, branch.growth_rate(), 1e-3, setup.end);
      if (onset >= branch.clean_until) continue;
      branch.clean_until = onset;
      branch.recurrence = std::numeric_limits<double>::infinity();
      for (std::size_t d = 0; d < 3; ++d)
        if (structure.k[d] != 0)
          branch.recurrence = std::min(branch.recurrence, recurrence_time(structure.k[d], structure.dv[d]));
    }
}

/// How well the cells of the species about a growing wave's phase velocity resolve its resonance.
void set_resonance(const Setup& setup, const TheoryPlasma& plasma, Branch& branch) {
  const auto& [beams, parts, k] = plasma;
  const double length = std::hypot(k[0], k[1], k[2]);
  for (const auto& beam : beams)
    for (const std::size_t s : species_of(beam, parts, setup, k)) {
      const PhaseGrid& grid = setup.species[s].grid;
      constexpr double reach = 6;  // thermal speeds: beyond there are no particles
      if (std::abs(branch.phase_velocity() - beam.drift) > reach * beam.thermal_speed) continue;
      for (int d = 0; d < setup.basis.vdim(); ++d) {
        const double k_d = std::abs(k[d]);
        if (k_d < 1e-6 * length) continue;
        const double dv = velocity_width(grid, d, branch.phase_velocity() * k_d / length, 0);
        branch.resonance_error =
            std::max(branch.resonance_error,
                     resonance_error(branch.growth_rate(), k_d, dv, velocity_degree(setup.basis)));
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
void set_grid_errors(const Setup& setup, const TheoryPlasma& plasma, bool is_collisional, Branch& branch) {
  const auto& [beams, parts, k] = plasma;
  const auto axis = axis_of(k, std::min(setup.basis.cdim(), setup.basis.vdim()));
  if (!axis || branch.omega == 0.0) return;
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
  const GridOfWave cells{branch.wave_number, setup.species.front().grid.width(*axis), setup.basis.order(),
                         setup.system.field == FieldModel::poisson};
  try {
    const auto omega = is_collisional ? electrostatic_mode(cells.k, beams) : branch.omega;
    branch.of_grid = wave_errors(omega, cells, grid_beams);
    branch.knows_grid = true;
  } catch (const NumericalError&) {  // no wave without collisions
  }
}

}  // namespace

Branch make_branch(const Setup& setup, const TheoryPlasma& plasma, std::complex<double> omega,
                   TheoryOptions::Kind kind) {
  using Kind = TheoryOptions::Kind;
  Branch branch;
  branch.omega = omega;
  branch.wave_number = std::hypot(plasma.k[0], plasma.k[1], plasma.k[2]);
  branch.both_ways =
      std::all_of(plasma.beams.begin(), plasma.beams.end(), [](const auto& beam) { return beam.drift == 0; });
  if (branch.oscillates()) set_recurrence(setup, plasma, branch);
  if (branch.growth_rate() > 0 && kind != Kind::given) set_resonance(setup, plasma, branch);
  if (kind == Kind::electrostatic || kind == Kind::collisional)
    set_grid_errors(setup, plasma, kind == Kind::collisional, branch);
  return branch;
}

void set_excitation(const Setup& setup, const TheoryPlasma& plasma, std::vector<Branch>& branches) {
  if (!plasma.parts) return;
  std::vector<DriftingMaxwellian> beams;
  std::vector<DensityWave> density;
  double modulated = 0;
  for (const auto& part : *plasma.parts) {
    const Species& species = setup.species[part.species];
    beams.push_back(along(part, plasma.k));
    density.push_back({part.density_wave, species.mass / species.charge});
    modulated = std::max(modulated, std::abs(part.density_wave));
  }
  constexpr double round_off = 1e-12;
  if (modulated < round_off) return;
  double most = 0;
  for (auto& branch : branches) {
    branch.excited = excitation(branch.omega, branch.wave_number, beams, density);
    most = std::max(most, branch.excited);
  }
  for (auto& branch : branches) branch.excited /= most;
}

std::size_t expected_branch(const std::vector<Branch>& branches, double begin, double end) {
  if (branches.front().growth_rate() >= 0) return 0;
  std::size_t best = 0;
  double most = 0;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    // int |excited exp(gamma t)|^2 dt; NaN is never more.
    const double twice = 2 * branches[i].growth_rate();
    const double square = branches[i].excited * branches[i].excited *
                          (std::exp(twice * begin) - std::exp(twice * end)) / -twice;
    if (square > most) most = square, best = i;
  }
  return best;
}

std::optional<std::size_t> nearest_branch(const std::vector<Branch>& branches, double frequency,
                                          bool has_sign) {
  const auto distance = [&](const Branch& branch) {
    return has_sign && !branch.both_ways ? std::abs(branch.frequency() - frequency)
                                         : std::abs(std::abs(branch.frequency()) - std::abs(frequency));
  };
  double least = 0.5 * std::abs(frequency);
  for (const auto& branch : branches) least = std::min(least, distance(branch));
  constexpr double near = 0.05;  // of the frequency
  for (std::size_t i = 0; i < branches.size(); ++i)
    if (distance(branches[i]) <= least + near * std::abs(frequency) &&
        distance(branches[i]) < 0.5 * std::abs(frequency))
      return i;
  return std::nullopt;
}

}  // namespace quintet::vlasov
