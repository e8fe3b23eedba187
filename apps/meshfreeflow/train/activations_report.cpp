#include "apps/meshfreeflow/train/activations_report.hpp"

#include <algorithm>

#include "io/log/log.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet::meshfreeflow {

namespace {

std::string summary_of(const flow::ActivationsInForce& found) {
  const auto& policies = found.plan.policies;
  const auto n = [&](planning::BlockPolicy policy) {
    return std::count(policies.begin(), policies.end(), policy);
  };
  return fmt::format("segments: {} kept, {} recomputed; {} at most and {:.3g} s a step expected{}",
                     n(planning::BlockPolicy::keep), n(planning::BlockPolicy::recompute),
                     text_of_bytes(static_cast<std::size_t>(found.plan.cost.peak)), found.plan.cost.seconds,
                     found.plan.is_best ? "" : " (the search for a faster plan ended early)");
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
  context.summarise("activation_segments_recomputed",
                    static_cast<std::int64_t>(
                        std::count(policies.begin(), policies.end(), planning::BlockPolicy::recompute)),
                    fmt::format("of {}", policies.size()));
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
