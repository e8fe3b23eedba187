#include "apps/campaign/resources.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/machine/detect.hpp"
#include "io/machine/launch_line.hpp"

namespace quintet::campaign {
namespace {

constexpr const char* visible_devices[] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};

/// Names of the GPUs that this process was given, if it was told.
std::optional<std::vector<std::string>> given_devices() {
  for (const char* variable : visible_devices) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) continue;
    std::vector<std::string> names;
    for (std::string rest = text; !rest.empty();) {
      const auto end = rest.find(',');
      names.push_back(rest.substr(0, end));
      rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
    return names;
  }
  return std::nullopt;
}

/// GPUs of this machine; nothing where it has some and does not say how many.
std::optional<std::int64_t> n_devices() {
  if (const auto given = given_devices()) return std::ssize(*given);
  if (const auto gpus = detected_machine().node.gpus) return gpus->count;
  if (std::filesystem::exists("/dev/kfd")) return std::nullopt;
  return 0;
}

std::size_t pool_of(const Graph& graph, const StageOptions& stage) {
  const auto& slots = graph.options().slots;
  return std::distance(slots.begin(), slots.find(stage.slot));
}

}  // namespace

void check_resources(const Graph& graph) {
  const auto& slots = graph.options().slots;
  for (const auto& stage : graph.stages()) {
    const auto slot = slots.find(stage.slot);
    if (slot == slots.end()) {
      std::vector<std::string> known;
      for (const auto& [name, n] : slots) known.push_back(name);
      throw InputError(fmt::format("stage {}: there is no slot of class '{}'; slots has {}", stage.name,
                                   stage.slot, fmt::join(known, ", ")));
    }
    QUINTET_CHECK(stage.slots() <= slot->second,
                  "stage {}: an item takes {} of class '{}', of which there are {}", stage.name,
                  counted(stage.slots(), "slot"), stage.slot, slot->second);
  }
  if (const auto gpus = slots.find("gpu"); gpus != slots.end()) {
    const auto n = n_devices();
    QUINTET_CHECK(!n || gpus->second <= *n,
                  "slots.gpu: {} were asked for, this machine has {} (CUDA_VISIBLE_DEVICES says which); "
                  "--machine NAME queues the items on another",
                  gpus->second, *n);
  }
  for (const auto& stage : graph.stages()) {
    if (!stage.memory) continue;
    const double all = pools_of(graph).memory;
    QUINTET_CHECK(*stage.memory <= all, "stage {}: an item needs {:.4g} GB, and all have {:.4g} GB (memory)",
                  stage.name, *stage.memory / 1e9, all / 1e9);
  }
}

planning::Pools pools_of(const Graph& graph) {
  planning::Pools pools;
  for (const auto& [name, n] : graph.options().slots) pools.slots.push_back(n);
  bool counts = graph.options().memory.has_value();
  for (const auto& stage : graph.stages()) counts = counts || stage.memory;
  if (!counts) return pools;
  const auto memory = graph.options().memory ? graph.options().memory : detected_machine().node.memory;
  if (memory) pools.memory = *memory;
  return pools;
}

std::optional<double> asked_memory(const Graph& graph, const Item& item,
                                   const std::map<std::string, double>& grown) {
  const auto more = grown.find(item.label);
  const auto& memory = graph.stage_of(item).memory;
  if (more == grown.end()) return memory;
  return std::max(more->second, memory.value_or(0));
}

std::vector<planning::Task> tasks_of(const Graph& graph, const std::vector<double>& seconds,
                                     const std::map<std::string, double>& grown) {
  const double all = pools_of(graph).memory;
  std::vector<planning::Task> tasks;
  for (std::size_t i = 0; i < graph.items().size(); ++i) {
    const auto& item = graph.items()[i];
    const auto& stage = graph.stage_of(item);
    tasks.push_back({.seconds = seconds[i],
                     .pool = pool_of(graph, stage),
                     .slots = stage.slots(),
                     .memory = std::min(all, stage.memory ? *asked_memory(graph, item, grown) : 0),
                     .after = item.after});
  }
  return tasks;
}

std::vector<double> predicted_seconds(const Graph& graph, const std::map<std::string, double>& times,
                                      const std::function<bool(std::size_t)>& is_left) {
  std::vector<double> took(graph.stages().size(), 0), cost(graph.stages().size(), 0);
  for (const auto& item : graph.items())
    if (const auto time = times.find(item.label); time != times.end()) {
      took[item.stage] += time->second;
      cost[item.stage] += item.cost;
    }
  std::vector<double> seconds(graph.items().size(), 0);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const auto& item = graph.items()[i];
    if (!is_left(i)) continue;
    const auto time = times.find(item.label);
    seconds[i] = time != times.end()    ? time->second
                 : cost[item.stage] > 0 ? item.cost * took[item.stage] / cost[item.stage]
                                        : item.cost;
  }
  return seconds;
}

std::vector<std::string> device_variables(const StageOptions& stage, const std::vector<std::size_t>& slots) {
  if (!stage.on_gpus()) return {};
  const auto given = given_devices();
  std::string devices;
  for (const std::size_t s : slots)
    devices += (devices.empty() ? "" : ",") + (given ? given->at(s) : std::to_string(s));
  std::vector<std::string> variables;
  for (const char* variable : visible_devices) variables.push_back(fmt::format("{}={}", variable, devices));
  return variables;
}

std::string launch_words(const StageOptions& stage, const std::string& launch) {
  return launch_line(launch, {.ranks_per_node = stage.ranks,
                              .threads = stage.threads,
                              .gpus_per_node = stage.on_gpus() ? stage.ranks : 0});
}

}  // namespace quintet::campaign
