#include "physics/particles/device/resident_atoms.hpp"

#include <algorithm>
#include <cmath>

#include "physics/kernels/device_buffer.hpp"
#include "physics/particles/atoms/units.hpp"
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
auto part(const Buffer<T>& buffer, std::size_t n) {
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
    device::make_room<Fixed, Space>(force_, "resident::force", 3 * n_all, spare);
    steps_ = plan.steps;
    std::size_t most = 0;
    for (const auto& step : steps_)
      if (step.travels) most = std::max<std::size_t>({most, std::size_t(step.n), std::size_t(step.n_sent)});
    for (auto* buffer : {&outgoing_, &incoming_})
      device::make_room<double, Space>(*buffer, "resident::parcel", 3 * most, spare);
    if (!direct_)
      for (auto* buffer : {&staged_out_, &staged_in_})
        if (buffer->extent(0) < 3 * most)
          *buffer = Kokkos::View<double*, Staging>(
              Kokkos::view_alloc(std::string("resident::staged"), Kokkos::WithoutInitializing), 3 * most);
    space_.fence();
    ahead_ = false;
  }

  int take_alone(const HostRows& host, const CellOfAtoms& built) override {
    makes_ghosts_ = true;
    take_rows(host, host.n_local);
    put(image_, "resident::image", host.image, 3 * static_cast<std::size_t>(n_));
    space_.fence();
    return make_ghosts(built);
  }

  int rebuild(const CellOfAtoms& cell) override {
    Kokkos::parallel_for("resident::wrap", Range(space_, 0, n_),
                         device::Wrap{device::image_cell_of(cell), x_.data(), image_.data()});
    const std::size_t n = 3 * static_cast<std::size_t>(n_);
    Kokkos::deep_copy(space_, part<double>(built_, n), part<double>(x_, n));
    return make_ghosts(cell);
  }

  void fetch_built(double* built) override {
    const std::size_t n_all = 3 * static_cast<std::size_t>(n_all_);
    Kokkos::deep_copy(space_, OnHost<double>(built, n_all), part<double>(built_, n_all));
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
    if (n > 0) Kokkos::deep_copy(space_, part<T>(to, n), OnHost<const T>(from, n));
  }
  template <class T>
  void get(T* to, const Buffer<T>& from, std::size_t n) {
    Kokkos::deep_copy(space_, OnHost<T>(to, n), part<T>(from, n));
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
    if (frozen_.extent(0) == 0) return;
    device::make_room<char, Space>(mark_, "resident::frozen", n, spare);
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
    n_all_ = n_ + n_ghost;
    const std::size_t n = n_, n_all = n_all_;
    device::grow<double, Space>(x_, "resident::position", 3 * n_all, 3 * n);
    device::grow<double, Space>(built_, "resident::built", 3 * n_all, 3 * n);
    device::grow<int, Space>(type_, "resident::type", n_all, n);
    device::grow<std::int64_t, Space>(id_, "resident::id", n_all, n);
    device::make_room<int, Space>(owner_, "resident::owner", n_all, spare);
    device::make_room<int, Space>(shift_, "resident::shift", n_all, spare);
    device::make_room<Fixed, Space>(force_, "resident::force", 3 * n_all, spare);
    Kokkos::parallel_for("resident::own_self", Range(space_, 0, n_), device::OwnSelf{owner_.data()});
    Kokkos::parallel_scan("resident::make_ghosts", Range(space_, 0, n_),
                          device::MakeGhosts{cell, n_, built_.data(), owner_.data(), shift_.data()}, n_ghost);
    device::PlaceImages place{n_, owner_.data(), shift_.data(), {}, built_.data(), type_.data()};
    std::copy(c.rows.begin(), c.rows.end(), place.cell);
    Kokkos::parallel_for("resident::place_built", Range(space_, 0, n_ghost), place);
    Kokkos::parallel_for("resident::name_images", Range(space_, 0, n_ghost),
                         device::NameImages{n_, owner_.data(), id_.data()});
    steps_.assign(1, {.first = n_, .n = n_ghost});
    ahead_ = true;
    return n_ghost;
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
  Buffer<std::int64_t> id_, frozen_;
  Buffer<char> mark_;  ///< [n_local] frozen
  Kokkos::View<double*, Staging> staged_out_, staged_in_;
};

}  // namespace
}  // namespace quintet

quintet::ResidentAtoms* quintet_make_resident_atoms(bool direct) {
  return new quintet::ResidentOnSpace(direct);
}
