#include "apps/vlasov/state/fluid.hpp"

#include <utility>

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// Weak algebra on components of fields over the same cells.
struct Weak {
  const Exec& exec;
  const Basis& conf;
  ConfField product;  ///< [n_conf, 1, n_modes]

  /// to += factor a b.
  void add_product(double factor, const ConfField& a, int i, const ConfField& b, int j, const ConfField& to,
                   int k) const {
    weak_multiply(exec, conf, a, i, b, j, product, 0);
    exec.fence();
    add(factor, product, 0, to, k);
  }
  static void add(double factor, const ConfField& a, int i, const ConfField& to, int k) {
    for (std::size_t c = 0; c < to.extent(0); ++c)
      for (std::size_t m = 0; m < to.extent(2); ++m) to(c, k, m) += factor * a(c, i, m);
  }
};

/// Place of v_i v_j in Moment::m2_tensor: i <= j, row by row.
int tensor_component(int i, int j, int vdim) {
  if (i > j) std::swap(i, j);
  return i * vdim - i * (i - 1) / 2 + j - i;
}

}  // namespace

Fluid fluid_of(const Exec& exec, const Setup& setup, VlasovSystem& system, int s) {
  const int vdim = setup.basis.vdim();
  const Basis& conf = setup.basis.conf();
  const double mass = setup.species[s].mass;
  Fluid fluid{system.moment(exec, s, Moment::m0),
              system.moment(exec, s, Moment::m1),
              system.moment(exec, s, Moment::m2),
              system.moment(exec, s, Moment::m3),
              {},
              {},
              {},
              {},
              {}};
  const auto made = [&](const char* label, int n) {
    return ConfField(std::string(label), fluid.m0.extent(0), static_cast<std::size_t>(n), fluid.m0.extent(2));
  };
  const Weak weak{exec, conf, made("vlasov::product", 1)};
  fluid.velocity = made("vlasov::velocity", vdim);
  for (int i = 0; i < vdim; ++i) weak_divide(exec, conf, fluid.m1, i, fluid.m0, 0, fluid.velocity, i);
  exec.fence();

  // P_ij = m (M2_ij - u_i M1_j)
  const ConfField tensor = system.moment(exec, s, Moment::m2_tensor);
  fluid.pressure = made("vlasov::pressure", n_components(Moment::m2_tensor, vdim));
  fluid.temperatures = made("vlasov::temperatures", vdim);
  fluid.temperature = made("vlasov::temperature", 1);
  for (int i = 0; i < vdim; ++i) {
    for (int j = i; j < vdim; ++j) {
      const int k = tensor_component(i, j, vdim);
      Weak::add(mass, tensor, k, fluid.pressure, k);
      weak.add_product(-mass, fluid.velocity, i, fluid.m1, j, fluid.pressure, k);
    }
    weak_divide(exec, conf, fluid.pressure, tensor_component(i, i, vdim), fluid.m0, 0, fluid.temperatures, i);
    exec.fence();
    Weak::add(1.0 / vdim, fluid.temperatures, i, fluid.temperature, 0);
  }

  // 2 q_i/m = M3_i - u_i M2 - 2 u_j M2_ij + 2 u_i (u . M1)
  const ConfField flow = made("vlasov::flow", 1);
  for (int j = 0; j < vdim; ++j) weak.add_product(1, fluid.velocity, j, fluid.m1, j, flow, 0);
  fluid.heat_flux = made("vlasov::heat_flux", vdim);
  for (int i = 0; i < vdim; ++i) {
    Weak::add(0.5 * mass, fluid.m3, i, fluid.heat_flux, i);
    weak.add_product(-0.5 * mass, fluid.velocity, i, fluid.m2, 0, fluid.heat_flux, i);
    for (int j = 0; j < vdim; ++j)
      weak.add_product(-mass, fluid.velocity, j, tensor, tensor_component(i, j, vdim), fluid.heat_flux, i);
    weak.add_product(mass, fluid.velocity, i, flow, 0, fluid.heat_flux, i);
  }
  return fluid;
}

}  // namespace quintet::vlasov
