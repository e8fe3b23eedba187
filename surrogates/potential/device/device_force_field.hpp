#pragma once

#include <memory>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/device/device_tables.hpp"
#include "surrogates/potential/device/potential_device.hpp"

namespace quintet::potential {

/// A Deep Potential on a device as a force field of the host: in each step positions go there and forces come
/// back. Neighbours are listed on the device, so it needs no list of the host's.
class DeviceForceField final : public ForceField {
 public:
  /// What makes the engine: the program's own quintet_make_device_potential, or that of the GPU's library.
  using Maker = decltype(quintet_make_device_potential)*;
  /// Throws InputError for models that no device engine evaluates.
  DeviceForceField(Model model, const DeepPotentialOptions& options,
                   Maker make = quintet_make_device_potential);

  [[nodiscard]] double cutoff() const override { return model_.rcut; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return model_.type_names; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool needs_list() const override { return false; }
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;
  [[nodiscard]] DevicePotential& engine() { return *engine_; }

 private:
  Model model_;
  std::unique_ptr<DevicePotential> engine_;
  std::uint64_t built_ = 0;  ///< NeighbourList::version that the device's list belongs to
};

}  // namespace quintet::potential
