#include "surrogates/flow/training/step_needs.hpp"

#include <algorithm>

#include "surrogates/bridge/errors.hpp"
#include "surrogates/flow/encoder/unet_blocks.hpp"
#include "surrogates/flow/model/flow_network.hpp"
#include "surrogates/training/flat_layout.hpp"

namespace quintet::flow {

NetworkNeeds network_needs(const FlowModelHeader& header, const ParallelOptions& parallel,
                           const LayerTiles& tiles) {
  return translate_torch_errors("Making the networks", [&] {
    const FlowNetwork<float> network(header, tiles);
    NetworkNeeds needs{network.describe(header.block), {}, {}};
    const FlatLayout layout(network.tensors(), 1, parallel.bucket_numbers(sizeof(float)));
    needs.units = layout.unit_sizes();
    const auto largest = std::max_element(layout.units().begin(), layout.units().end(),
                                          [](const auto& a, const auto& b) { return a.size < b.size; });
    needs.largest_unit = layout.blocks()[largest->first_block].name;
    return needs;
  });
}

StepNeeds step_needs(const FlowModelHeader& header, int batch, int n_ranks, bool has_spectra) {
  const FlowEquations equations = header.flow_equations();
  const int n_fields = header.fields.size(), n_walls = equations.walls().size();
  StepNeeds needs{.crops = (batch + n_ranks - 1) / n_ranks, .sums = 2};
  double numbers = (1 + n_walls) + (n_fields + equations.interior().n_equations() + n_walls);
  if (has_spectra) numbers += n_fields;
  if (n_ranks > 1)
    for (const auto& block :
         unet_blocks(unet_options(header.options, n_fields, header.block, header.refinement))) {
      if (block.kind != UnetBlockKind::residual) continue;
      for (const int features : {block.n_neck, block.n_neck, block.n_out}) {
        needs.sums += 2;
        numbers += (1 + 2 * features) + 2 * features;
      }
    }
  needs.bytes_summed = sizeof(double) * numbers;
  return needs;
}

}  // namespace quintet::flow
