#include "physics/kinetics/advection/vlasov_edges_impl.hpp"

namespace quintet::kinetics {

template std::unique_ptr<VlasovOperator> make_vlasov_operator<2, 3>(
    const PhaseBasis&, const PhaseBlock&, Flux, const std::array<std::array<bool, 2>, 6>&);

}  // namespace quintet::kinetics
