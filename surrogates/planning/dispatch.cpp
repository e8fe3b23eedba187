#include "surrogates/planning/dispatch.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

#include "io/log/error.hpp"

namespace quintet::planning {
namespace {

std::vector<std::vector<std::size_t>> followers(const std::vector<Task>& tasks) {
  std::vector<std::vector<std::size_t>> next(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    for (const std::size_t before : tasks[i].after) next[before].push_back(i);
  return next;
}

/// (s) from the beginning of each task to the end of all that must come after it.
std::vector<double> longest_ways(const std::vector<Task>& tasks,
                                 const std::vector<std::vector<std::size_t>>& next) {
  std::vector<double> ways(tasks.size(), 0);
  for (std::size_t i = tasks.size(); i-- > 0;) {
    for (const std::size_t follower : next[i]) ways[i] = std::max(ways[i], ways[follower]);
    ways[i] += tasks[i].seconds;
  }
  return ways;
}

/// Tasks by falling way, in their own order where that is the same.
std::vector<std::size_t> by_way(const std::vector<double>& ways) {
  std::vector<std::size_t> order(ways.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return ways[a] > ways[b]; });
  return order;
}

std::vector<std::size_t> ranks_of(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> ranks(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

}  // namespace

std::vector<std::size_t> johnson_order(std::span<const double> first, std::span<const double> second) {
  std::vector<std::size_t> order(first.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) {
    const bool early_i = first[i] < second[i], early_j = first[j] < second[j];
    if (early_i != early_j) return early_i;
    return early_i ? first[i] < first[j] : second[i] > second[j];
  });
  return order;
}

double least_makespan(const std::vector<Task>& tasks, const Pools& pools) {
  const auto next = followers(tasks);
  const auto ways = longest_ways(tasks, next);
  constexpr double unknown = std::numeric_limits<double>::infinity();
  std::vector<double> before(tasks.size(), 0), work(pools.slots.size(), 0);
  std::vector<double> least_before(pools.slots.size(), unknown), least_after(pools.slots.size(), unknown);
  double longest = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto& task = tasks[i];
    for (const std::size_t b : task.after) before[i] = std::max(before[i], before[b] + tasks[b].seconds);
    longest = std::max(longest, ways[i]);
    work[task.pool] += task.seconds * task.slots;
    least_before[task.pool] = std::min(least_before[task.pool], before[i]);
    least_after[task.pool] = std::min(least_after[task.pool], ways[i] - task.seconds);
  }
  for (std::size_t p = 0; p < pools.slots.size(); ++p)
    if (work[p] > 0) longest = std::max(longest, least_before[p] + work[p] / pools.slots[p] + least_after[p]);
  return longest;
}

std::vector<std::size_t> longest_way_ranks(const std::vector<Task>& tasks) {
  return ranks_of(by_way(longest_ways(tasks, followers(tasks))));
}

std::vector<std::size_t> johnson_ranks(const std::vector<Task>& tasks, const Pools& pools) {
  const auto next = followers(tasks);
  const auto ways = longest_ways(tasks, next);
  auto order = by_way(ways);
  // Items of a pipeline: first and second pool, and what comes after the second, which must be the same.
  std::map<std::tuple<std::size_t, std::size_t, double>, std::vector<std::size_t>> pipelines;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (next[i].size() != 1) continue;
    const std::size_t j = next[i].front();
    if (tasks[j].after.size() == 1 && tasks[j].pool != tasks[i].pool)
      pipelines[{tasks[i].pool, tasks[j].pool, ways[j] - tasks[j].seconds}].push_back(i);
  }
  const auto ranks = ranks_of(order);
  const auto share = [&](const Task& task) { return task.seconds * task.slots / pools.slots[task.pool]; };
  for (auto& [pipeline, items] : pipelines) {
    std::vector<double> first, second;
    std::vector<std::size_t> places;
    for (const std::size_t i : items) {
      first.push_back(share(tasks[i]));
      second.push_back(share(tasks[next[i].front()]));
      places.push_back(ranks[i]);
    }
    std::sort(places.begin(), places.end());
    const auto johnson = johnson_order(first, second);
    for (std::size_t n = 0; n < items.size(); ++n) order[places[n]] = items[johnson[n]];
  }
  return ranks_of(order);
}

std::vector<std::size_t> best_ranks(const std::vector<Task>& tasks, const Pools& pools) {
  auto ways = longest_way_ranks(tasks), johnson = johnson_ranks(tasks, pools);
  if (ways == johnson) return ways;
  return simulated_makespan(tasks, pools, johnson) < simulated_makespan(tasks, pools, ways) ? johnson : ways;
}

Dispatcher::Dispatcher(std::vector<Task> tasks, Pools pools, const std::vector<std::size_t>& ranks)
    : tasks_(std::move(tasks)),
      pools_(std::move(pools)),
      ranks_(ranks),
      open_(tasks_.size()),
      next_(followers(tasks_)),
      held_(tasks_.size()),
      ready_(pools_.slots.size()),
      n_free_(pools_.slots),
      free_memory_(pools_.memory) {
  for (const std::int64_t n : pools_.slots) is_free_.emplace_back(static_cast<std::size_t>(n), true);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const auto& task = tasks_[i];
    QUINTET_ASSERT(task.slots <= pools_.slots[task.pool] && task.memory <= pools_.memory,
                   "task {} needs {} slots and {} B, more than there are", i, task.slots, task.memory);
    open_[i] = task.after.size();
    if (open_[i] == 0) retry(i);
  }
}

std::optional<std::size_t> Dispatcher::next() {
  std::optional<std::size_t> best;
  for (std::size_t p = 0; p < ready_.size(); ++p) {
    if (ready_[p].empty()) continue;
    const auto [rank, i] = *ready_[p].begin();
    if (tasks_[i].slots > n_free_[p] || tasks_[i].memory > free_memory_) continue;
    if (!best || rank < ranks_[*best]) best = i;
  }
  if (!best) return best;
  const auto& task = tasks_[*best];
  ready_[task.pool].erase({ranks_[*best], *best});
  auto& is_free = is_free_[task.pool];
  for (std::size_t s = 0; s < is_free.size() && std::ssize(held_[*best]) < task.slots; ++s)
    if (is_free[s]) {
      is_free[s] = false;
      held_[*best].push_back(s);
    }
  n_free_[task.pool] -= task.slots;
  free_memory_ -= task.memory;
  return best;
}

void Dispatcher::release(std::size_t task) {
  if (held_[task].empty()) return;
  const std::size_t pool = tasks_[task].pool;
  for (const std::size_t s : held_[task]) is_free_[pool][s] = true;
  n_free_[pool] += tasks_[task].slots;
  free_memory_ += tasks_[task].memory;
  held_[task].clear();
}

void Dispatcher::retry(std::size_t task) { ready_[tasks_[task].pool].insert({ranks_[task], task}); }

void Dispatcher::done(std::size_t task) {
  withdraw(task);
  for (const std::size_t follower : next_[task])
    if (--open_[follower] == 0) retry(follower);
}

void Dispatcher::withdraw(std::size_t task) {
  release(task);
  ready_[tasks_[task].pool].erase({ranks_[task], task});
}

void Dispatcher::ask(std::size_t task, std::int64_t slots, double memory) {
  QUINTET_ASSERT(held_[task].empty(), "task {} has its slots", task);
  tasks_[task].slots = std::min(slots, pools_.slots[tasks_[task].pool]);
  tasks_[task].memory = std::min(memory, pools_.memory);
}

double simulated_makespan(const std::vector<Task>& tasks, const Pools& pools,
                          const std::vector<std::size_t>& ranks) {
  Dispatcher dispatcher(tasks, pools, ranks);
  using End = std::pair<double, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  double now = 0;
  for (;;) {
    while (const auto task = dispatcher.next()) running.emplace(now + tasks[*task].seconds, *task);
    if (running.empty()) return now;
    now = running.top().first;
    while (!running.empty() && running.top().first <= now) {
      dispatcher.done(running.top().second);
      running.pop();
    }
  }
}

}  // namespace quintet::planning
