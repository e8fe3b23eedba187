#include "physics/particles/device/resident_atoms.hpp"

#include <algorithm>
#include <cmath>

#include "physics/particles/atoms/units.hpp"
#include "physics/particles/device/resident_rows.hpp"

namespace quintet {
namespace {

using device::Fixed;
/// The value of random_stream::langevin (dynamics_kernels.hpp, which speaks of the host's atoms).
constexpr std::uint32_t langevin_stream = 2;

class ResidentOnSpace final : public device::ResidentRowsOnSpace {
 public:
  using ResidentRowsOnSpace::ResidentRowsOnSpace;

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
    const double* const row = cell.data() + 3 * std::int64_t{s.direction};
    double* const out = parcels_.outgoing(three(s.n_sent));
    Kokkos::parallel_for("resident::pack_positions", Range(space_, 0, s.n_sent),
                         device::PackPositions{x_.data(),
                                               sent_.data() + s.first_sent,
                                               {s.image * row[0], s.image * row[1], s.image * row[2]},
                                               out});
    return parcels_.leave(space_, out, three(s.n_sent), x_.data() + three(s.first), three(s.n));
  }
  void unpack_positions(std::size_t step) override {
    const auto& s = steps_[step];
    parcels_.arrive(space_, x_.data() + three(s.first), three(s.n));
  }

  [[nodiscard]] Parcel pack_forces(std::size_t step) override {
    const auto& s = steps_[step];
    return parcels_.leave(space_, force_.data() + three(s.first), three(s.n),
                          parcels_.incoming(three(s.n_sent)), three(s.n_sent));
  }
  void unpack_forces(std::size_t step) override {
    const auto& s = steps_[step];
    double* const in = parcels_.incoming(three(s.n_sent));
    parcels_.arrive(space_, in, three(s.n_sent));
    Kokkos::parallel_for("resident::add_forces", Range(space_, 0, s.n_sent),
                         device::AddForces{reinterpret_cast<const Fixed*>(in), sent_.data() + s.first_sent,
                                           owner_.data(), force_.data()});
  }

 private:
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
  static std::size_t three(int n) { return 3 * std::int64_t{n}; }
};

}  // namespace
}  // namespace quintet

quintet::ResidentAtoms* quintet_make_resident_atoms(bool direct) {
  return new quintet::ResidentOnSpace(direct);
}
