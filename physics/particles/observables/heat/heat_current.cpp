#include "physics/particles/observables/heat/heat_current.hpp"

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/device/at_home.hpp"
#include "physics/particles/dynamics/dynamics_kernels.hpp"

namespace quintet {

void AtomShares::compute(const Exec& exec, const Atoms& atoms, const Domain& domain, ForceField& field) {
  const std::size_t all = atoms.n_all();
  if (virial_.extent(0) < all || force_.extent(0) == 0) {
    const std::size_t room = all + all / 8 + 1;
    energy_ = make_view<Array<double>>("heat::energy", room);
    virial_ = Tensors("heat::virial", room);
    force_ = make_view<Vectors>("heat::force", room);
  }
  Atoms beside = at_home(atoms);
  beside.force = force_;
  (void)field.compute(exec, beside, domain.list(), {energy_, virial_});
  exec.fence();
  domain.return_rows(exec, atoms, virial_.data(), 9);
  exec.fence();
}

HeatFlow heat_flow(const Exec& exec, const Atoms& atoms, const AtomShares& shares,
                   std::span<const double> zero, const Vec3& frame) {
  const auto velocity = atoms.velocity;
  const auto type = atoms.type;
  const double *const mass = atoms.masses.data(), *const none = zero.data();
  const Array<double> energy = shares.energy();
  const Tensors virial = shares.virial();
  const auto sums = blocked_sum<4>(exec, "heat::flow", atoms.n_local, [=](int i, std::array<double, 4>& sum) {
    const double v[3] = {velocity(i, 0) - frame[0], velocity(i, 1) - frame[1], velocity(i, 2) - frame[2]};
    const double kinetic = 0.5 * mass[type(i)] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * units::mv2_to_ev;
    const double own = kinetic + energy(i) - none[type(i)];
    for (int l = 0; l < 3; ++l)
      sum[l] += own * v[l] + virial(i, l) * v[0] + virial(i, 3 + l) * v[1] + virial(i, 6 + l) * v[2];
    sum[3] += kinetic;
  });
  return {{sums[0], sums[1], sums[2]}, sums[3]};
}

Vec3 barycentre_velocity(const Exec& exec, const Atoms& atoms, const Domain& domain) {
  auto sums = momentum_and_mass(exec, atoms);
  domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  return {sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]};
}

std::vector<double> mean_energies(const Atoms& atoms, const AtomShares& shares, const Domain& domain) {
  const std::size_t n_types = atoms.type_names.size();
  std::vector<double> sums(2 * n_types, 0.0);
  for (int i = 0; i < atoms.n_local; ++i) {
    sums[atoms.type(i)] += shares.energy()(i);
    ++sums[n_types + atoms.type(i)];
  }
  domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  std::vector<double> means(n_types, 0.0);
  for (std::size_t t = 0; t < n_types; ++t)
    if (sums[n_types + t] > 0) means[t] = sums[t] / sums[n_types + t];
  return means;
}

}  // namespace quintet
