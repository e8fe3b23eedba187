#include "physics/particles/dynamics/dynamics_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "physics/kernels/random.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/device/resident_atoms.hpp"

namespace quintet {

namespace {
Kokkos::RangePolicy<Exec> local(const Exec& exec, const Atoms& atoms) {
  return Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_local);
}
Mat3 diagonal(const Vec3& d) { return {d[0], 0, 0, 0, d[1], 0, 0, 0, d[2]}; }
}  // namespace

void kick(const Exec& exec, Atoms& atoms, double dt) {
  if (atoms.resident) return atoms.resident->kick(dt);
  const auto v = atoms.velocity;
  const auto f = atoms.force;
  const auto type = atoms.type;
  const double* const mass = atoms.masses.data();
  Kokkos::parallel_for("particles::kick", local(exec, atoms), [=](int i) {
    const double s = dt * units::force_to_acceleration / mass[type(i)];
    for (int k = 0; k < 3; ++k) v(i, k) += s * f(i, k);
  });
}

void drift(const Exec& exec, Atoms& atoms, double dt) {
  if (atoms.resident) return atoms.resident->drift(dt);
  const auto x = atoms.position;
  const auto v = atoms.velocity;
  Kokkos::parallel_for("particles::drift", local(exec, atoms), [=](int i) {
    for (int k = 0; k < 3; ++k) x(i, k) += dt * v(i, k);
  });
}

void scale_velocities(const Exec& exec, Atoms& atoms, const Vec3& factor) {
  if (atoms.resident) return atoms.resident->transform_velocities(diagonal(factor));
  const auto v = atoms.velocity;
  Kokkos::parallel_for("particles::scale_velocities", local(exec, atoms), [=](int i) {
    for (int k = 0; k < 3; ++k) v(i, k) *= factor[k];
  });
}

void shift_velocities(const Exec& exec, Atoms& atoms, const Vec3& shift) {
  if (atoms.resident) return atoms.resident->shift_velocities(shift);
  const auto v = atoms.velocity;
  Kokkos::parallel_for("particles::shift_velocities", local(exec, atoms), [=](int i) {
    for (int k = 0; k < 3; ++k) v(i, k) += shift[k];
  });
}

void scale_cell(const Exec& exec, Atoms& atoms, const Vec3& factor) {
  if (atoms.resident) return deform_cell(exec, atoms, diagonal(factor));
  const auto x = atoms.position;
  Kokkos::parallel_for("particles::scale_cell", Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_all()),
                       [=](int i) {
                         for (int k = 0; k < 3; ++k) x(i, k) *= factor[k];
                       });
  atoms.box = atoms.box.deformed(diagonal(factor));
}

namespace {
void transform_rows(const Exec& exec, const char* label, int n, const Vectors& rows, const Mat3& m) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, n), [=](int i) {
    const double a = rows(i, 0), b = rows(i, 1), c = rows(i, 2);
    for (int l = 0; l < 3; ++l) rows(i, l) = a * m[l] + b * m[3 + l] + c * m[6 + l];
  });
}
}  // namespace

void transform_velocities(const Exec& exec, Atoms& atoms, const Mat3& m) {
  if (atoms.resident) return atoms.resident->transform_velocities(m);
  transform_rows(exec, "particles::transform_velocities", atoms.n_local, atoms.velocity, m);
}

void deform_cell(const Exec& exec, Atoms& atoms, const Mat3& d) {
  if (atoms.resident)
    atoms.resident->deform(d);
  else
    transform_rows(exec, "particles::deform_cell", atoms.n_all(), atoms.position, d);
  atoms.box = atoms.box.deformed(d);
}

void ornstein_uhlenbeck(const Exec& exec, Atoms& atoms, double friction, double dt, double kt,
                        std::uint64_t seed, std::int64_t step) {
  if (atoms.resident) return atoms.resident->ornstein_uhlenbeck(friction, dt, kt, seed, step);
  const auto v = atoms.velocity;
  const auto type = atoms.type;
  const auto id = atoms.id;
  const double* const mass = atoms.masses.data();
  const double c = std::exp(-friction * dt);
  const double variance = -std::expm1(-2 * friction * dt) * kt / units::mv2_to_ev;
  Kokkos::parallel_for("particles::ornstein_uhlenbeck", local(exec, atoms), [=](int i) {
    const double sigma = std::sqrt(variance / mass[type(i)]);
    double xi[4];
    for (int pair = 0; pair < 2; ++pair)  // three normal numbers of two pairs: counters 2 step and 2 step + 1
      normal_pair(seed, random_stream::langevin, id(i), 2 * step + pair, xi[2 * pair], xi[2 * pair + 1]);
    for (int k = 0; k < 3; ++k) v(i, k) = c * v(i, k) + sigma * xi[k];
  });
}

void mix_velocities(const Exec& exec, Atoms& atoms, double mixing, double ratio) {
  if (atoms.resident) return atoms.resident->mix_velocities(mixing, ratio);
  const auto v = atoms.velocity;
  const auto f = atoms.force;
  Kokkos::parallel_for("particles::mix_velocities", local(exec, atoms), [=](int i) {
    for (int k = 0; k < 3; ++k) v(i, k) = (1 - mixing) * v(i, k) + mixing * ratio * f(i, k);
  });
}

double kinetic_energy(const Exec& exec, const Atoms& atoms) {
  if (atoms.resident) return atoms.resident->kinetic_energy();
  const auto v = atoms.velocity;
  const auto type = atoms.type;
  const double* const mass = atoms.masses.data();
  const auto add = [=](int i, std::array<double, 1>& sum) {
    sum[0] += mass[type(i)] * (v(i, 0) * v(i, 0) + v(i, 1) * v(i, 1) + v(i, 2) * v(i, 2));
  };
  return 0.5 * units::mv2_to_ev * blocked_sum<1>(exec, "particles::kinetic_energy", atoms.n_local, add)[0];
}

SymmetricTensor kinetic_tensor(const Exec& exec, const Atoms& atoms) {
  if (atoms.resident) return atoms.resident->kinetic_tensor();
  const auto v = atoms.velocity;
  const auto type = atoms.type;
  const double* const mass = atoms.masses.data();
  const auto add = [=](int i, SymmetricTensor& sum) {
    const double m = mass[type(i)], x = v(i, 0), y = v(i, 1), z = v(i, 2);
    const double term[6] = {m * x * x, m * y * y, m * z * z, m * x * y, m * x * z, m * y * z};
    for (int k = 0; k < 6; ++k) sum[k] += term[k];
  };
  auto tensor = blocked_sum<6>(exec, "particles::kinetic_tensor", atoms.n_local, add);
  for (double& component : tensor) component *= 0.5 * units::mv2_to_ev;
  return tensor;
}

std::array<double, 4> momentum_and_mass(const Exec& exec, const Atoms& atoms) {
  if (atoms.resident) return atoms.resident->momentum_and_mass();
  const auto v = atoms.velocity;
  const auto type = atoms.type;
  const double* const mass = atoms.masses.data();
  const auto add = [=](int i, std::array<double, 4>& sum) {
    const double m = mass[type(i)];
    for (int k = 0; k < 3; ++k) sum[k] += m * v(i, k);
    sum[3] += m;
  };
  return blocked_sum<4>(exec, "particles::momentum", atoms.n_local, add);
}

std::array<double, 3> force_velocity_products(const Exec& exec, const Atoms& atoms) {
  if (atoms.resident) return atoms.resident->force_velocity_products();
  const auto v = atoms.velocity;
  const auto f = atoms.force;
  const auto add = [=](int i, std::array<double, 3>& sum) {
    for (int k = 0; k < 3; ++k) {
      sum[0] += f(i, k) * v(i, k);
      sum[1] += v(i, k) * v(i, k);
      sum[2] += f(i, k) * f(i, k);
    }
  };
  return blocked_sum<3>(exec, "particles::force_velocity_products", atoms.n_local, add);
}

namespace {
double largest_squared(const Exec& exec, const char* label, int n, const Vectors& rows) {
  double square = 0;
  Kokkos::parallel_reduce(
      label, Kokkos::RangePolicy<Exec>(exec, 0, n),
      [=](int i, double& most) {
        most = std::max(most, rows(i, 0) * rows(i, 0) + rows(i, 1) * rows(i, 1) + rows(i, 2) * rows(i, 2));
      },
      Kokkos::Max<double>(square));
  return std::max(0.0, square);  // the maximum of no rows is -infinity
}
}  // namespace

double largest_force_squared(const Exec& exec, const Atoms& atoms) {
  if (atoms.resident) return atoms.resident->largest_force_squared();
  return largest_squared(exec, "particles::largest_force", atoms.n_local, atoms.force);
}

double largest_velocity_squared(const Exec& exec, const Atoms& atoms) {
  if (atoms.resident) return atoms.resident->largest_velocity_squared();
  return largest_squared(exec, "particles::largest_velocity", atoms.n_local, atoms.velocity);
}

}  // namespace quintet
