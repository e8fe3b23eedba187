#include "apps/application/training/stage_on_device.hpp"

#include <cmath>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet {

namespace {

std::string bytes_in_words(double bytes) {
  return std::isfinite(bytes) ? text_of_bytes(bytes) : "what there is";
}
/// "3.1 GB on the GPU and 40 MB on the host"
std::string in_words(const RankMemory& bytes, const DeviceSession& session) {
  return session.device() == Device::gpu
             ? fmt::format("{} on the GPU and {} on the host", bytes_in_words(bytes.device),
                           bytes_in_words(bytes.host))
             : bytes_in_words(bytes.host) + " on the host";
}

bool fits(const RankMemory& bytes, const RankMemory& may_take) {
  return bytes.host <= may_take.host && bytes.device <= may_take.device;
}

RankMemory greatest(const Comm& comm, const RankMemory& bytes) {
  return {comm.maximum(bytes.host), comm.maximum(bytes.device)};
}

std::span<const planning::StageRow> stages_of(const StageNeeds& of) {
  return planning::stages().first(static_cast<std::size_t>(of.division.most_stage) + 1);
}

/// "It fits with parallel.strategy: sharded, stage: 2, offload.optimiser: host. ", or "".
std::string what_fits(const Comm& comm, const StageNeeds& of, const RankMemory& may_take) {
  std::string found;
  const auto look = [&](const StageNeeds& needs, const std::string& besides) {
    for (const auto& row : stages_of(needs))
      if ((row.value == 0 || needs.there->arrays.n_ranks > 1) &&
          fits(greatest(comm, bytes_on_device(needs, row.value)), may_take) && found.empty())
        found = fmt::format("It fits with parallel.{}{}. ", row.yaml, besides);
  };
  look(of, "");
  for (const auto& [kind, name] :
       {std::pair(OffloadKind::host, "host"), std::pair(OffloadKind::file, "file")}) {
    auto elsewhere = of;
    elsewhere.there->arrays.offload = {};
    elsewhere.there->arrays.offload.optimiser = kind;
    look(elsewhere, fmt::format(", offload.optimiser: {}", name));
  }
  return found;
}

}  // namespace

RankMemory bytes_on_device(const StageNeeds& of, int stage) {
  PlannedArrays arrays = of.there->arrays;
  arrays.parallel = arrays.parallel.at_stage(stage);
  const auto needs = resident_needs(arrays, of.there->session.sends_directly());
  RankMemory bytes{of.besides + (needs.host.total() + needs.staging),
                   of.there->besides + needs.device.total()};
  if (of.there->session.device() != Device::gpu) bytes = {bytes.host + bytes.device, 0};
  return bytes;
}

ParallelInForce stage_on_device(const Comm& comm, const ParallelOptions& parallel, const StageNeeds& of,
                                const RankMemory& may_take) {
  const auto& session = of.there->session;
  const std::string limits = fmt::format("of the {} that a rank may take", in_words(may_take, session));
  const char* const more = session.device() == Device::gpu ? "GPUs" : "nodes";
  if (parallel.strategy != ParallelStrategy::automatic) {
    const int stage = of.there->arrays.n_ranks == 1 ? 0 : parallel.zero_stage();
    const auto needed = greatest(comm, bytes_on_device(of, stage));
    if (fits(needed, may_take)) return {parallel, ""};
    throw ResourceError(fmt::format(
        "Not enough memory to train: weights, gradients, states and what a step takes besides are "
        "{}, {}. {}More {} or {} would help, too",
        in_words(needed, session), limits, what_fits(comm, of, may_take), more, of.less));
  }
  std::string tried;
  auto alone = of.division;
  alone.shares_node = false;
  for (const auto& row : stages_of(of)) {
    const auto needed = greatest(comm, bytes_on_device(of, row.value));
    const auto beyond = planning::beyond_budget(alone, planning::rank_bytes(alone, row, comm.size(), 1));
    tried += fmt::format("{}{} takes {}{}", tried.empty() ? "" : ", ", row.name, in_words(needed, session),
                         beyond.empty() ? "" : " (" + beyond + ")");
    if (fits(needed, may_take) && beyond.empty())
      return {parallel.at_stage(row.value), fmt::format("{} ({} {})", row.yaml, tried, limits)};
  }
  throw ResourceError(fmt::format(
      "parallel.strategy: auto finds no stage that fits: {}, {}. {}Use more {}, {} or a smaller model", tried,
      limits, what_fits(comm, of, may_take), more, of.less));
}

}  // namespace quintet
