#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "physics/kernels/device_buffer.hpp"
#include "physics/particles/device/migration_kernels.hpp"
#include "physics/particles/device/parcel_buffers.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/device/resident_kernels.hpp"

namespace quintet::device {

/// Rows of atoms and ghosts on the execution space that this was compiled for: how they arrive, migrate and
/// return to the host. For the steps on them see resident_atoms_device.cpp.
class ResidentRowsOnSpace : public ResidentAtoms {
 public:
  explicit ResidentRowsOnSpace(bool direct) : parcels_(direct) {}

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
    put(image_, "resident::image", host.image, 3 * std::int64_t{n_});
    space_.fence();
    forget_ghosts();
  }

  int take_alone(const HostRows& host, const CellOfAtoms& built) override {
    take_local(host);
    return make_ghosts(built);
  }

  int rebuild(const CellOfAtoms& cell) override {
    wrap(cell);
    copy(built_, x_, 3 * std::int64_t{n_});
    return make_ghosts(cell);
  }

  [[nodiscard]] std::vector<std::size_t> part(const CellOfAtoms& cell, const BrickOfAtoms& b) override {
    wrap(cell);
    brick_ = brick_of(cell, b);
    const std::size_t n_ranks = brick_.n_ranks();
    make_room<char, Space>(stays_, "resident::stays", n_, spare);
    make_room<int, Space>(leaving_, "resident::leaving", n_ranks);
    Kokkos::deep_copy(space_, leaving_, 0);
    Kokkos::parallel_for("resident::part", Range(space_, 0, n_),
                         PartRows{brick_, x_.data(), stays_.data(), leaving_.data()});
    std::vector<int> counts(n_ranks);
    get(counts.data(), leaving_, n_ranks);
    space_.fence();
    n_leaving_ = std::accumulate(counts.begin(), counts.end(), 0);
    return {counts.begin(), counts.end()};
  }

  [[nodiscard]] Parcel pack_leaving(int n_arriving) override {
    const std::size_t n_out = n_leaving_ * numbers_of<AtomRecord>, n_in = n_arriving * numbers_of<AtomRecord>;
    auto* const out = reinterpret_cast<AtomRecord*>(parcels_.outgoing(n_out));
    if (n_leaving_ > 0) {
      Kokkos::parallel_scan("resident::scan_leaving", Range(space_, 0, brick_.n_ranks()),
                            ScanCounts{leaving_.data()});
      Kokkos::parallel_for("resident::pack_leaving", Range(space_, 0, n_),
                           PackLeaving{brick_, stays_.data(), leaving_.data(), x_.data(), v_.data(),
                                       image_.data(), type_.data(), id_.data(), out});
    }
    return parcels_.leave(space_, out, n_out, parcels_.incoming(n_in), n_in);
  }

  [[nodiscard]] int settle(int n_arrived) override {
    const int n_rows = n_ + n_arrived;
    const std::size_t n = n_, rows = n_rows, n_in = n_arrived * numbers_of<AtomRecord>;
    grow<double, Space>(x_, "resident::position", 3 * rows, 3 * n);
    grow<double, Space>(v_, "resident::velocity", 3 * rows, 3 * n);
    grow<int, Space>(image_, "resident::image", 3 * rows, 3 * n);
    grow<int, Space>(type_, "resident::type", rows, n);
    grow<std::int64_t, Space>(id_, "resident::id", rows, n);
    grow<char, Space>(stays_, "resident::stays", rows, n);
    double* const in = parcels_.incoming(n_in);
    parcels_.arrive(space_, in, n_in);
    Kokkos::parallel_for("resident::unpack_records", Range(space_, 0, n_arrived),
                         UnpackRecords{reinterpret_cast<const AtomRecord*>(in), n_, x_.data(), v_.data(),
                                       image_.data(), type_.data(), id_.data(), stays_.data()});
    order_by_cells(n_rows);
    n_ = n_rows - n_leaving_;
    gather<double, 3>(x_, real_rows_);
    gather<double, 3>(v_, real_rows_);
    gather<int, 3>(image_, int_rows_);
    gather<int, 1>(type_, int_rows_);
    gather<std::int64_t, 1>(id_, id_rows_);
    make_room<double, Space>(built_, "resident::built", 3 * std::int64_t{n_}, spare);
    copy(built_, x_, 3 * std::int64_t{n_});
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
    ImageBorder kernel{chosen(),      first,      direction,    image,         {},
                       built_.data(), id_.data(), type_.data(), owner_.data(), shift_.data()};
    std::copy(built.rows.begin(), built.rows.end(), kernel.rows);
    Kokkos::parallel_for("resident::image_border", Range(space_, 0, n_sent_), kernel);
  }

  [[nodiscard]] Parcel pack_border(const std::array<double, 3>& shift, int n_arriving) override {
    const std::size_t n_out = n_sent_ * numbers_of<BorderAtom>, n_in = n_arriving * numbers_of<BorderAtom>;
    auto* const out = reinterpret_cast<BorderAtom*>(parcels_.outgoing(n_out));
    Kokkos::parallel_for(
        "resident::pack_border", Range(space_, 0, n_sent_),
        PackBorder{chosen(), built_.data(), id_.data(), type_.data(), {shift[0], shift[1], shift[2]}, out});
    return parcels_.leave(space_, out, n_out, parcels_.incoming(n_in), n_in);
  }

  void unpack_border(int n) override {
    const int first = grow_ghosts(n);
    const std::size_t n_in = n * numbers_of<BorderAtom>;
    double* const in = parcels_.incoming(n_in);
    parcels_.arrive(space_, in, n_in);
    Kokkos::parallel_for("resident::unpack_border", Range(space_, 0, n),
                         UnpackBorder{reinterpret_cast<const BorderAtom*>(in), first, built_.data(),
                                      id_.data(), type_.data(), owner_.data(), shift_.data()});
  }

  void set_steps(const std::vector<GhostPlan::Step>& steps) override {
    const std::size_t n_all = n_all_;
    const std::size_t local = 3 * std::int64_t{n_};
    grow<double, Space>(x_, "resident::position", 3 * n_all, local);
    const auto ghosts = Kokkos::make_pair(local, 3 * n_all);
    Kokkos::deep_copy(space_, Kokkos::subview(x_, ghosts), Kokkos::subview(built_, ghosts));
    make_room<Fixed, Space>(force_, "resident::force", 3 * n_all, spare);
    steps_ = steps;
    std::size_t most = 0;
    for (const auto& step : steps_)
      if (step.travels) most = std::max<std::size_t>({most, std::size_t(step.n), std::size_t(step.n_sent)});
    parcels_.reserve(3 * most);
  }

  void fetch_built(double* built) override {
    const std::size_t n_all = 3 * std::int64_t{n_all_};
    get(built, built_, n_all);
    space_.fence();
  }

  void freeze(const std::vector<std::int64_t>& ids) override {
    frozen_ = Buffer<std::int64_t>(std::string("resident::frozen_ids"), ids.size());
    Kokkos::deep_copy(frozen_, OnHost<const std::int64_t>(ids.data(), ids.size()));
  }

  void fetch(const FetchedRows& to) override {
    const std::size_t n = 3 * std::int64_t{n_}, n_all = n_all_;
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
  using WideRange = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  template <class T>
  using Buffer = device::Buffer<T, Space>;

  bool makes_ghosts_ = false;
  Space space_;
  int n_ = 0, n_all_ = 0;
  std::vector<GhostPlan::Step> steps_;
  Buffer<double> x_, v_, built_, mass_, fetched_;
  Buffer<Fixed> force_;
  Buffer<int> type_, owner_, shift_, sent_, image_;
  int first_sent_ = 0, n_sent_ = 0;  ///< the last border's part of sent_, while ghosts are made
  Buffer<std::int64_t> id_, frozen_;
  Buffer<char> mark_;  ///< [n_local] frozen
  ParcelBuffers<Space> parcels_;

 private:
  static constexpr double spare = 1.05;
  /// How many numbers of 8 bytes a record makes.
  template <class T>
  static constexpr std::size_t numbers_of = sizeof(T) / 8;
  static_assert(sizeof(AtomRecord) % 8 == 0 && sizeof(BorderAtom) % 8 == 0);

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

  /// Take all data of the local atoms, and `n_rows` rows of the data that ghosts have, too.
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
    PlaceImages place{n_, owner_.data(), shift_.data(), {}, built_.data(), type_.data()};
    std::copy(c.rows.begin(), c.rows.end(), place.cell);
    Kokkos::parallel_for("resident::place_built", Range(space_, 0, n_ghost), place);
    Kokkos::parallel_for("resident::name_images", Range(space_, 0, n_ghost),
                         NameImages{n_, owner_.data(), id_.data()});
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

  /// The first of order_ become the rows of [0, n_rows) that stay, by cell of brick_, by id within a cell.
  void order_by_cells(int n_rows) {
    const int n_cells = brick_.size();
    if (n_cells > most_cells_of_order(n_rows)) return order_by_keys(n_rows);
    make_room<int, Space>(next_, "resident::cell_next", n_cells, spare);
    make_room<int, Space>(order_, "resident::order", n_rows, spare);
    Kokkos::deep_copy(space_, first_of<int>(next_, n_cells), 0);
    IntoCells into{brick_, x_.data(), stays_.data(), next_.data(), nullptr};
    Kokkos::parallel_for("resident::count_in_cells", Range(space_, 0, n_rows), into);
    Kokkos::parallel_scan("resident::scan_cells", Range(space_, 0, n_cells), ScanCounts{next_.data()});
    into.order = order_.data();
    Kokkos::parallel_for("resident::place_in_cells", Range(space_, 0, n_rows), into);
    Kokkos::parallel_for("resident::sort_cells", Range(space_, 0, n_cells),
                         SortById{next_.data(), id_.data(), order_.data()});
  }
  /// Order rows as order_by_cells() does where most cells are empty: a bitonic sort, whose memory and time do
  /// not depend on the size of the box or its fullest cell (Batcher, AFIPS 32, 307, 1968; log n (log n + 1) /
  /// 2 launches).
  void order_by_keys(int n_rows) {
    const auto n = std::bit_ceil(static_cast<std::size_t>(n_rows));
    make_room<int, Space>(next_, "resident::cell_next", n_rows, spare);
    make_room<int, Space>(order_, "resident::order", n, spare);
    Kokkos::parallel_for("resident::name_cells", WideRange(space_, 0, n),
                         NameCells{brick_, x_.data(), stays_.data(), n_rows, next_.data(), order_.data()});
    for (std::int64_t run = 2; run <= static_cast<std::int64_t>(n); run *= 2)
      for (std::int64_t apart = run / 2; apart > 0; apart /= 2)
        Kokkos::parallel_for("resident::sort_keys", WideRange(space_, 0, n / 2),
                             SortPairs{run, apart, n_rows, next_.data(), id_.data(), order_.data()});
  }
  /// The local rows in that order.
  template <class T, int width>
  void gather(const Buffer<T>& rows, Buffer<T>& scratch) {
    const std::size_t n = width * std::int64_t{n_};
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
  [[nodiscard]] int* chosen() const { return sent_.data() + first_sent_; }

  // Of a rebuild.
  Brick brick_{};
  int n_leaving_ = 0;
  Buffer<char> stays_;
  Buffer<int> leaving_;  ///< [n_ranks] how many go to each rank, then where the next one for it is packed
  Buffer<int> order_, next_, int_rows_;
  Buffer<double> real_rows_;
  Buffer<std::int64_t> id_rows_;
};

}  // namespace quintet::device
