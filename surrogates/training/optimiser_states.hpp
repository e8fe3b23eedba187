#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/tiers/ledger.hpp"
#include "io/tiers/tier_store.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"

namespace quintet {

/// How the states of an offloaded optimiser have moved.
struct OffloadTraffic {
  TierTraffic reads, writes;
  double waited = 0;  ///< of the update for the disk (s)
  bool is_direct = true;
  OffloadTraffic& operator+=(const OffloadTraffic& other);
};

/// The states of an optimiser on this rank, in memory or in a file, and its steps.
///
/// In a file they are chunks of all states of the same numbers. A step takes them in their order: while chunk
/// i is updated, the next ones are read and those before written (TierStore), and the first ones of the next
/// step are read before it begins. Each number goes through the same instructions wherever its states live.
/// Of parameters in halves (split_bf16.hpp) it keeps the low ones, too, as one more state of 2 bytes.
/// Source: Rajbhandari et al. 2021 (SC), section 5 (ZeRO-Infinity's overlap of reads, updates and writes).
template <class Real>
class OptimiserStates {
 public:
  /// States of `n` numbers, all 0. Throws ResourceError before anything is allocated where a budget or the
  /// disk does not hold them, InputError for a path that does not serve (TierFile).
  /// @param rank for the file's name @param ledger outlives this @param splits parameters are in halves
  /// (float alone)
  OptimiserStates(const OptimiserOptions& optimiser, std::size_t n, const OffloadOptions& offload,
                  Ledger& ledger, int rank, bool splits = false);

  [[nodiscard]] int n_states() const { return n_states_; }
  /// Step `t` of numbers place, place + 1, ...; clears their gradient. Places rise within a step.
  /// @param kept their values: numbers, or high halves
  void update(std::int64_t t, double learning_rate, std::size_t place, std::span<std::byte> kept,
              std::span<Real> gradient);
  /// All numbers have made step `t`.
  void finish(std::int64_t t);
  /// State number `state` of numbers place, place + 1, ...
  void read(int state, std::size_t place, std::span<Real> to) const;
  void write(int state, std::size_t place, std::span<const Real> from);
  /// Whole values of what is `kept` of them; and take the low halves of values.
  void read_values(std::size_t place, std::span<const std::byte> kept, std::span<Real> to) const;
  void write_low(std::size_t place, std::span<const Real> values);

  /// In memory, without the buffers on the way to a file.
  [[nodiscard]] std::size_t host_bytes() const;
  [[nodiscard]] OffloadTraffic traffic() const;

 private:
  /// Piece of numbers from, ..., from + n - 1 that is at hand.
  struct Piece {
    std::size_t from, n;
    std::array<std::span<Real>, 2> states;
    std::span<std::int16_t> low;
  };
  /// Calls action(piece) for what lies under [place, place + length): all, or chunk by chunk.
  template <class Action>
  void by_chunks(std::size_t place, std::size_t length, const Action& action) const;
  /// A chunk at hand stays until another one is opened: pieces of a step may end within it.
  [[nodiscard]] std::span<std::byte> open(int chunk) const;
  void close(bool changed) const;

  OptimiserOptions optimiser_;
  int n_states_;
  bool splits_;
  std::size_t bytes_a_number_, n_, chunk_ = 0;
  std::vector<Ledger::Claim> claims_;
  AlignedVector<std::byte> memory_;   ///< as a chunk of all: states one after the other, then low halves
  std::unique_ptr<TierStore> store_;  ///< none: in memory_
  std::vector<int> next_in_file_;     ///< [chunk]
  mutable int open_ = -1;
  mutable std::span<std::byte> bytes_;  ///< of the open chunk
};

}  // namespace quintet
