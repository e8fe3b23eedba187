#include "surrogates/flow/decoder/jet_activation_kernels.hpp"

namespace quintet::flow {

template void activate_forward(const DecoderLayer<double>&, const JetPlan&, const RowBlock<double>&,
                               const LayerArrays<double>&, bool);
template void activate_backward(const DecoderLayer<double>&, const JetPlan&, const RowBlock<double>&,
                                const LayerArrays<double>&, double*, double*, double*);

}  // namespace quintet::flow
