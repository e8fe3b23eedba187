#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "io/machine/rules.hpp"
#include "surrogates/planning/dispatch.hpp"

namespace quintet::campaign {

/// Throws InputError where an item takes more than there is here: slots of its class, GPUs, memory.
void check_resources(const Graph& graph);

/// Slots of this machine and its memory, in the order of the names of `slots`.
[[nodiscard]] planning::Pools pools_of(const Graph& graph);
/// All items as tasks of those pools that take these times (s), and the memory that was not enough before.
[[nodiscard]] std::vector<planning::Task> tasks_of(const Graph& graph, const std::vector<double>& seconds,
                                                   const std::map<std::string, double>& grown = {});
/// Memory (B) that an item asks for: its stage's, or more where that was not enough (`grown`, by labels);
/// nothing if neither is known.
[[nodiscard]] std::optional<double> asked_memory(const Graph& graph, const Item& item,
                                                 const std::map<std::string, double>& grown);

/// Times (s) to expect of items: what one of the same label took last; else its `cost` times what others of
/// its stage took for theirs; 0 of those that are not left to do.
[[nodiscard]] std::vector<double> predicted_seconds(const Graph& graph,
                                                    const std::map<std::string, double>& times,
                                                    const std::function<bool(std::size_t)>& is_left);

/// Variables that make an item's programs see only the GPUs of its slots; empty for other classes.
[[nodiscard]] std::vector<std::string> device_variables(const StageOptions& stage,
                                                        const std::vector<std::size_t>& slots);

/// The line of shell in front of a program of a stage that {launch} begins.
[[nodiscard]] std::string launch_words(const StageOptions& stage, const std::string& launch);

}  // namespace quintet::campaign
