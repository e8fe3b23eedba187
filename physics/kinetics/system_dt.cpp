#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/advection/positivity.hpp"
#include "physics/kinetics/collisions/collisions.hpp"
#include "physics/kinetics/fields/maxwell.hpp"
#include "physics/kinetics/system_state.hpp"

// The largest stable step of VlasovSystem: by the speeds of the present state, and by what the field, which
// may be 0 now, becomes within the step.
namespace quintet::kinetics {
namespace {

/// The greatest omega_p dt over time.cfl. SSP-RK3 is stable up to sqrt(3), but damps a plasma oscillation by
/// (omega_p dt)^4/24 a step.
constexpr double plasma_part = 0.5;

/// The time after which t (frequency + growth t) reaches `limit`.
double step_until(double limit, double frequency, double growth) {
  return 2 * limit / (frequency + std::sqrt(frequency * frequency + 4 * growth * limit));
}

}  // namespace

FieldResponse VlasovSystem::Implementation::field_response(const Exec& exec, double t) {
  finish_moments(exec, now);
  const bool given = static_cast<bool>(options.external_current);
  if (given) options.external_current(t, current);
  const PhaseGrid& grid = species.front().grid;
  const double one = std::pow(2.0, 0.5 * grid.cdim);  // the coefficient of the constant 1
  const double epsilon0 =
      options.field == FieldModel::maxwell ? options.maxwell.epsilon0 : options.poisson.epsilon0;
  // Greatest omega_p^2, greatest and least J_x, J_y, J_z (as -J), over this rank's cells.
  std::array<double, FieldResponse::n_compared> greatest;
  greatest.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t conf = 0; conf < charge.extent(0); ++conf) {
    double square = 0;
    std::array<double, 3> j{};
    for (std::size_t s = 0; s < species.size(); ++s) {
      const double q = species[s].charge;
      square += q * q / species[s].mass * now.moments[s](conf, 0, 0) / (one * epsilon0);
      for (int d = 0; d < basis.vdim(); ++d) j[d] += q * now.moments[s](conf, 1 + d, 0) / one;
    }
    for (int d = 0; given && d < basis.vdim(); ++d) j[d] += current(conf, d, 0) / one;
    greatest[0] = std::max(greatest[0], square);
    for (std::size_t d = 0; d < 3; ++d) {
      greatest[1 + d] = std::max(greatest[1 + d], j[d]);
      greatest[4 + d] = std::max(greatest[4 + d], -j[d]);
    }
  }
  decomposition.comm().reduce(std::span<double>(greatest), Comm::Reduction::maximum);
  FieldResponse response;
  response.plasma_frequency = std::sqrt(std::max(greatest[0], 0.0));
  for (const auto& one_species : species) {
    double growth = 0;
    for (int d = 0; d < basis.vdim(); ++d) {
      const double highest = greatest[1 + d], lowest = -greatest[4 + d];
      // A current that is the same everywhere makes no charge, and Poisson's equation no field of it.
      const double j = options.field == FieldModel::poisson ? highest - lowest
                                                            : std::max(std::abs(highest), std::abs(lowest));
      growth += j / epsilon0 / one_species.grid.least_width(grid.cdim + d);
    }
    response.frequency_growth =
        std::max(response.frequency_growth, std::abs(one_species.charge / one_species.mass) * growth);
  }
  return response;
}

double VlasovSystem::stable_dt(const Exec& exec) {
  auto& my = *implementation_;
  my.refresh_given(my.time);
  const bool changing_rates = my.collisions && !my.splits() && my.options.collisions->profile_changes;
  if (changing_rates) my.collision_frequency = my.collisions->frequency(exec, my.time, my.now.f);
  double frequency = my.maxwell ? my.maxwell->frequency() : 0;
  for (int s = 0; s < my.n_species(); ++s) {
    my.set_acceleration(s, my.time, my.now.field);
    frequency =
        std::max(frequency, my.operators[s]->frequency(exec, my.acceleration[s]) + my.collision_frequency);
  }
  frequency = my.decomposition.comm().maximum(frequency);
  const int order = my.basis.family() == Family::hybrid ? 2 : my.basis.order();
  const double cfl = my.options.keep_positive
                         ? std::min(my.options.cfl, (2 * order + 1) * positive_step(my.basis))
                         : my.options.cfl;
  double dt = cfl / ((2 * order + 1) * frequency);
  if (my.options.field != FieldModel::none) {
    const auto bound = [&](double t) {
      const FieldResponse response = my.field_response(exec, t);
      return std::min(plasma_part * my.options.cfl / response.plasma_frequency,
                      step_until(1.0 / (2 * order + 1), frequency, response.frequency_growth));
    };
    dt = std::min(dt, bound(my.time));
    // A given current may rise within the step.
    if (my.options.external_current) dt = std::min(dt, bound(my.time + dt));
  }
  if (!changing_rates) return dt;
  // A step must bear the rates of its end, too.
  const double more = my.collisions->frequency(exec, my.time + dt, my.now.f) - my.collision_frequency;
  return more > 0 ? std::min(dt, cfl / ((2 * order + 1) * (frequency + more))) : dt;
}

}  // namespace quintet::kinetics
