#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "physics/kernels/device_buffer.hpp"
#include "physics/particles/device/migration_kernels.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/device/resident_kernels.hpp"

namespace quintet::device {

/// Which atoms and ghosts there are on the execution space that this was compiled for: how they come, change
/// hands and go home. What steps do to them: resident_atoms_device.cpp.
class ResidentRowsOnSpace : public ResidentAtoms {
 public:
  explicit ResidentRowsOnSpace(bool direct) : direct_(direct) {}

  void take(const HostRows& host, const GhostPlan& plan) override {
    makes_ghosts_ = false;
    n_all_ = host.n_all;
    take_rows(host, host.n_all);
    const std::size_t n_all = n_all_;
    put(owner_, "resident::owner", plan.owner.data(), n_all);
    put(shift_, "resident::shift", plan.shift.data(), n_all);
    put(sent_, "resident::sent", plan.sent.data(), plan.sent.size());
    set_steps(plan.steps);
    space_.fence();
    ahead_ = false;
  }

  void take_local(const HostRows& host) override {
    makes_ghosts_ = true;
    take_rows(host, host.n_local);
    put(image_, "resident::image", host.image, 3 * static_cast<std::size_t>(n_));
    space_.fence();
    forget_ghosts();
  }

  int take_alone(const HostRows& host, const CellOfAtoms& built) override {
    take_local(host);
    return make_ghosts(built);
  }

  int rebuild(const CellOfAtoms& cell) override {
    wrap(cell);
    copy(built_, x_, 3 * static_cast<std::size_t>(n_));
    return make_ghosts(cell);
  }

  [[nodiscard]] std::vector<AtomRecord> part(const CellOfAtoms& cell, const BrickOfAtoms& b) override {
    wrap(cell);
    make_room<char, Space>(stays_, "resident::stays", n_, spare);
    make_room<int, Space>(order_, "resident::order", n_, spare);
    int n_leaving = 0;
    Kokkos::parallel_scan("resident::part", Range(space_, 0, n_),
                          PartRows{brick_of(cell, b), x_.data(), stays_.data(), order_.data()}, n_leaving);
    space_.fence();
    return packed<AtomRecord>(records_, "resident::records", n_leaving, [&](AtomRecord* out) {
      return PackRecords{order_.data(), x_.data(), v_.data(), image_.data(), type_.data(), id_.data(), out};
    });
  }

  [[nodiscard]] int settle(const std::vector<AtomRecord>& arrived, const CellOfAtoms& cell,
                           const BrickOfAtoms& b) override {
    const int n_arrived = static_cast<int>(arrived.size()), n_rows = n_ + n_arrived;
    const std::size_t n = n_, rows = n_rows;
    grow<double, Space>(x_, "resident::position", 3 * rows, 3 * n);
    grow<double, Space>(v_, "resident::velocity", 3 * rows, 3 * n);
    grow<int, Space>(image_, "resident::image", 3 * rows, 3 * n);
    grow<int, Space>(type_, "resident::type", rows, n);
    grow<std::int64_t, Space>(id_, "resident::id", rows, n);
    grow<char, Space>(stays_, "resident::stays", rows, n);
    put(records_, "resident::records", arrived.data(), arrived.size());
    Kokkos::parallel_for("resident::unpack_records", Range(space_, 0, n_arrived),
                         UnpackRecords{records_.data(), n_, x_.data(), v_.data(), image_.data(), type_.data(),
                                       id_.data(), stays_.data()});
    n_ = order_by_cells(brick_of(cell, b), n_rows);
    gather<double, 3>(x_, real_rows_);
    gather<double, 3>(v_, real_rows_);
    gather<int, 3>(image_, int_rows_);
    gather<int, 1>(type_, int_rows_);
    gather<std::int64_t, 1>(id_, id_rows_);
    make_room<double, Space>(built_, "resident::built", 3 * static_cast<std::size_t>(n_), spare);
    copy(built_, x_, 3 * static_cast<std::size_t>(n_));
    mark_frozen();
    forget_ghosts();
    return n_;
  }

  [[nodiscard]] int select_border(const CellOfAtoms& built, const BrickFace& face, int first,
                                  int last) override {
    first_sent_ += n_sent_;
    n_sent_ = 0;
    grow<int, Space>(sent_, "resident::sent", std::size_t(first_sent_) + (last - first), first_sent_);
    Kokkos::parallel_scan("resident::select_border", Range(space_, 0, last - first),
                          SelectBorder{image_cell_of(built), face.direction, face.side, face.at, face.reach,
                                       first, built_.data(), chosen()},
                          n_sent_);
    space_.fence();
    return n_sent_;
  }

  void image_border(const CellOfAtoms& built, int direction, int image) override {
    const int first = grow_ghosts(n_sent_);
    Kokkos::parallel_for("resident::image_border", Range(space_, 0, n_sent_),
                         ImageBorder{chosen(), first, direction, image, owner_.data(), shift_.data()});
    complete_images(built, first, n_sent_);
  }

  [[nodiscard]] std::vector<BorderAtom> border(const std::array<double, 3>& shift) override {
    return packed<BorderAtom>(border_, "resident::border", n_sent_, [&](BorderAtom* out) {
      return PackBorder{chosen(), built_.data(), id_.data(), type_.data(), {shift[0], shift[1], shift[2]},
                        out};
    });
  }

  void append_border(const std::vector<BorderAtom>& ghosts) override {
    const int n = static_cast<int>(ghosts.size()), first = grow_ghosts(n);
    put(border_, "resident::border", ghosts.data(), ghosts.size());
    Kokkos::parallel_for("resident::unpack_border", Range(space_, 0, n),
                         UnpackBorder{border_.data(), first, built_.data(), id_.data(), type_.data(),
                                      owner_.data(), shift_.data()});
    space_.fence();
  }

  void set_steps(const std::vector<GhostPlan::Step>& steps) override {
    const std::size_t n_all = n_all_;
    const std::size_t local = 3 * static_cast<std::size_t>(n_);
    grow<double, Space>(x_, "resident::position", 3 * n_all, local);
    const auto ghosts = Kokkos::make_pair(local, 3 * n_all);
    Kokkos::deep_copy(space_, Kokkos::subview(x_, ghosts), Kokkos::subview(built_, ghosts));
    make_room<Fixed, Space>(force_, "resident::force", 3 * n_all, spare);
    steps_ = steps;
    std::size_t most = 0;
    for (const auto& step : steps_)
      if (step.travels) most = std::max<std::size_t>({most, std::size_t(step.n), std::size_t(step.n_sent)});
    for (auto* buffer : {&outgoing_, &incoming_})
      make_room<double, Space>(*buffer, "resident::parcel", 3 * most, spare);
    if (direct_) return;
    for (auto* buffer : {&staged_out_, &staged_in_})
      if (buffer->extent(0) < 3 * most)
        *buffer = Kokkos::View<double*, Staging>(
            Kokkos::view_alloc(std::string("resident::staged"), Kokkos::WithoutInitializing), 3 * most);
  }

  void fetch_built(double* built) override {
    const std::size_t n_all = 3 * static_cast<std::size_t>(n_all_);
    get(built, built_, n_all);
    space_.fence();
  }

  void freeze(const std::vector<std::int64_t>& ids) override {
    frozen_ = Buffer<std::int64_t>(std::string("resident::frozen_ids"), ids.size());
    Kokkos::deep_copy(frozen_, OnHost<const std::int64_t>(ids.data(), ids.size()));
  }

  void fetch(const FetchedRows& to) override {
    const std::size_t n = 3 * static_cast<std::size_t>(n_), n_all = n_all_;
    make_room<double, Space>(fetched_, "resident::fetched", n, spare);
    Kokkos::parallel_for("resident::from_fixed", Range(space_, 0, 3 * n_),
                         FixedToDouble{force_.data(), fetched_.data()});
    get(to.position, x_, 3 * n_all);
    get(to.velocity, v_, n);
    get(to.force, fetched_, n);
    if (makes_ghosts_) {
      get(to.type, type_, n_all);
      get(to.id, id_, n_all);
      get(to.image, image_, n);
    }
    space_.fence();
    ahead_ = false;
  }

  [[nodiscard]] ResidentRows rows() override {
    ahead_ = true;
    return {n_, n_all_, x_.data(), built_.data(), type_.data(), owner_.data(), force_.data()};
  }

 protected:
  using Space = Kokkos::DefaultExecutionSpace;
  using Range = Kokkos::RangePolicy<Space>;
  template <class T>
  using Buffer = device::Buffer<T, Space>;
#ifdef KOKKOS_ENABLE_CUDA
  using Staging = Kokkos::CudaHostPinnedSpace;
#else
  using Staging = Kokkos::HostSpace;
#endif

  bool direct_, makes_ghosts_ = false;
  Space space_;
  int n_ = 0, n_all_ = 0;
  std::vector<GhostPlan::Step> steps_;
  Buffer<double> x_, v_, built_, mass_, fetched_, outgoing_, incoming_;
  Buffer<Fixed> force_;
  Buffer<int> type_, owner_, shift_, sent_, image_;
  int first_sent_ = 0, n_sent_ = 0;  ///< the last border's part of sent_, while ghosts are made
  Buffer<std::int64_t> id_, frozen_;
  Buffer<char> mark_;  ///< [n_local] frozen
  Kokkos::View<double*, Staging> staged_out_, staged_in_;

 private:
  static constexpr double spare = 1.05;

  template <class T>
  static auto first_of(const Buffer<T>& buffer, std::size_t n) {
    return Kokkos::subview(buffer, Kokkos::make_pair(std::size_t(0), n));
  }
  template <class T>
  void put(Buffer<T>& to, const char* label, const T* from, std::size_t n) {
    make_room<T, Space>(to, label, n, spare);
    if (n > 0) Kokkos::deep_copy(space_, first_of<T>(to, n), OnHost<const T>(from, n));
  }
  template <class T>
  void get(T* to, const Buffer<T>& from, std::size_t n) {
    Kokkos::deep_copy(space_, OnHost<T>(to, n), first_of<T>(from, n));
  }

  /// All of the local atoms, and `n_rows` rows of what ghosts have, too.
  void take_rows(const HostRows& host, int n_rows) {
    n_ = host.n_local;
    const std::size_t n = n_, rows = n_rows;
    put(x_, "resident::position", host.position, 3 * rows);
    put(v_, "resident::velocity", host.velocity, 3 * n);
    put(built_, "resident::built", host.built, 3 * rows);
    put(type_, "resident::type", host.type, rows);
    put(id_, "resident::id", host.id, rows);
    put(mass_, "resident::mass", host.masses.data(), host.masses.size());
    mark_frozen();
  }
  void mark_frozen() {
    if (frozen_.extent(0) == 0) return;
    make_room<char, Space>(mark_, "resident::frozen", n_, spare);
    Kokkos::parallel_for(
        "resident::mark_frozen", Range(space_, 0, n_),
        MarkFrozen{id_.data(), frozen_.data(), static_cast<int>(frozen_.extent(0)), mark_.data()});
  }

  /// Ghosts of where the local atoms were.
  int make_ghosts(const CellOfAtoms& c) {
    const ImageCell cell = image_cell_of(c);
    int n_ghost = 0;
    Kokkos::parallel_scan("resident::count_ghosts", Range(space_, 0, n_),
                          MakeGhosts{cell, n_, built_.data(), nullptr, nullptr}, n_ghost);
    space_.fence();
    forget_ghosts();
    grow_ghosts(n_ghost);
    Kokkos::parallel_scan("resident::make_ghosts", Range(space_, 0, n_),
                          MakeGhosts{cell, n_, built_.data(), owner_.data(), shift_.data()}, n_ghost);
    complete_images(c, n_, n_ghost);
    set_steps({{.first = n_, .n = n_ghost}});
    ahead_ = true;
    return n_ghost;
  }

  void wrap(const CellOfAtoms& cell) {
    Kokkos::parallel_for("resident::wrap", Range(space_, 0, n_),
                         Wrap{image_cell_of(cell), x_.data(), image_.data()});
    ahead_ = true;
  }
  void copy(const Buffer<double>& to, const Buffer<double>& from, std::size_t n) {
    Kokkos::deep_copy(space_, first_of<double>(to, n), first_of<double>(from, n));
  }

  /// order_ becomes the rows of [0, n_rows) that stay, by cell. Returns their number.
  int order_by_cells(const Brick& brick, int n_rows) {
    const int n_cells = brick.size();
    make_room<int, Space>(next_, "resident::cell_next", n_cells, spare);
    make_room<int, Space>(order_, "resident::order", n_rows, spare);
    Kokkos::deep_copy(space_, next_, 0);
    IntoCells into{brick, x_.data(), stays_.data(), next_.data(), nullptr};
    Kokkos::parallel_for("resident::count_in_cells", Range(space_, 0, n_rows), into);
    int n = 0;
    Kokkos::parallel_scan("resident::scan_cells", Range(space_, 0, n_cells), ScanCounts{next_.data()}, n);
    into.order = order_.data();
    Kokkos::parallel_for("resident::place_in_cells", Range(space_, 0, n_rows), into);
    Kokkos::parallel_for("resident::sort_cells", Range(space_, 0, n_cells),
                         SortById{next_.data(), id_.data(), order_.data()});
    space_.fence();
    return n;
  }
  /// The local rows in that order.
  template <class T, int width>
  void gather(const Buffer<T>& rows, Buffer<T>& scratch) {
    const std::size_t n = width * static_cast<std::size_t>(n_);
    make_room<T, Space>(scratch, "resident::gathered", n, spare);
    Kokkos::parallel_for("resident::gather_rows", Range(space_, 0, n_),
                         GatherRows<T, width>{rows.data(), order_.data(), scratch.data()});
    Kokkos::deep_copy(space_, first_of<T>(rows, n), first_of<T>(scratch, n));
  }
  static Brick brick_of(const CellOfAtoms& cell, const BrickOfAtoms& b) {
    Brick brick{image_cell_of(cell), {}, b.rank, {}, {}, {}, {}};
    std::copy(b.grid.begin(), b.grid.end(), brick.grid);
    std::copy(b.first_cell.begin(), b.first_cell.end(), brick.first_cell);
    std::copy(b.n_cells.begin(), b.n_cells.end(), brick.n_cells);
    std::copy(b.cells_of_box.begin(), b.cells_of_box.end(), brick.cells_of_box);
    std::copy(b.cells_per_unit.begin(), b.cells_per_unit.end(), brick.cells_per_unit);
    return brick;
  }

  void forget_ghosts() {
    n_all_ = n_;
    first_sent_ = n_sent_ = 0;
    make_room<int, Space>(owner_, "resident::owner", n_, spare);
    make_room<int, Space>(shift_, "resident::shift", n_, spare);
    Kokkos::parallel_for("resident::own_self", Range(space_, 0, n_), OwnSelf{owner_.data(), shift_.data()});
    ahead_ = true;
  }
  /// Room for n ghosts more; returns the first one's row. Positions and forces are left to set_steps().
  int grow_ghosts(int n) {
    const std::size_t before = n_all_, n_all = before + n;
    grow<double, Space>(built_, "resident::built", 3 * n_all, 3 * before);
    grow<int, Space>(type_, "resident::type", n_all, before);
    grow<std::int64_t, Space>(id_, "resident::id", n_all, before);
    grow<int, Space>(owner_, "resident::owner", n_all, before);
    grow<int, Space>(shift_, "resident::shift", n_all, before);
    return std::exchange(n_all_, static_cast<int>(n_all));
  }
  /// Images whose owners and shifts are known.
  void complete_images(const CellOfAtoms& built, int first, int n) {
    PlaceImages place{first, owner_.data(), shift_.data(), {}, built_.data(), type_.data()};
    std::copy(built.rows.begin(), built.rows.end(), place.cell);
    Kokkos::parallel_for("resident::place_built", Range(space_, 0, n), place);
    Kokkos::parallel_for("resident::name_images", Range(space_, 0, n),
                         NameImages{first, owner_.data(), id_.data()});
  }
  [[nodiscard]] int* chosen() const { return sent_.data() + first_sent_; }
  /// n records of what `kernel(out)` packs, on the host.
  template <class T, class MakeKernel>
  std::vector<T> packed(Buffer<T>& buffer, const char* label, int n, const MakeKernel& kernel) {
    make_room<T, Space>(buffer, label, n, spare);
    Kokkos::parallel_for(label, Range(space_, 0, n), kernel(buffer.data()));
    std::vector<T> records(n);
    if (n > 0) get(records.data(), buffer, n);
    space_.fence();
    return records;
  }

  // Of a rebuild.
  Buffer<char> stays_;
  Buffer<int> order_, next_, int_rows_;
  Buffer<double> real_rows_;
  Buffer<std::int64_t> id_rows_;
  Buffer<AtomRecord> records_;
  Buffer<BorderAtom> border_;
};

}  // namespace quintet::device
