#include "surrogates/training/resident_arrays.hpp"

#include <fmt/format.h>

namespace quintet {

std::string kept_on_host(int n_ranks, const ParallelOptions& parallel, const OffloadOptions& offload,
                         const PrecisionOptions& precision, bool has_parts) {
  if (n_ranks > 1 && parallel.zero_stage() > 1)
    return fmt::format("parallel.stage {}", parallel.zero_stage());
  if (offload.optimiser != OffloadKind::none) return "offload.optimiser";
  if (offload.delayed_update) return "offload.delayed_update";
  if (precision.splits()) return "precision.parameters split_bf16";
  if (has_parts) return "tile";
  return "";
}

ResidentNeeds resident_needs(std::size_t n_parameters, std::size_t width, int n_states, int n_ranks,
                             bool divides_states, bool sends_directly) {
  const auto ranks = static_cast<std::size_t>(n_ranks);
  const std::size_t slice = (n_parameters + ranks - 1) / ranks, all = ranks * slice * width,
                    others = all - slice * width;
  ResidentNeeds needs;
  needs.slice = static_cast<std::int64_t>(slice);
  needs.device.values = needs.device.gradients = all;
  needs.device.optimiser = static_cast<std::size_t>(n_states) * (divides_states ? slice * width : all);
  if (n_ranks == 1) return needs;
  if (sends_directly)
    needs.device.workspace = others;
  else
    needs.staged = all + others;
  return needs;
}

}  // namespace quintet
