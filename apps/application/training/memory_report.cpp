#include "apps/application/training/memory_report.hpp"

#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/schema.hpp"
#include "io/log/log.hpp"

namespace quintet {

void announce_stage(Context& context, const ParallelInForce& parallel) {
  if (parallel.reason.empty()) return;
  context.describe_run("parallel", parallel.reason);
  log::info("parallel: auto takes {}", parallel.reason);
}

void summarise_stage(Context& context, const ParallelInForce& parallel, const FlatAccount& account) {
  const HeldBytes& held = account.held;
  context.summarise("parallel_stage", parallel.options.zero_stage(), "0: data");
  if (!parallel.reason.empty()) context.summarise("parallel_choice", parallel.reason, "of auto");
  context.summarise("parameter_value_bytes", held.values, "of this rank");
  context.summarise("gradient_array_bytes", held.gradients + held.live,
                    "of this rank, with the block at hand");
  context.summarise("optimiser_state_bytes", held.optimiser, "of this rank");
  context.summarise("slice_workspace_bytes", held.workspace + held.expanded,
                    "of this rank, for slices of others and weights expanded from bf16");
  context.summarise("training_bytes_sent", account.bytes_sent,
                    "gradients and weights, to other holders, a rank");
}

void report_memory(Context& context, const FlatAccount& account) {
  const Ledger& ledger = account.ledger;
  const OffloadTraffic& moved = account.offload;
  std::vector<std::vector<std::string>> rows;
  for (const auto& tier : tiers()) {
    if (ledger.peak(tier.value) == 0) continue;
    for (const auto& category : byte_categories()) {
      const std::size_t peak = ledger.peak(tier.value, category.value);
      if (peak == 0) continue;
      context.summarise(fmt::format("{}_bytes_{}", tier.name, category.name), peak, "at most, of this rank");
      rows.push_back({tier.name, category.name, text_of_bytes(peak)});
    }
    context.summarise(fmt::format("{}_bytes", tier.name), ledger.peak(tier.value),
                      "all categories at one time, at most");
    rows.push_back({tier.name, "at one time", text_of_bytes(ledger.peak(tier.value))});
  }
  context.report().section("Memory of training");
  context.report().table({"tier", "what", "at most"}, rows);
  if (moved.reads.bytes + moved.writes.bytes == 0) return;
  context.summarise("offload_bytes_read", moved.reads.bytes);
  context.summarise("offload_bytes_written", moved.writes.bytes);
  context.summarise("offload_seconds", moved.reads.seconds + moved.writes.seconds,
                    "that the disk was read and written");
  context.summarise("offload_seconds_waited", moved.waited, "of them, not hidden behind work");
  context.summarise("offload_direct", std::int64_t{moved.is_direct ? 1 : 0},
                    "past the page cache (O_DIRECT)");
  context.report().paragraph(fmt::format(
      "States of the optimiser in a file: {} read and {} written in {:.3g} s, of which updates waited {:.3g} "
      "s.{}",
      text_of_bytes(moved.reads.bytes), text_of_bytes(moved.writes.bytes),
      moved.reads.seconds + moved.writes.seconds, moved.waited,
      moved.is_direct
          ? ""
          : " The file system allows no direct I/O: each write went through the page cache to the disk."));
}

}  // namespace quintet
