#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"
#include "io/parallel/shared_array.hpp"
#include "io/tiers/reserved_array.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/training/flat_layout.hpp"

namespace quintet {

/// Position of this rank among those that divide a layout: of n holders, whose p ranks share memory, N = n p.
struct FlatRank {
  Comm all, holder, across;  ///< all; those of this holder; those with the same number on other holders
  int stage = 0;             ///< see FlatParameters
  using Unit = FlatLayout::Unit;

  /// First of this rank's share of a unit, which its holder's ranks divide, and its length.
  [[nodiscard]] std::size_t share(const Unit& unit) const { return holder.rank() * share_size(unit); }
  [[nodiscard]] std::size_t share_size(const Unit& unit) const { return across.size() * unit.slice; }
  /// First of its slice, which all ranks divide.
  [[nodiscard]] std::size_t slice(const Unit& unit) const { return share(unit) + across.rank() * unit.slice; }
  /// First of what it updates, and its length.
  [[nodiscard]] std::size_t updated(const Unit& unit) const { return stage == 0 ? share(unit) : slice(unit); }
  [[nodiscard]] std::size_t updated_size(const Unit& unit) const {
    return stage == 0 ? share_size(unit) : unit.slice;
  }
  /// Length of what this rank updates of all units together.
  [[nodiscard]] std::size_t updated_size(const FlatLayout& layout) const {
    return layout.slices() * (stage == 0 ? static_cast<std::size_t>(across.size()) : 1);
  }
  /// Where a unit begins among this rank's slices.
  [[nodiscard]] std::size_t place_of(const Unit& unit) const { return unit.offset / all.size(); }
};

/// The values of a HostStore: where they are kept, and what is at hand while blocks compute.
///
/// Up to stage 2 a holder has one copy; at stage 3 each rank has its slices, and a unit's values are gathered
/// when its blocks compute. Values in halves are kept as their high ones, and a unit at hand is expanded to
/// floats, whose low bits are 0.
template <class Real>
class FlatValues {
 public:
  /// @param rank, layout outlive this @param overlaps the next unit travels while one computes
  FlatValues(const FlatRank& rank, const FlatLayout& layout, bool overlaps, bool splits);

  /// Bytes of a value as it is kept.
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::span<Real> of(int block) const;
  void enter(int block, PassWay way);
  void leave();
  /// Let messages under way go on.
  void progress();

  /// This rank's slice of a unit, and what it updates of it, as they are kept.
  [[nodiscard]] std::span<std::byte> slice(std::size_t unit) const;
  [[nodiscard]] std::span<std::byte> updated(std::size_t unit) const;
  /// Parts of all units that this rank updates, as they are kept.
  [[nodiscard]] std::vector<std::span<std::byte>> updated() const;
  /// All numbers of a unit, as they are kept; not at stage 3.
  [[nodiscard]] std::span<const std::byte> whole(std::size_t unit) const;
  /// Ranks of this holder wait for each other: what some have written all may read.
  void synchronise() const { kept_.synchronise(); }
  /// Make what ranks have updated known to all.
  void gather() const;
  /// Take values in the order of blocks, the same on all ranks.
  void assign(std::span<const Real> values) const;

  /// Bytes that are kept on this rank; of the units at hand, as they are kept and expanded.
  [[nodiscard]] std::size_t kept_bytes() const;
  [[nodiscard]] std::size_t at_hand_bytes() const;
  [[nodiscard]] std::size_t expanded_bytes() const;
  /// Stage 3: bytes of memory that values have beside this rank's slices now, as the system counts them.
  [[nodiscard]] std::size_t resident() const { return gathered_.resident(); }

 private:
  using Unit = FlatLayout::Unit;
  [[nodiscard]] const Unit& unit(std::size_t number) const { return layout_.units()[number]; }
  [[nodiscard]] const Unit& unit(int number) const { return unit(static_cast<std::size_t>(number)); }
  [[nodiscard]] std::span<std::byte> kept(std::size_t from, std::size_t n) const {
    return {kept_.part(0) + from * width_, n * width_};
  }
  /// Numbers as they are kept.
  void keep(std::span<const Real> values, std::span<std::byte> to) const;
  void bring(int unit, PassWay way);
  [[nodiscard]] Comm::Pending start_gather(int unit) const;
  void finish_gather();
  void give_back(int unit) const;
  void expand(int unit) const;

  const FlatRank& rank_;
  const FlatLayout& layout_;
  bool overlaps_, splits_;
  std::size_t width_;
  SharedArray<std::byte> kept_;              ///< but at stage 3: values, or high halves
  ReservedArray<std::byte> gathered_;        ///< stage 3: those of the units at hand, in their places
  mutable AlignedVector<std::byte> slices_;  ///< stage 3: this rank's slices of them
  ReservedArray<Real> expanded_;             ///< of halves: the units at hand as floats, in their places
  int here_ = -1, part_ = -1;                ///< the unit at hand, and a part of it
  int coming_ = -1;                          ///< stage 3: the one on its way
  std::optional<Comm::Pending> gathering_;   ///< of coming_
};

}  // namespace quintet
