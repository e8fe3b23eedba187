#include "physics/particles/device/resident_atoms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "physics/kernels/device_buffer.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/device/migration_kernels.hpp"
#include "physics/particles/device/resident_kernels.hpp"

namespace quintet {
namespace {

using device::Fixed;
using device::OnHost;
using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space>;
template <class T>
using Buffer = device::Buffer<T, Space>;
#ifdef KOKKOS_ENABLE_CUDA
using Staging = Kokkos::CudaHostPinnedSpace;
#else
using Staging = Kokkos::HostSpace;
#endif
/// Of random_stream::langevin (dynamics_kernels.hpp, which speaks of the host's atoms).
constexpr std::uint32_t langevin_stream = 2;
constexpr double spare = 1.05;

template <class T>
auto first_of(const Buffer<T>& buffer, std::size_t n) {
  return Kokkos::subview(buffer, Kokkos::make_pair(std::size_t(0), n));
}

class ResidentOnSpace final : public ResidentAtoms {
 public:
  explicit ResidentOnSpace(bool direct) : direct_(direct) {}

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
    device::make_room<char, Space>(stays_, "resident::stays", n_, spare);
    device::make_room<int, Space>(order_, "resident::order", n_, spare);
    int n_leaving = 0;
    Kokkos::parallel_scan("resident::part", Range(space_, 0, n_),
                          device::PartRows{brick_of(cell, b), x_.data(), stays_.data(), order_.data()},
                          n_leaving);
    space_.fence();
    return packed<AtomRecord>(records_, "resident::records", n_leaving, [&](AtomRecord* out) {
      return device::PackRecords{order_.data(), x_.data(),  v_.data(), image_.data(),
                                 type_.data(),  id_.data(), out};
    });
  }

  [[nodiscard]] int settle(const std::vector<AtomRecord>& arrived, const CellOfAtoms& cell,
                           const BrickOfAtoms& b) override {
    const int n_arrived = static_cast<int>(arrived.size()), n_rows = n_ + n_arrived;
    const std::size_t n = n_, rows = n_rows;
    device::grow<double, Space>(x_, "resident::position", 3 * rows, 3 * n);
    device::grow<double, Space>(v_, "resident::velocity", 3 * rows, 3 * n);
    device::grow<int, Space>(image_, "resident::image", 3 * rows, 3 * n);
    device::grow<int, Space>(type_, "resident::type", rows, n);
    device::grow<std::int64_t, Space>(id_, "resident::id", rows, n);
    device::grow<char, Space>(stays_, "resident::stays", rows, n);
    put(records_, "resident::records", arrived.data(), arrived.size());
    Kokkos::parallel_for("resident::unpack_records", Range(space_, 0, n_arrived),
                         device::UnpackRecords{records_.data(), n_, x_.data(), v_.data(), image_.data(),
                                               type_.data(), id_.data(), stays_.data()});
    n_ = order_by_cells(brick_of(cell, b), n_rows);
    gather<double, 3>(x_, real_rows_);
    gather<double, 3>(v_, real_rows_);
    gather<int, 3>(image_, int_rows_);
    gather<int, 1>(type_, int_rows_);
    gather<std::int64_t, 1>(id_, id_rows_);
    device::make_room<double, Space>(built_, "resident::built", 3 * static_cast<std::size_t>(n_), spare);
    copy(built_, x_, 3 * static_cast<std::size_t>(n_));
    mark_frozen();
    forget_ghosts();
    return n_;
  }

  [[nodiscard]] int select_border(const CellOfAtoms& built, const BrickFace& face, int first,
                                  int last) override {
    first_sent_ += n_sent_;
    n_sent_ = 0;
    device::grow<int, Space>(sent_, "resident::sent", std::size_t(first_sent_) + (last - first), first_sent_);
    Kokkos::parallel_scan("resident::select_border", Range(space_, 0, last - first),
                          device::SelectBorder{device::image_cell_of(built), face.direction, face.side,
                                               face.at, face.reach, first, built_.data(), chosen()},
                          n_sent_);
    space_.fence();
    return n_sent_;
  }

  void image_border(const CellOfAtoms& built, int direction, int image) override {
    const int first = grow_ghosts(n_sent_);
    Kokkos::parallel_for(
        "resident::image_border", Range(space_, 0, n_sent_),
        device::ImageBorder{chosen(), first, direction, image, owner_.data(), shift_.data()});
    complete_images(built, first, n_sent_);
  }

  [[nodiscard]] std::vector<BorderAtom> border(const std::array<double, 3>& shift) override {
    return packed<BorderAtom>(border_, "resident::border", n_sent_, [&](BorderAtom* out) {
      return device::PackBorder{
          chosen(), built_.data(), id_.data(), type_.data(), {shift[0], shift[1], shift[2]}, out};
    });
  }

  void append_border(const std::vector<BorderAtom>& ghosts) override {
    const int n = static_cast<int>(ghosts.size()), first = grow_ghosts(n);
    put(border_, "resident::border", ghosts.data(), ghosts.size());
    Kokkos::parallel_for("resident::unpack_border", Range(space_, 0, n),
                         device::UnpackBorder{border_.data(), first, built_.data(), id_.data(), type_.data(),
                                              owner_.data(), shift_.data()});
    space_.fence();
  }

  void set_steps(const std::vector<GhostPlan::Step>& steps) override {
    const std::size_t n_all = n_all_;
    device::grow<double, Space>(x_, "resident::position", 3 * n_all, 3 * static_cast<std::size_t>(n_));
    device::make_room<Fixed, Space>(force_, "resident::force", 3 * n_all, spare);
    steps_ = steps;
    std::size_t most = 0;
    for (const auto& step : steps_)
      if (step.travels) most = std::max<std::size_t>({most, std::size_t(step.n), std::size_t(step.n_sent)});
    for (auto* buffer : {&outgoing_, &incoming_})
      device::make_room<double, Space>(*buffer, "resident::parcel", 3 * most, spare);
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
    device::make_room<double, Space>(fetched_, "resident::fetched", n, spare);
    Kokkos::parallel_for("resident::from_fixed", Range(space_, 0, 3 * n_),
                         device::FixedToDouble{force_.data(), fetched_.data()});
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

  void kick(double dt) override {
    over_atoms("resident::kick", device::Kick{v_.data(), force_.data(), type_.data(), mass_.data(),
                                              dt * units::force_to_acceleration});
  }
  void drift(double dt) override {
    Kokkos::parallel_for("resident::drift", Range(space_, 0, 3 * n_),
                         device::Drift{x_.data(), v_.data(), dt});
    ahead_ = true;
  }
  void transform_velocities(const std::array<double, 9>& m) override {
    device::TransformRow kernel{v_.data(), {}};
    std::copy(m.begin(), m.end(), kernel.m);
    over_atoms("resident::transform_velocities", kernel);
  }
  void shift_velocities(const std::array<double, 3>& shift) override {
    over_atoms("resident::shift_velocities", device::ShiftRow{v_.data(), {shift[0], shift[1], shift[2]}});
  }
  void deform(const std::array<double, 9>& d) override {
    device::TransformRow kernel{x_.data(), {}};
    std::copy(d.begin(), d.end(), kernel.m);
    Kokkos::parallel_for("resident::deform", Range(space_, 0, n_all_), kernel);
    ahead_ = true;
  }
  void ornstein_uhlenbeck(double friction, double dt, double kt, std::uint64_t seed,
                          std::int64_t step) override {
    over_atoms(
        "resident::noise",
        device::Noise{v_.data(), type_.data(), id_.data(), mass_.data(), std::exp(-friction * dt),
                      -std::expm1(-2 * friction * dt) * kt / units::mv2_to_ev, seed, langevin_stream, step});
  }
  void mix_velocities(double mixing, double ratio) override {
    Kokkos::parallel_for("resident::mix_velocities", Range(space_, 0, 3 * n_),
                         device::MixVelocities{v_.data(), force_.data(), mixing, ratio});
    ahead_ = true;
  }
  void hold_velocities() override { hold<double>(v_); }
  void hold_forces() override { hold<Fixed>(force_); }

  [[nodiscard]] double kinetic_energy() override {
    double sum = 0;
    Kokkos::parallel_reduce("resident::kinetic_energy", Range(space_, 0, n_),
                            device::Kinetic{v_.data(), type_.data(), mass_.data()}, sum);
    return sum * units::mv2_to_ev;
  }
  [[nodiscard]] std::array<double, 6> kinetic_tensor() override {
    auto tensor = sums<6>("resident::kinetic_tensor",
                          device::KineticTensor{6, v_.data(), type_.data(), mass_.data()}, n_);
    for (double& component : tensor) component *= units::mv2_to_ev;
    return tensor;
  }
  [[nodiscard]] std::array<double, 4> momentum_and_mass() override {
    return sums<4>("resident::momentum", device::Momentum{4, v_.data(), type_.data(), mass_.data()}, n_);
  }
  [[nodiscard]] std::array<double, 3> force_velocity_products() override {
    return sums<3>("resident::force_velocity_products",
                   device::ForceVelocityProducts{3, v_.data(), force_.data()}, 3 * n_);
  }
  [[nodiscard]] double largest_force_squared() override {
    return largest("resident::largest_force", device::LargestSquared<Fixed>{force_.data()});
  }
  [[nodiscard]] double largest_velocity_squared() override {
    return largest("resident::largest_velocity", device::LargestSquared<double>{v_.data()});
  }
  [[nodiscard]] double largest_displacement_squared(const std::array<double, 3>& from,
                                                    const std::array<double, 3>& to,
                                                    const std::array<double, 9>& map) override {
    device::Displacement kernel{x_.data(), built_.data(), {}, {}, {}};
    std::copy(from.begin(), from.end(), kernel.from);
    std::copy(to.begin(), to.end(), kernel.to);
    std::copy(map.begin(), map.end(), kernel.map);
    return largest("resident::largest_displacement", kernel);
  }

  void place_images(std::size_t step, const std::array<double, 9>& cell) override {
    const auto& s = steps_[step];
    device::PlaceImages kernel{s.first, owner_.data(), shift_.data(), {}, x_.data(), nullptr};
    std::copy(cell.begin(), cell.end(), kernel.cell);
    Kokkos::parallel_for("resident::place_images", Range(space_, 0, s.n), kernel);
  }

  [[nodiscard]] Parcel pack_positions(std::size_t step, const std::array<double, 9>& cell) override {
    const auto& s = steps_[step];
    const double* const row = cell.data() + 3 * static_cast<std::ptrdiff_t>(s.direction);
    Kokkos::parallel_for("resident::pack_positions", Range(space_, 0, s.n_sent),
                         device::PackPositions{x_.data(),
                                               sent_.data() + s.first_sent,
                                               {s.image * row[0], s.image * row[1], s.image * row[2]},
                                               outgoing_.data()});
    return parcel(outgoing_.data(), 3 * static_cast<std::size_t>(s.n_sent), x_.data() + place_of(s));
  }
  void unpack_positions(std::size_t step) override {
    const auto& s = steps_[step];
    if (!direct_) unstage(x_.data() + place_of(s), 3 * static_cast<std::size_t>(s.n));
  }

  [[nodiscard]] Parcel pack_forces(std::size_t step) override {
    const auto& s = steps_[step];
    return parcel(force_.data() + place_of(s), 3 * static_cast<std::size_t>(s.n), incoming_.data());
  }
  void unpack_forces(std::size_t step) override {
    const auto& s = steps_[step];
    if (!direct_) unstage(incoming_.data(), 3 * static_cast<std::size_t>(s.n_sent));
    Kokkos::parallel_for("resident::add_forces", Range(space_, 0, s.n_sent),
                         device::AddForces{reinterpret_cast<const Fixed*>(incoming_.data()),
                                           sent_.data() + s.first_sent, owner_.data(), force_.data()});
  }

 private:
  template <class T>
  void put(Buffer<T>& to, const char* label, const T* from, std::size_t n) {
    device::make_room<T, Space>(to, label, n, spare);
    if (n > 0) Kokkos::deep_copy(space_, first_of<T>(to, n), OnHost<const T>(from, n));
  }
  template <class T>
  void get(T* to, const Buffer<T>& from, std::size_t n) {
    Kokkos::deep_copy(space_, OnHost<T>(to, n), first_of<T>(from, n));
  }

  /// All of the local atoms, and `n_built` rows of what ghosts have, too.
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
    device::make_room<char, Space>(mark_, "resident::frozen", n_, spare);
    Kokkos::parallel_for(
        "resident::mark_frozen", Range(space_, 0, n_),
        device::MarkFrozen{id_.data(), frozen_.data(), static_cast<int>(frozen_.extent(0)), mark_.data()});
  }

  /// Ghosts of where the local atoms were; x of ghosts is left to place_images().
  int make_ghosts(const CellOfAtoms& c) {
    const device::ImageCell cell = device::image_cell_of(c);
    int n_ghost = 0;
    Kokkos::parallel_scan("resident::count_ghosts", Range(space_, 0, n_),
                          device::MakeGhosts{cell, n_, built_.data(), nullptr, nullptr}, n_ghost);
    space_.fence();
    forget_ghosts();
    grow_ghosts(n_ghost);
    Kokkos::parallel_scan("resident::make_ghosts", Range(space_, 0, n_),
                          device::MakeGhosts{cell, n_, built_.data(), owner_.data(), shift_.data()}, n_ghost);
    complete_images(c, n_, n_ghost);
    set_steps({{.first = n_, .n = n_ghost}});
    ahead_ = true;
    return n_ghost;
  }

  void wrap(const CellOfAtoms& cell) {
    Kokkos::parallel_for("resident::wrap", Range(space_, 0, n_),
                         device::Wrap{device::image_cell_of(cell), x_.data(), image_.data()});
    ahead_ = true;
  }
  void copy(const Buffer<double>& to, const Buffer<double>& from, std::size_t n) {
    Kokkos::deep_copy(space_, first_of<double>(to, n), first_of<double>(from, n));
  }

  /// order_ becomes the rows of [0, n_rows) that stay, by cell. Returns their number.
  int order_by_cells(const device::Brick& brick, int n_rows) {
    const int n_cells = brick.size();
    device::make_room<int, Space>(next_, "resident::cell_next", n_cells, spare);
    device::make_room<int, Space>(order_, "resident::order", n_rows, spare);
    Kokkos::deep_copy(space_, next_, 0);
    device::IntoCells into{brick, x_.data(), stays_.data(), next_.data(), nullptr};
    Kokkos::parallel_for("resident::count_in_cells", Range(space_, 0, n_rows), into);
    int n = 0;
    Kokkos::parallel_scan("resident::scan_cells", Range(space_, 0, n_cells), device::ScanCounts{next_.data()},
                          n);
    into.order = order_.data();
    Kokkos::parallel_for("resident::place_in_cells", Range(space_, 0, n_rows), into);
    Kokkos::parallel_for("resident::sort_cells", Range(space_, 0, n_cells),
                         device::SortById{next_.data(), id_.data(), order_.data()});
    space_.fence();
    return n;
  }
  /// The local rows in that order.
  template <class T, int width>
  void gather(const Buffer<T>& rows, Buffer<T>& scratch) {
    const std::size_t n = width * static_cast<std::size_t>(n_);
    device::make_room<T, Space>(scratch, "resident::gathered", n, spare);
    Kokkos::parallel_for("resident::gather_rows", Range(space_, 0, n_),
                         device::GatherRows<T, width>{rows.data(), order_.data(), scratch.data()});
    Kokkos::deep_copy(space_, first_of<T>(rows, n), first_of<T>(scratch, n));
  }
  static device::Brick brick_of(const CellOfAtoms& cell, const BrickOfAtoms& b) {
    device::Brick brick{device::image_cell_of(cell), {}, b.rank, {}, {}, {}, {}};
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
    device::make_room<int, Space>(owner_, "resident::owner", n_, spare);
    device::make_room<int, Space>(shift_, "resident::shift", n_, spare);
    Kokkos::parallel_for("resident::own_self", Range(space_, 0, n_),
                         device::OwnSelf{owner_.data(), shift_.data()});
    ahead_ = true;
  }
  /// Room for n ghosts more; returns the first one's row. x and forces are left to set_steps().
  int grow_ghosts(int n) {
    const std::size_t before = n_all_, n_all = before + n;
    device::grow<double, Space>(built_, "resident::built", 3 * n_all, 3 * before);
    device::grow<int, Space>(type_, "resident::type", n_all, before);
    device::grow<std::int64_t, Space>(id_, "resident::id", n_all, before);
    device::grow<int, Space>(owner_, "resident::owner", n_all, before);
    device::grow<int, Space>(shift_, "resident::shift", n_all, before);
    return std::exchange(n_all_, static_cast<int>(n_all));
  }
  /// Images whose owners and shifts are known.
  void complete_images(const CellOfAtoms& built, int first, int n) {
    device::PlaceImages place{first, owner_.data(), shift_.data(), {}, built_.data(), type_.data()};
    std::copy(built.rows.begin(), built.rows.end(), place.cell);
    Kokkos::parallel_for("resident::place_built", Range(space_, 0, n), place);
    Kokkos::parallel_for("resident::name_images", Range(space_, 0, n),
                         device::NameImages{first, owner_.data(), id_.data()});
  }
  [[nodiscard]] int* chosen() const { return sent_.data() + first_sent_; }
  /// n records of what `kernel(out)` packs, on the host.
  template <class T, class MakeKernel>
  std::vector<T> packed(Buffer<T>& buffer, const char* label, int n, const MakeKernel& kernel) {
    device::make_room<T, Space>(buffer, label, n, spare);
    Kokkos::parallel_for(label, Range(space_, 0, n), kernel(buffer.data()));
    std::vector<T> records(n);
    if (n > 0) get(records.data(), buffer, n);
    space_.fence();
    return records;
  }

  template <class Kernel>
  void over_atoms(const char* label, const Kernel& kernel) {
    Kokkos::parallel_for(label, Range(space_, 0, n_), kernel);
    ahead_ = true;
  }
  template <std::size_t N, class Kernel>
  std::array<double, N> sums(const char* label, const Kernel& kernel, int n) {
    std::array<double, N> result{};
    Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> on_host(result.data(), N);
    Kokkos::parallel_reduce(label, Range(space_, 0, n), kernel, on_host);
    space_.fence();
    return result;
  }
  template <class Kernel>
  double largest(const char* label, const Kernel& kernel) {
    double most = 0;
    Kokkos::parallel_reduce(label, Range(space_, 0, n_), kernel, Kokkos::Max<double>(most));
    return std::max(most, 0.0);  // of no atoms: minus infinity
  }
  template <class T>
  void hold(const Buffer<T>& rows) {
    if (frozen_.extent(0) > 0) over_atoms("resident::hold", device::HoldRow<T>{mark_.data(), rows.data()});
  }
  static std::size_t place_of(const GhostPlan::Step& s) { return 3 * static_cast<std::size_t>(s.first); }

  /// Numbers of 8 bytes at `from` go out, what comes in goes to `to` (see unstage()).
  Parcel parcel(const void* from, std::size_t n, void* to) {
    if (!direct_)
      Kokkos::deep_copy(space_,
                        Kokkos::View<double*, Staging, Kokkos::MemoryUnmanaged>(staged_out_.data(), n),
                        Kokkos::View<const double*, Space::memory_space, Kokkos::MemoryUnmanaged>(
                            static_cast<const double*>(from), n));
    space_.fence();
    if (direct_) return {from, to};
    return {staged_out_.data(), staged_in_.data()};
  }
  void unstage(void* to, std::size_t n) {
    Kokkos::deep_copy(
        space_,
        Kokkos::View<double*, Space::memory_space, Kokkos::MemoryUnmanaged>(static_cast<double*>(to), n),
        Kokkos::View<const double*, Staging, Kokkos::MemoryUnmanaged>(staged_in_.data(), n));
  }

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
  // Of a rebuild.
  Buffer<char> stays_;
  Buffer<int> order_, next_, int_rows_;
  Buffer<double> real_rows_;
  Buffer<std::int64_t> id_rows_;
  Buffer<AtomRecord> records_;
  Buffer<BorderAtom> border_;
  Kokkos::View<double*, Staging> staged_out_, staged_in_;
};

}  // namespace
}  // namespace quintet

quintet::ResidentAtoms* quintet_make_resident_atoms(bool direct) {
  return new quintet::ResidentOnSpace(direct);
}
