#include "physics/kinetics/advection/vlasov_operator.hpp"

#include "io/log/error.hpp"
#include "physics/kinetics/advection/wall_emission.hpp"

namespace quintet::kinetics {

/// Instantiated in vlasov_operator_1x1v.cpp and its like, a file each so that they compile side by side.
template <int CDim, int VDim>
std::unique_ptr<VlasovOperator> make_vlasov_operator(const PhaseBasis& basis, const PhaseBlock& block,
                                                     Flux flux,
                                                     const std::array<std::array<bool, 2>, 6>& is_open);

VlasovOperator::Halo VlasovOperator::halo(int direction, int) const {
  const auto n = trace_size(direction);
  return {make_view<Array<double>>("own_halo", n), Array<double>("outside_halo", n)};
}

void VlasovOperator::emit(const Exec& exec, const WallEmission& wall, const std::vector<double>& flux,
                          const Array<double>& out) const {
  exec.fence();
  wall.emit(flux, out);
}

std::unique_ptr<VlasovOperator> VlasovOperator::make(const PhaseBasis& basis, const PhaseBlock& block,
                                                     Flux flux,
                                                     const std::array<std::array<bool, 2>, 6>& is_open) {
  const auto make = [&] {
    switch (10 * basis.cdim() + basis.vdim()) {
      case 11:
        return make_vlasov_operator<1, 1>(basis, block, flux, is_open);
      case 12:
        return make_vlasov_operator<1, 2>(basis, block, flux, is_open);
      case 13:
        return make_vlasov_operator<1, 3>(basis, block, flux, is_open);
      case 22:
        return make_vlasov_operator<2, 2>(basis, block, flux, is_open);
      case 23:
        return make_vlasov_operator<2, 3>(basis, block, flux, is_open);
      case 33:
        return make_vlasov_operator<3, 3>(basis, block, flux, is_open);
      default:
        return std::unique_ptr<VlasovOperator>();
    }
  };
  if (flux != Flux::upwind && flux != Flux::lax_friedrichs && flux != Flux::central)
    throw InternalError("a numerical flux without a formula");
  auto made = make();
  QUINTET_CHECK(made != nullptr, "no kernels for {} of order {} in {}x{}v; there are {}",
                name(basis.family()), basis.order(), basis.cdim(), basis.vdim(), PhaseBasis::supported());
  return made;
}

}  // namespace quintet::kinetics
