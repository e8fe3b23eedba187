#include "surrogates/flow/model/coded_decoder.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "surrogates/flow/model/flow_inference.hpp"

namespace quintet::flow {

CodedDecoder code_decoder(const FlowModel& model, const CodeOptions& options) {
  CodedDecoder coded{model, 0, 0};
  const auto layers = continuous_decoder(model).describe();
  auto at = coded.model.parameters.begin() + flow_network_size(model.header).encoder;
  for (const auto& layer : layers.blocks) {  // weights [n_in, n_out], bias [n_out]
    const auto size = std::int64_t{layer.n_in} * layer.n_out;
    const std::vector<double> weights(at, at + size);
    const auto codes = encode(weights, layer.n_out, layer.n_in, options, true);
    std::ranges::transform(decode(codes, true), at, [](double w) { return static_cast<float>(w); });
    at += size + layer.n_out;
    coded.bytes += codes.bytes() + 4 * std::int64_t{layer.n_out};
    coded.bytes_float += 4 * std::int64_t{size + layer.n_out};
  }
  return coded;
}

}  // namespace quintet::flow
