#include "apps/meshfreeflow/train/activations_report.hpp"

#include <algorithm>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/log.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet::meshfreeflow {

namespace {

std::int64_t number_of(const flow::ActivationsInForce& found, planning::BlockPolicy policy) {
  const auto& policies = found.plan.policies;
  return std::count(policies.begin(), policies.end(), policy);
}

std::string swapping_of(const flow::ActivationsInForce& found) {
  const auto rate = [](double seconds_a_byte) { return 1e-9 / seconds_a_byte; };
  if (!found.to_file)
    return fmt::format("; swapping is emulated in memory, with a link of {:.3g} GB/s", rate(found.link.out));
  return fmt::format("; swapped to a file, which was written at {:.3g} and read at {:.3g} GB/s",
                     rate(found.link.out), rate(found.link.in));
}

std::string summary_of(const flow::ActivationsInForce& found) {
  using planning::BlockPolicy;
  const auto n_swapped = number_of(found, BlockPolicy::swap);
  return fmt::format(
      "segments: {} kept, {}{} recomputed; {} at most and {:.3g} s a step expected{}{}",
      number_of(found, BlockPolicy::keep), n_swapped > 0 ? fmt::format("{} swapped, ", n_swapped) : "",
      number_of(found, BlockPolicy::recompute), text_of_bytes(found.plan.cost.peak), found.plan.cost.seconds,
      found.plan.is_best ? "" : " (the search for a faster plan ended early)",
      n_swapped > 0 ? swapping_of(found) : "");
}

}  // namespace

void announce_activations(Context& context, const Training& training) {
  const auto& found = training.trainer().activations();
  if (!found) return;
  context.describe_run("activations", summary_of(*found));
  log::info("memory: {}; {} of this process in all\n{}", summary_of(*found),
            text_of_bytes(*training.memory_predicted()),
            planning::table_of(found->chain, found->plan.policies));
}

// Predicted and measured stand side by side, so that a user sees whether the plan of memory held.
void report_activations(Context& context, const Training& training) {
  const auto& found = training.trainer().activations();
  if (!found) return;
  const auto& policies = found->plan.policies;
  const auto of = fmt::format("of {}", policies.size());
  context.summarise("activation_segments_recomputed", number_of(*found, planning::BlockPolicy::recompute),
                    of);
  if (const auto n = number_of(*found, planning::BlockPolicy::swap); n > 0) {
    context.summarise("activation_segments_swapped", n,
                      of + (found->to_file ? "" : "; emulated: to other memory of this machine"));
    context.summarise("activation_bytes_swapped", found->bytes_swapped, "out and in, by all steps");
    context.summarise(
        "activation_swap_seconds", found->swap_seconds,
        found->to_file ? "that the disk was written and read" : "that the emulated link was at it");
    context.summarise("activation_swap_seconds_waited", found->swap_seconds_waited,
                      "of them, not hidden behind work");
  }
  context.summarise("activation_bytes_predicted", found->plan.cost.peak,
                    "at most, of the rank that has most; beside host_bytes_activations");
  context.summarise("memory_peak_mb_predicted", 1e-6 * *training.memory_predicted(),
                    "with all that a process holds; beside memory_peak_mb_per_rank");
  context.summarise("pass_seconds_predicted", found->plan.cost.seconds, "forward and backward of a step");
  if (found->n_steps > 0)
    context.summarise("pass_seconds_least", found->seconds, "forward and backward, of all steps");
  context.report().section("Activations");
  context.report().paragraph(summary_of(*found) + ".");
  context.report().preformatted(planning::table_of(found->chain, policies));
}

}  // namespace quintet::meshfreeflow
