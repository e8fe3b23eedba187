#include "surrogates/potential/device/dynamics_device.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "physics/particles/atoms/units.hpp"
#include "surrogates/potential/device/dynamics_kernels_device.hpp"
#include "surrogates/potential/device/potential_engine.hpp"

namespace quintet::potential {

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space>;
/// Of random_stream::langevin (dynamics_kernels.hpp, which speaks of the host's atoms).
constexpr std::uint32_t langevin_stream = 2;

template <class T>
std::vector<T> download(const device::Buffer<T, Space>& buffer, std::size_t n) {
  std::vector<T> values(n);
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), n),
      Kokkos::subview(buffer, Kokkos::make_pair(std::size_t(0), n)));
  return values;
}

template <class Real>
class TypedDeviceDynamics final : public DeviceDynamics {
 public:
  TypedDeviceDynamics(const DeviceModel& model, const DeviceDynamicsOptions& options)
      : model_(model), options_(options), engine_(model, space_) {}

  void set(const DeviceSystem& system) override {
    given_ = system;
    n_ = static_cast<int>(system.type.size());
    x_ = upload<Space>("dynamics::position", system.position);
    v_ = upload<Space>("dynamics::velocity", system.velocity);
    type_ = upload<Space>("dynamics::type", system.type);
    id_ = upload<Space>("dynamics::id", system.id);
    image_ = system.image.empty()
                 ? device::Buffer<int, Space>("dynamics::image", 3 * static_cast<std::size_t>(n_))
                 : upload<Space>("dynamics::image", system.image);
    mass_ = upload<Space>("dynamics::mass", system.mass);
    std::vector<double> acceleration;
    for (const double m : system.mass) acceleration.push_back(units::force_to_acceleration / m);
    acceleration_ = upload<Space>("dynamics::acceleration", acceleration);
    built_ = device::Buffer<double, Space>("dynamics::built", 3 * static_cast<std::size_t>(n_));
    force_ = device::Buffer<Fixed, Space>("dynamics::force", 3 * static_cast<std::size_t>(n_));
    set_cell(system);
    // No longer than they must be: these copies are as large as the atoms on the device.
    given_.position.clear();
    given_.velocity.clear();
    rebuild();
    compute_forces();
    heat_ = 0;
  }

  void advance(std::int64_t first, std::int64_t n) override {
    for (std::int64_t step = first; step < first + n; ++step) {
      const bool bath = options_.friction > 0;
      {
        typename PotentialEngine<Space, Real>::Clock clock(engine_, "integrate");
        half_step(true);
        if (bath) add_noise(step);
        Kokkos::parallel_for("dynamics::drift", Range(space_, 0, 3 * n_),
                             Drift{x_.data(), v_.data(), 0.5 * options_.dt});
      }
      if (has_moved_too_far()) {
        rebuild();
      } else {
        typename PotentialEngine<Space, Real>::Clock clock(engine_, "ghosts");
        place_ghosts(nullptr);
      }
      compute_forces();
      typename PotentialEngine<Space, Real>::Clock clock(engine_, "integrate");
      half_step(false);
    }
  }

  DeviceSample sample() override {
    const DeviceTotals totals = engine_.totals();
    DeviceSample s;
    s.potential = totals.energy;
    s.virial = totals.virial;
    s.overflowing = totals.overflowing;
    s.too_close = totals.too_close;
    s.too_strong = totals.too_strong;
    Kokkos::parallel_reduce("dynamics::kinetic", Range(space_, 0, n_),
                            Kinetic{v_.data(), type_.data(), mass_.data()}, s.kinetic);
    s.kinetic *= units::mv2_to_ev;
    s.bath = -heat_ * units::mv2_to_ev;
    s.rebuilds = rebuilds_;
    return s;
  }

  DeviceSystem fetch() const override {
    DeviceSystem system = given_;
    const std::size_t n = 3 * static_cast<std::size_t>(n_);
    system.position = download<double>(x_, n);
    system.velocity = download<double>(v_, n);
    system.image = download<int>(image_, n);
    return system;
  }
  std::vector<double> forces() const override {
    std::vector<double> result;
    for (const Fixed f : download<Fixed>(force_, 3 * static_cast<std::size_t>(n_)))
      result.push_back(from_fixed(f));
    return result;
  }

  void set_chunk(int atoms) override { engine_.set_chunk(atoms); }
  void set_timing(bool on) override {
    engine_.set_timing(on);
    engine_.clear_timings();
  }
  std::map<std::string, double> timings() const override { return engine_.timings(); }
  std::array<std::size_t, 2> bytes() const override {
    return {engine_.bytes_resident() +
                8 * (x_.extent(0) + v_.extent(0) + built_.extent(0) + force_.extent(0) + id_.extent(0)) +
                4 * (type_.extent(0) + image_.extent(0) + owner_.extent(0) + shift_.extent(0)),
            engine_.bytes_of_chunks()};
  }
  std::int64_t n_ghosts() const override { return n_ghost_; }
  double listed_per_atom() const override { return static_cast<double>(engine_.neighbours().total()) / n_; }
  std::string description() const override {
    return std::string("Kokkos ") + Space::name() +
           (sizeof(Real) == 8 ? ", float64" : ", float32 with float64 sums") + ", atoms stay on the device";
  }

 private:
  void set_cell(const DeviceSystem& system) {
    cell_ = device::image_cell_of(
        {system.rows, system.inverse, system.origin, system.periodic, model_.rcut + options_.skin});
    for (int k = 0; k < 3; ++k)
      if (cell_.periodic[k] && cell_.margin[k] > 60)
        throw std::runtime_error("the cell is too small: fewer than 60 images must reach cutoff + skin");
  }

  void half_step(bool first) {
    Kokkos::parallel_for("dynamics::half_step", Range(space_, 0, n_),
                         HalfStep{x_.data(), v_.data(), force_.data(), type_.data(), acceleration_.data(),
                                  options_.dt, first});
  }

  void add_noise(std::int64_t step) {
    const double c = std::exp(-options_.friction * options_.dt);
    const double variance =
        -std::expm1(-2 * options_.friction * options_.dt) * options_.kt / units::mv2_to_ev;
    double heat = 0;
    Kokkos::parallel_reduce("dynamics::noise", Range(space_, 0, n_),
                            HeatingNoise{{v_.data(), type_.data(), id_.data(), mass_.data(), c, variance,
                                          options_.seed, langevin_stream, step}},
                            heat);
    heat_ += heat;
  }

  bool has_moved_too_far() {
    typename PotentialEngine<Space, Real>::Clock clock(engine_, "moved");
    double squared = 0;
    Kokkos::parallel_reduce("dynamics::moved", Range(space_, 0, n_), Moved{x_.data(), built_.data()},
                            Kokkos::Max<double>(squared));
    return 2 * std::sqrt(squared) > options_.skin;
  }

  void rebuild() {
    {
      typename PotentialEngine<Space, Real>::Clock clock(engine_, "make_ghosts");
      Kokkos::parallel_for("dynamics::wrap", Range(space_, 0, n_), Wrap{cell_, x_.data(), image_.data()});
      int n_ghost = 0;
      Kokkos::parallel_scan("dynamics::count_ghosts", Range(space_, 0, n_),
                            MakeGhosts{cell_, n_, x_.data(), nullptr, nullptr}, n_ghost);
      space_.fence();
      n_ghost_ = n_ghost;
      const std::size_t n = n_, n_all = n + n_ghost_;
      device::grow<double, Space>(x_, "dynamics::position", 3 * n_all, 3 * n);
      device::grow<int, Space>(type_, "dynamics::type", n_all, n);
      device::make_room<int, Space>(owner_, "dynamics::owner", n_all, 1.05);
      device::make_room<int, Space>(shift_, "dynamics::shift", n_all, 1.05);
      Kokkos::parallel_for("dynamics::own_self", Range(space_, 0, n_), OwnSelf{owner_.data()});
      Kokkos::parallel_scan("dynamics::make_ghosts", Range(space_, 0, n_),
                            MakeGhosts{cell_, n_, x_.data(), owner_.data(), shift_.data()}, n_ghost);
      place_ghosts(type_.data());
      const auto locals = Kokkos::make_pair(std::size_t(0), 3 * n);
      Kokkos::deep_copy(space_, Kokkos::subview(built_, locals), Kokkos::subview(x_, locals));
    }
    engine_.build(engine_atoms(), n_ + n_ghost_, model_.rcut + options_.skin);
    ++rebuilds_;
  }

  void place_ghosts(int* type) {
    PlaceImages kernel{n_, owner_.data(), shift_.data(), {}, x_.data(), type};
    std::copy(std::begin(cell_.rows), std::end(cell_.rows), kernel.cell);
    Kokkos::parallel_for("dynamics::place_ghosts", Range(space_, 0, n_ghost_), kernel);
  }

  void compute_forces() {
    Kokkos::deep_copy(space_, force_, Fixed(0));
    engine_.compute(engine_atoms());
  }

  [[nodiscard]] EngineAtoms engine_atoms() const {
    return {n_, x_.data(), type_.data(), owner_.data(), force_.data(), nullptr, nullptr};
  }

  DeviceModel model_;
  DeviceDynamicsOptions options_;
  Space space_;
  PotentialEngine<Space, Real> engine_;
  DeviceSystem given_;
  ImageCell cell_{};
  int n_ = 0, n_ghost_ = 0;
  std::int64_t rebuilds_ = 0;
  double heat_ = 0;  ///< that the bath has given (amu (angstrom/ps)^2)
  device::Buffer<double, Space> x_, v_, built_, mass_, acceleration_;
  device::Buffer<int, Space> type_, image_, owner_, shift_;
  device::Buffer<std::int64_t, Space> id_;
  device::Buffer<Fixed, Space> force_;
};

}  // namespace

}  // namespace quintet::potential

quintet::potential::DeviceDynamics* quintet_make_device_dynamics(
    const quintet::potential::DeviceModel& model, bool single,
    const quintet::potential::DeviceDynamicsOptions& options) {
  using namespace quintet::potential;
  if (single) return new TypedDeviceDynamics<float>(model, options);
  return new TypedDeviceDynamics<double>(model, options);
}
