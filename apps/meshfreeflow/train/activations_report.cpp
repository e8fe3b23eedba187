#include "apps/meshfreeflow/train/activations_report.hpp"

#include <algorithm>

#include "io/log/log.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet::meshfreeflow {

namespace {

std::int64_t number_of(const flow::ActivationsInForce& found, planning::BlockPolicy policy) {
  const auto& policies = found.plan.policies;
  return std::count(policies.begin(), policies.end(), policy);
}

std::string summary_of(const flow::ActivationsInForce& found) {
  using planning::BlockPolicy;
  const auto n_swapped = number_of(found, BlockPolicy::swap);
  return fmt::format(
      "segments: {} kept, {}{} recomputed; {} at most and {:.3g} s a step expected{}{}",
      number_of(found, BlockPolicy::keep), n_swapped > 0 ? fmt::format("{} swapped, ", n_swapped) : "",
      number_of(found, BlockPolicy::recompute), text_of_bytes(static_cast<std::size_t>(found.plan.cost.peak)),
      found.plan.cost.seconds, found.plan.is_best ? "" : " (the search for a faster plan ended early)",
      n_swapped > 0 ? fmt::format("; swapping is emulated in memory, with a link of {} GB/s", found.link)
                    : "");
}

}  // namespace

void announce_activations(Context& context, const flow::FlowTrainer<float>& trainer) {
  const auto& found = trainer.activations();
  if (!found) return;
  context.describe_run("activations", summary_of(*found));
  log::info("memory: {}\n{}", summary_of(*found), planning::table_of(found->chain, found->plan.policies));
}

void report_activations(Context& context, const flow::FlowTrainer<float>& trainer) {
  const auto& found = trainer.activations();
  if (!found) return;
  const auto& policies = found->plan.policies;
  const auto of = fmt::format("of {}", policies.size());
  context.summarise("activation_segments_recomputed", number_of(*found, planning::BlockPolicy::recompute),
                    of);
  if (const auto n = number_of(*found, planning::BlockPolicy::swap); n > 0) {
    context.summarise("activation_segments_swapped", n, of + "; emulated: to other memory of this machine");
    context.summarise("activation_bytes_swapped", found->bytes_swapped, "out and in, by all steps");
    context.summarise("activation_swap_seconds", found->swap_seconds, "that the emulated link was at it");
    context.summarise("activation_swap_seconds_waited", found->swap_seconds_waited,
                      "of them, not hidden behind work");
  }
  context.summarise("activation_bytes_predicted", found->plan.cost.peak,
                    "at most, of the rank that has most; beside host_bytes_activations");
  context.summarise("pass_seconds_predicted", found->plan.cost.seconds, "forward and backward of a step");
  if (found->n_steps > 0)
    context.summarise("pass_seconds_least", found->seconds, "forward and backward, of all steps");
  context.report().section("Activations");
  context.report().paragraph(summary_of(*found) + ".");
  context.report().preformatted(planning::table_of(found->chain, policies));
}

}  // namespace quintet::meshfreeflow
