#include "apps/campaign/growth.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/machine/detect.hpp"

namespace quintet::campaign {
namespace {

constexpr double factor = 2, giga = 1e9;

}  // namespace

Growth::Growth(const Graph& graph, Store& store, const std::vector<planning::Task>& tasks,
               planning::Pools pools)
    : graph_(graph), store_(store), pools_(std::move(pools)), alone_(tasks.size(), false) {
  for (const auto& task : tasks) memory_.push_back(task.memory);
}

std::optional<Growth::Next> Growth::after_kill(std::size_t i, bool grows, std::string& why) {
  double& memory = memory_[i];
  if (!kills_.has_one_more(memory > 0)) return std::nullopt;
  const Item& item = graph_.items()[i];
  const auto& stage = graph_.stage_of(item);
  if (!grows) {
    const double had = memory > 0 ? memory : detected_machine().node.memory.value_or(giga);
    store_.ask_more(item, factor * had);
    why += fmt::format("; it was killed for memory: queued again it asks for {:.3g} GB", factor * had / giga);
    return std::nullopt;
  }
  const std::int64_t all_slots = graph_.options().slots.at(stage.slot);
  if (memory > 0 ? memory >= pools_.memory : alone_[i] || stage.slots() >= all_slots) {
    why += "; it was killed for memory, of which it had all there is here";
    return std::nullopt;
  }
  if (memory <= 0) {
    alone_[i] = true;
    return Next{all_slots, 0, "alone"};
  }
  memory = std::min(factor * memory, pools_.memory);
  store_.ask_more(item, memory);
  return Next{stage.slots(), memory, fmt::format("with {:.3g} GB", memory / giga)};
}

}  // namespace quintet::campaign
