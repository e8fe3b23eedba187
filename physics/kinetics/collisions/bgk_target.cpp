#include "physics/kinetics/collisions/bgk_target.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::kinetics {

BgkTarget::BgkTarget(const PhaseBasis& basis) : products_(basis.conf()) {
  const Basis& conf = basis.conf();
  const TensorNodes nodes(std::vector<int>(basis.cdim(), basis.order() + 1));
  tables_.vdim = basis.vdim();
  tables_.order = basis.order();
  tables_.n = conf.size();
  tables_.n_lin = 1 << basis.cdim();
  tables_.n_nodes = nodes.size();
  tables_.mixed = basis.n_full_groups() < basis.n_groups();
  tables_.constant = products_.constant();
  tables_.triple = products_.dense();
  for (int q = 0; q < nodes.size(); ++q) {
    tables_.weights.push_back(nodes.weight[q]);
    for (int a = 0; a < conf.size(); ++a) tables_.values.push_back(conf.value(a, nodes.at(q)));
  }
}

bool BgkTarget::collides(const ConfField& rate, int conf, int n_modes) {
  return BgkCell::collides(&rate(conf, 0, 0), n_modes);
}

bool BgkTarget::start(int conf, const CollisionMoments& moments, const MomentGain& gain,
                      const ConfField& rate, double relax_time, Cell& cell) const {
  return BgkCell(tables_).start(moments.density(conf), gain.size() > 0 ? &gain(conf, 0, 0) : nullptr,
                                &rate(conf, 0, 0), relax_time, cell);
}

bool BgkTarget::finish(const double* table_moments, const Cell& cell, Factors& factors) const {
  const int n_nodes = tables_.n_nodes;
  return BgkCell(tables_).finish(table_moments, cell, [&](int linear, int function, int mode, double value) {
    auto& to = function < n_nodes ? factors.amplitude[linear][function]
                                  : factors.correction[linear][function - n_nodes];
    to[mode] = value;
  });
}

double BgkTarget::bound(const ConfField& rate, int conf) const {
  return bound_of(products_.bounds(&rate(conf, 0, 0)).upper);
}

void BgkTarget::refuse(const std::string& species, const CollisionMoments& moments, const PhaseBlock& block,
                       int conf, const double* gain, const double* rate) const {
  const auto place = describe_place(block, conf);
  const BgkCell formulas(tables_);
  const auto own = formulas.least_state(moments.density(conf), nullptr, rate);
  if (!(own.density > 0))
    throw NumericalError(
        fmt::format("collisions of {}: density {:.6g} is not positive in {}", species, own.density, place));
  if (!(own.thermal_square > 0))
    throw NumericalError(fmt::format("collisions of {}: vth^2 = {:.6g} is not positive in {}", species,
                                     own.thermal_square, place));
  if (gain != nullptr) {
    const auto target = formulas.least_state(moments.density(conf), gain, rate);
    if (!(target.thermal_square > 0))
      throw NumericalError(fmt::format(
          "collisions of {}: the target Maxwellian of collisions with other species has vth^2 = {:.6g} in "
          "{}, "
          "where the species itself has {:.6g}: one Maxwellian cannot hold the exchange of Maxwell molecules "
          "at this rate; take collisions.exchange: mixture, whose target temperatures are always positive, "
          "or collisions.operator: lbo",
          species, target.thermal_square, place, own.thermal_square));
  }
  throw NumericalError(
      fmt::format("collisions of {}: the Maxwellian of density {:.6g} and vth^2 = {:.6g} (before other "
                  "species) lies outside "
                  "the velocity grid, or is too narrow for its cells, in {}",
                  species, own.density, own.thermal_square, place));
}

}  // namespace quintet::kinetics
