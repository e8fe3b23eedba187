#include "physics/tasks/plan.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <set>

#include "io/config/tree.hpp"

namespace quintet::tasks {

int Parts::first(int rank) const { return std::int64_t{rank} * width / n_ranks; }
int Parts::owner(int point) const {
  // The last rank whose first point is not behind this one.
  return ((std::int64_t{point} + 1) * n_ranks - 1) / width;
}

namespace {

/// An item that travels between two ranks, in an order on which both agree: by the point that needs it, then
/// by the point it comes from. An item sent by rank names no receiver.
struct Item {
  int to, from;
  auto operator<=>(const Item&) const = default;
};
using Items = std::map<int, std::set<Item>>;  ///< by partner

Item item(Messages messages, int from, int to) { return {messages == Messages::by_edge ? to : 0, from}; }

/// Share slots out over the messages; calls take(item, slot) for each.
template <class Take>
std::vector<StepPlan::Message> messages_of(const Items& items, Messages messages, const Take& take) {
  std::vector<StepPlan::Message> result;
  int slot = 0;
  for (const auto& [partner, list] : items) {
    if (messages == Messages::by_rank) result.push_back({partner, slot, static_cast<int>(list.size())});
    for (const auto& entry : list) {
      if (messages == Messages::by_edge) result.push_back({partner, slot, 1});
      take(partner, entry, slot++);
    }
  }
  return result;
}

void plan_sends(StepPlan& plan, const Graph& graph, int step, const Parts& parts, int rank,
                Messages messages) {
  const Window before = graph.window(step - 1), now = graph.window(step);
  Items items;
  for (int p = parts.first(rank); p < parts.first(rank + 1); ++p) {
    if (!before.has(p)) continue;
    for (const int to : graph.needed_by(graph.set_of(step), p))
      if (now.has(to) && parts.owner(to) != rank) items[parts.owner(to)].insert(item(messages, p, to));
  }
  plan.sends = messages_of(items, messages, [&](int, const Item& entry, int) {
    plan.outbox.push_back(entry.from - parts.first(rank));
  });
}

}  // namespace

StepPlan plan_step(const Graph& graph, int step, const Parts& parts, int rank, Messages messages) {
  StepPlan plan;
  const int first = parts.first(rank);
  std::vector<std::vector<int>> needs(parts.count(rank));
  std::vector<int> boundary;
  Items items;
  for (int p = 0; p < parts.count(rank); ++p) {
    if (!graph.window(step).has(first + p)) continue;
    auto& needed = needs[p] = graph.inputs(step, first + p);
    bool is_interior = true;
    for (const int from : needed) {
      if (parts.owner(from) == rank) continue;
      is_interior = false;
      items[parts.owner(from)].insert(item(messages, from, first + p));
    }
    (is_interior ? plan.tasks : boundary).push_back(p);
  }
  plan.n_interior = plan.tasks.size();
  plan.tasks.insert(plan.tasks.end(), boundary.begin(), boundary.end());

  std::map<int, std::map<Item, int>> slots;
  plan.receives = messages_of(items, messages, [&](int partner, const Item& entry, int slot) {
    slots[partner][entry] = slot;
    plan.n_inbox = slot + 1;
  });
  plan.first_input.push_back(0);
  for (const int p : plan.tasks) {
    for (const int from : needs[p]) {
      const int owner = parts.owner(from);
      plan.inputs.push_back(owner == rank ? from - first
                                          : -1 - slots.at(owner).at(item(messages, from, first + p)));
    }
    plan.first_input.push_back(plan.inputs.size());
  }
  plan_sends(plan, graph, step, parts, rank, messages);
  return plan;
}

}  // namespace quintet::tasks
