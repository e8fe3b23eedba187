#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/parallel/shared_array.hpp"
#include "surrogates/training/adam.hpp"

namespace quintet {

/// The flat arrays of data-parallel training: parameters and Adam's moments once a node, a gradient each
/// rank.
///
/// A step sums and updates in one sweep. The ranks of a node divide the arrays into slices. Each rank sums
/// its slice of all gradients straight from the others' memory, adds those of the ranks of other nodes with
/// the same slice, takes Adam's step on it and clears it. No rank repeats another's update, and all see the
/// same bits.
template <class Real>
class SharedParameters {
 public:
  /// Collective over comm. @param start the same on all ranks
  SharedParameters(const Comm& comm, std::span<const double> start);
  /// With given groups of ranks that share memory (`node`), all of the same size.
  SharedParameters(const Comm& comm, std::span<const double> start, const Comm& node);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<Real> values() const { return whole(values_, 0); }
  [[nodiscard]] std::span<Real> moment1() const { return whole(moment1_, 0); }
  [[nodiscard]] std::span<Real> moment2() const { return whole(moment2_, 0); }
  /// This rank's part of the gradient, to be added to.
  [[nodiscard]] std::span<Real> gradient() const { return whole(gradient_, node_.rank()); }
  /// The sum of all ranks' gradients (tests). Collective.
  [[nodiscard]] std::vector<double> total_gradient() const;

  /// Adam's step number `t`, from 1; afterwards the gradient is 0. Collective.
  void step(const AdamOptions& options, std::int64_t t, double learning_rate);
  /// What this rank has sent to sum gradients: a step counts one message and the bytes of this rank's slice,
  /// size/(ranks of a node) numbers; nothing where all ranks share memory.
  [[nodiscard]] Comm::Counter traffic() const {
    return comm_.size() == 1 ? Comm::Counter{} : across_.counter(Comm::Call::reduce);
  }
  /// Write values, moment1 and moment2 the same on all ranks: each node's first rank writes. Collective.
  void assign(std::span<const Real> values, std::span<const Real> moment1, std::span<const Real> moment2);

 private:
  [[nodiscard]] std::span<Real> whole(const SharedArray<Real>& array, int rank) const {
    return {array.part(rank), size_};
  }
  std::size_t size_;
  Comm comm_, node_, across_;  ///< all; those of this node; those that hold the same slice on other nodes
  std::size_t begin_, end_;    ///< this rank's slice
  SharedArray<Real> values_, moment1_, moment2_, gradient_;
};

}  // namespace quintet
