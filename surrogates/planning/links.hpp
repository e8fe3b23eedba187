#pragma once

#include <vector>

namespace quintet::planning {

/// Cost of a message: alpha + m beta for m bytes (Hockney's model).
struct Link {
  double alpha = 0;  ///< latency (s)
  double beta = 0;   ///< of a byte (s/B)
};

/// Links of a machine by how far they reach: ranks of a node talk faster than those of a room.
class Links {
 public:
  struct Tier {
    double most_ranks = 0;  ///< in a group that stays within this level; infinity: any
    Link link;
  };
  Links() = default;
  /// @param tiers from near to far. Throws InputError if `most_ranks` does not rise, or a time is negative.
  explicit Links(std::vector<Tier> tiers);
  /// The slowest link within a group of so many ranks. Throws InputError if no level reaches so far.
  [[nodiscard]] Link among(double n_ranks) const;
  [[nodiscard]] bool known() const { return !tiers_.empty(); }
  [[nodiscard]] bool reaches(double n_ranks) const { return known() && n_ranks <= tiers_.back().most_ranks; }

 private:
  std::vector<Tier> tiers_;
};

/// Traffic that one rank sends.
struct Traffic {
  double messages = 0, bytes = 0;

  [[nodiscard]] double seconds(const Link& link) const { return messages * link.alpha + bytes * link.beta; }
  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
  friend Traffic operator*(double n, const Traffic& one) { return {n * one.messages, n * one.bytes}; }
};

/// The sum of `bytes` of each of p ranks, on all of them: a reduce-scatter and an all-gather round a ring.
///
///     2 (p - 1) (alpha + m/p beta).   Source: Patarasuk and Yuan 2009 (JPDC 69), section 3.
[[nodiscard]] Traffic ring_all_reduce(double p, double bytes);
/// A part of each rank on all ranks: (p - 1) (alpha + m/p beta). @param bytes m of all parts together
[[nodiscard]] Traffic ring_all_gather(double p, double bytes);
/// Sum of a few numbers of each of p ranks on all of them, by recursive doubling: ceil(log2 p) (alpha + m
/// beta).
[[nodiscard]] Traffic tree_all_reduce(double p, double bytes);
/// One message: alpha + m beta.
[[nodiscard]] Traffic point_to_point(double bytes);

}  // namespace quintet::planning
