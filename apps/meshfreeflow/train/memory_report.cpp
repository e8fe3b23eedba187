#include "apps/meshfreeflow/train/memory_report.hpp"

#include <string>
#include <vector>

#include "io/tiers/ledger.hpp"

namespace quintet::meshfreeflow {

void report_memory(Context& context, const flow::FlowTrainer<float>& trainer) {
  const Ledger& ledger = trainer.ledger();
  std::vector<std::vector<std::string>> rows;
  for (const auto& tier : tiers()) {
    if (ledger.peak(tier.value) == 0) continue;
    for (const auto& category : byte_categories()) {
      const std::size_t peak = ledger.peak(tier.value, category.value);
      if (peak == 0) continue;
      context.summarise(fmt::format("{}_bytes_{}", tier.name, category.name), static_cast<std::int64_t>(peak),
                        "at most, of this rank");
      rows.push_back({tier.name, category.name, text_of_bytes(peak)});
    }
    context.summarise(fmt::format("{}_bytes", tier.name), static_cast<std::int64_t>(ledger.peak(tier.value)),
                      "all categories at one time, at most");
    rows.push_back({tier.name, "at one time", text_of_bytes(ledger.peak(tier.value))});
  }
  context.report().section("Memory of training");
  context.report().table({"tier", "what", "at most"}, rows);
  const OffloadTraffic moved = trainer.offload_traffic();
  if (moved.reads.bytes + moved.writes.bytes == 0) return;
  context.summarise("offload_bytes_read", static_cast<std::int64_t>(moved.reads.bytes));
  context.summarise("offload_bytes_written", static_cast<std::int64_t>(moved.writes.bytes));
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

}  // namespace quintet::meshfreeflow
