#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "surrogates/sequence/training/training.hpp"

namespace quintet::sequence {

/// What a Trainer of any kind of network does; see Trainer.
class Trainer::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual EpochReport advance() = 0;
  [[nodiscard]] virtual TrainingState state() const = 0;
  virtual void restore(const TrainingState& state) = 0;
  [[nodiscard]] virtual Stopped stopped() const = 0;
  [[nodiscard]] virtual TrainingResult result() const = 0;
  [[nodiscard]] virtual FlatAccount account() const = 0;
  [[nodiscard]] virtual std::string shared_out() const { return {}; }
};

/// The n numbers 0 .. n - 1 in an order that follows from (seed, epoch) (Fisher and Yates).
[[nodiscard]] std::vector<int> shuffled(int n, std::uint64_t seed, int epoch);

}  // namespace quintet::sequence
