#include "surrogates/flow/training/step_needs.hpp"

#include "surrogates/flow/encoder/unet_blocks.hpp"

namespace quintet::flow {

StepNeeds step_needs(const FlowModelHeader& header, int batch, int n_ranks) {
  const FlowEquations equations = header.flow_equations();
  const int n_fields = static_cast<int>(header.fields.size()),
            n_walls = static_cast<int>(equations.walls().size());
  StepNeeds needs{.crops = (batch + n_ranks - 1) / n_ranks, .sums = 2};
  double numbers = (1 + n_walls) + (n_fields + equations.interior().n_equations() + n_walls);
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
