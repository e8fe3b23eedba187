#pragma once

#include <functional>
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
  /// Throws where the device has not that much memory (bytes) for what is named.
  using Require = std::function<void(double bytes, const std::string& what)>;
  /// Throws InputError for models that no device engine evaluates.
  DeviceForceField(Model model, const DeepPotentialOptions& options,
                   Maker make = quintet_make_device_potential, Require require = {});

  [[nodiscard]] double cutoff() const override { return model_.rcut; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return model_.type_names; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool needs_list() const override { return false; }
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;
  [[nodiscard]] DevicePotential& engine() { return *engine_; }

 private:
  void require_room(const Atoms& atoms, double range);

  Model model_;
  DeviceModel tables_;
  bool single_;
  Require require_;
  std::unique_ptr<DevicePotential> engine_;
  int promised_ = 0;         ///< atoms and ghosts that the device has room for
  std::uint64_t built_ = 0;  ///< NeighbourList::version that the device's list belongs to
};

}  // namespace quintet::potential
