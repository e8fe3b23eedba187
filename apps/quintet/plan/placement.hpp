#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/machine/machine.hpp"
#include "surrogates/planning/links.hpp"

namespace quintet {

/// Where so many ranks go on a machine, and what the machine says of them.
struct Placement {
  std::int64_t nodes = 1, ranks_per_node = 1;
  std::string queue{};    ///< that takes the job, or ""
  std::int64_t jobs = 1;  ///< one after another, where one is not allowed to last so long
  std::optional<double> node_hours{};
  std::string impossible{};  ///< the first limit that is broken, or ""
};

/// A run of p ranks of `threads` cores that each hold `memory` bytes and take `seconds` (absent: unknown).
[[nodiscard]] Placement place(const Machine& machine, std::int64_t ranks, std::int64_t threads, double memory,
                              std::optional<double> seconds);

/// The links between p ranks: of a node where they fit in one, else of the network. Empty if a time is
/// unknown.
[[nodiscard]] planning::Links links_among(const Machine& machine, std::int64_t ranks,
                                          std::int64_t ranks_per_node);

/// The links for every number of ranks, as far as they are known; see links_among().
[[nodiscard]] planning::Links links_of(const Machine& machine, std::int64_t ranks_per_node);

/// How many times slower a core of `machine` is than one of `here`, by their products in double precision;
/// absent if one of them is unknown.
[[nodiscard]] std::optional<double> slowness(const Machine& machine, const Machine& here);

}  // namespace quintet
