#include "surrogates/potential/device/potential_device.hpp"

#include "physics/particles/device/resident_kernels.hpp"
#include "surrogates/potential/device/potential_engine.hpp"

namespace quintet::potential {

template class PotentialEngine<Kokkos::DefaultExecutionSpace, float>;
template class PotentialEngine<Kokkos::DefaultExecutionSpace, double>;

namespace {

using Space = Kokkos::DefaultExecutionSpace;

using device::OnHost;

EngineAtoms atoms_of(const ResidentRows& rows) {
  return {rows.n_local, rows.position, rows.type, rows.owner, rows.force, nullptr, nullptr};
}

template <class T>
auto part(const device::Buffer<T, Space>& buffer, std::size_t n) {
  return Kokkos::subview(buffer, Kokkos::make_pair(std::size_t(0), n));
}

template <class Real>
class TypedDevicePotential final : public DevicePotential {
 public:
  explicit TypedDevicePotential(const DeviceModel& model) : engine_(model, space_) {}

  void build(const DeviceAtoms& atoms, double range) override {
    n_local_ = atoms.n_local;
    n_all_ = atoms.n_all;
    const std::size_t n = n_all_;
    device::make_room<double, Space>(position_, "potential::position", 3 * n, 1.05);
    device::make_room<int, Space>(type_, "potential::type", n, 1.05);
    device::make_room<Fixed, Space>(force_, "potential::force", 3 * n, 1.05);
    device::make_room<double, Space>(result_, "potential::result", 3 * n, 1.05);
    put(position_, atoms.position, 3 * n);
    put(type_, atoms.type, n);
    engine_.build(engine_atoms(), n_all_, range);
  }

  DeviceTotals compute(const double* position, double* force, double* atom_energy,
                       double* atom_virial) override {
    const std::size_t n = n_all_;
    put(position_, position, 3 * n);
    Kokkos::deep_copy(space_, part<Fixed>(force_, 3 * n), Fixed(0));
    EngineAtoms atoms = engine_atoms();
    if (atom_energy) {
      device::make_room<double, Space>(atom_energy_, "potential::atom_energy", n_local_, 1.05);
      Kokkos::deep_copy(space_, atom_energy_, 0.0);
      atoms.atom_energy = atom_energy_.data();
    }
    if (atom_virial) {
      device::make_room<Fixed, Space>(atom_virial_, "potential::atom_virial", 9 * n, 1.05);
      device::make_room<double, Space>(result_, "potential::result", 9 * n, 1.05);
      Kokkos::deep_copy(space_, part<Fixed>(atom_virial_, 9 * n), Fixed(0));
      atoms.atom_virial = atom_virial_.data();
    }
    engine_.compute(atoms);
    fetch_fixed(force_, force, 3 * n);
    if (atom_virial) fetch_fixed(atom_virial_, atom_virial, 9 * n);
    if (atom_energy)
      Kokkos::deep_copy(space_, OnHost<double>(atom_energy, n_local_), part<double>(atom_energy_, n_local_));
    return engine_.totals();
  }

  void build(const ResidentRows& rows, double range) override {
    EngineAtoms there = atoms_of(rows);
    there.x = rows.built;
    engine_.build(there, rows.n_all, range);
  }

  DeviceTotals compute(const ResidentRows& rows) override {
    Kokkos::deep_copy(space_,
                      Kokkos::View<Fixed*, Space::memory_space, Kokkos::MemoryUnmanaged>(
                          rows.force, 3 * std::int64_t{rows.n_all}),
                      Fixed(0));
    engine_.compute(atoms_of(rows));
    return engine_.totals();
  }

  void set_chunk(int atoms) override { engine_.set_chunk(atoms); }
  void set_timing(bool on) override { engine_.set_timing(on); }
  std::map<std::string, double> timings() const override { return engine_.timings(); }
  std::string description() const override {
    return std::string("Kokkos ") + Space::name() +
           (sizeof(Real) == 8 ? ", float64" : ", float32 with float64 sums");
  }
  std::array<std::size_t, 2> bytes() const override {
    return {engine_.bytes_resident() + 8 * (position_.extent(0) + force_.extent(0) + result_.extent(0)) +
                4 * type_.extent(0) + 8 * (atom_energy_.extent(0) + atom_virial_.extent(0)),
            engine_.bytes_of_chunks()};
  }

 private:
  template <class T>
  void put(const device::Buffer<T, Space>& to, const T* from, std::size_t n) {
    Kokkos::deep_copy(space_, part<T>(to, n), OnHost<const T>(from, n));
  }
  void fetch_fixed(const device::Buffer<Fixed, Space>& from, double* to, std::size_t n) {
    Kokkos::parallel_for("potential::from_fixed", Kokkos::RangePolicy<Space>(space_, 0, static_cast<int>(n)),
                         device::FixedToDouble{from.data(), result_.data()});
    Kokkos::deep_copy(space_, OnHost<double>(to, n), part<double>(result_, n));
  }
  [[nodiscard]] EngineAtoms engine_atoms() const {
    return {n_local_, position_.data(), type_.data(), nullptr, force_.data(), nullptr, nullptr};
  }

  Space space_;
  PotentialEngine<Space, Real> engine_;
  int n_local_ = 0, n_all_ = 0;
  device::Buffer<double, Space> position_, result_, atom_energy_;
  device::Buffer<int, Space> type_;
  device::Buffer<Fixed, Space> force_, atom_virial_;
};

}  // namespace

}  // namespace quintet::potential

quintet::potential::DevicePotential* quintet_make_device_potential(
    const quintet::potential::DeviceModel& model, bool single) {
  using namespace quintet::potential;
  if (single) return new TypedDevicePotential<float>(model);
  return new TypedDevicePotential<double>(model);
}
