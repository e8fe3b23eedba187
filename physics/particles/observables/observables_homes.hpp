#pragma once

#include <cstdint>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/atoms/atoms.hpp"

namespace quintet {

/// Data that each atom sends to the rank that remembers it.
struct AtomSample {
  std::int64_t id;
  double value[3];
  int type;
};

/// Shares ids out in equal blocks, one a rank: the history of an atom stays on the home rank of its id while
/// the atom itself wanders.
class AtomHomes {
 public:
  AtomHomes() = default;
  /// For ids 1..n_ids. Throws InputError if a rank would hold many times more ids than there are atoms.
  AtomHomes(const Comm& comm, std::int64_t n_ids, std::int64_t n_atoms);
  [[nodiscard]] static std::int64_t largest_id(const Comm& comm, const Atoms& atoms);

  [[nodiscard]] std::int64_t n_ids() const { return n_ids_; }
  [[nodiscard]] std::int64_t first() const { return first_; }  ///< ids of this rank, counted from 0
  [[nodiscard]] int count() const { return count_; }

  /// Send every sample home; value [count, 3] and type [count] of this rank's ids (type -1 where no atom has
  /// the id). Collective: one all-to-all of 40 bytes an atom.
  void send_home(const Comm& comm, const std::vector<AtomSample>& samples, std::vector<double>& value,
                 std::vector<int>& type) const;

 private:
  std::int64_t n_ids_ = 0, block_ = 1, first_ = 0;
  int count_ = 0;
};

}  // namespace quintet
