#include "surrogates/flow/decoder/jet_activation_kernels.hpp"

namespace quintet::flow {

template void activate_forward(const DecoderLayer<float>&, const JetPlan&, const RowBlock<float>&,
                               const LayerArrays<float>&, bool);
template void activate_backward(const DecoderLayer<float>&, const JetPlan&, const RowBlock<float>&,
                                const LayerArrays<float>&, float*, float*, float*);

}  // namespace quintet::flow
