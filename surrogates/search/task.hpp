#pragma once

#include <span>
#include <vector>

#include "surrogates/search/trial.hpp"

/// A trial and its outcome as the bytes that travel to a worker and back.
namespace quintet::search {

struct TaskShape {
  std::size_t genes = 0, epochs = 0, facts = 0;
  static constexpr std::size_t most_rungs = 16, message_bytes = 480;
  [[nodiscard]] std::size_t task_bytes() const;
  [[nodiscard]] std::size_t result_bytes() const;
};

/// Genes, seed, number and rungs: all that an evaluation depends on.
[[nodiscard]] std::vector<std::byte> pack_trial(const Trial& trial, const TaskShape& shape);
[[nodiscard]] Trial unpack_trial(std::span<const std::byte> bytes, const TaskShape& shape);

/// State, objective, curve, facts, message. Returns the number of bytes written.
std::size_t pack_outcome(const Outcome& outcome, const TaskShape& shape, std::span<std::byte> bytes);
[[nodiscard]] Outcome unpack_outcome(std::span<const std::byte> bytes, const TaskShape& shape);

}  // namespace quintet::search
