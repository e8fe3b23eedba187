#include "physics/particles/dynamics/barostats.hpp"

#include <cmath>

#include "io/log/error.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/dynamics_random.hpp"

namespace quintet {

namespace {
double strain_work(const Mat3& virial, const Vec3& strain) {
  return -(virial[0] * strain[0] + virial[4] * strain[1] + virial[8] * strain[2]);
}
}  // namespace

Vec3 cell_strain(CellCoupling coupling, const Vec3& pressure, double target, double mobility, double kt,
                 double volume, const Vec3& normal) {
  switch (coupling) {
    case CellCoupling::isotropic: {
      const double mean = (pressure[0] + pressure[1] + pressure[2]) / 3;
      const double d_epsilon = mobility * (mean - target) + std::sqrt(2 * kt * mobility / volume) * normal[0];
      return {d_epsilon / 3, d_epsilon / 3, d_epsilon / 3};
    }
    case CellCoupling::anisotropic: {
      Vec3 strain;
      for (int k = 0; k < 3; ++k)
        strain[k] =
            mobility / 3 * (pressure[k] - target) + std::sqrt(2 * kt * mobility / (3 * volume)) * normal[k];
      return strain;
    }
    case CellCoupling::triclinic:
      break;
  }
  throw InternalError("stochastic cell rescaling with a coupling that it has not");
}

CellRescaling::CellRescaling(CellCoupling coupling, double compressibility, double relaxation_time,
                             std::uint64_t seed)
    : coupling_(coupling),
      compressibility_(compressibility),
      relaxation_time_(relaxation_time),
      seed_(seed) {}

void CellRescaling::before(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  const double volume = system.atoms.box.volume();
  const auto p = pressure_tensor(total_kinetic_tensor(exec, system), system.total.virial, volume);
  RandomSequence random(seed_, random_stream::cell, tick.step);
  const Vec3 normal{random.normal(), random.normal(), random.normal()};
  strain_ = cell_strain(coupling_, {p[0], p[1], p[2]}, tick.pressure,
                        compressibility_ * tick.dt / relaxation_time_, tick.kt, volume, normal);
  for (const double strain : strain_)
    if (!(std::abs(strain) < 0.1))
      throw NumericalError(fmt::format(
          "step {}: the cell would change by {:.3g} % in one step (pressure {:.4g} bar); lengthen "
          "integrator.barostat.relaxation_time, minimise first, or start nearer to the target",
          tick.step, 100 * strain, (p[0] + p[1] + p[2]) / 3 * units::ev_per_a3_to_bar));
  first_half_work_ = 0.5 * strain_work(system.total.virial, strain_);
}

void CellRescaling::middle(const Exec& exec, ParticleSystem& system, const Tick&) {
  const auto kinetic = total_kinetic_tensor(exec, system);
  Vec3 stretch, shrink;
  for (int k = 0; k < 3; ++k) {
    stretch[k] = std::exp(strain_[k]);
    shrink[k] = 1 / stretch[k];
    energy_ -= kinetic[k] * std::expm1(-2 * strain_[k]);
  }
  scale_cell(exec, system.atoms, stretch);
  scale_velocities(exec, system.atoms, shrink);
}

void CellRescaling::after(const Exec&, ParticleSystem& system, const Tick&) {
  energy_ -= first_half_work_ + 0.5 * strain_work(system.total.virial, strain_);
}

}  // namespace quintet
