#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/device/device_tables.hpp"
#include "surrogates/potential/device/potential_device.hpp"
#include "surrogates/potential/model/repulsion/nuclear_pair.hpp"

namespace quintet::potential {

/// A Deep Potential on a device as a force field: of atoms that stay there (Atoms::resident), or of the
/// host's, whose positions go there and whose forces come back at each evaluation. Neighbours are listed on
/// the device, so it needs no list of the host's.
class DeviceForceField final : public ForceField {
 public:
  /// Function that makes the engine: the program's own quintet_make_device_potential, or that of the GPU's
  /// library.
  using Maker = decltype(quintet_make_device_potential)*;
  /// Throws where the device has not that much more memory (bytes) for what is named. Asked by all ranks with
  /// each new list; 0: nothing more is taken.
  using Require = std::function<void(double bytes, const std::string& what)>;
  /// The model, with the repulsion of nuclei added where it is given. Throws InputError for models that no
  /// device engine evaluates, and as nuclear_pairs() does.
  DeviceForceField(Model model, const DeepPotentialOptions& options,
                   const std::optional<RepulsionOptions>& repulsion = {},
                   Maker make = quintet_make_device_potential, Require require = {});

  [[nodiscard]] double cutoff() const override { return model_.cutoff(); }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return model_.type_names; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool needs_list() const override { return false; }
  [[nodiscard]] bool takes_resident() const override { return true; }
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;
  [[nodiscard]] DevicePotential& engine() { return *engine_; }

 private:
  void require_room(const Atoms& atoms, double range, bool by_atom);
  DeviceTotals compute_on_host(const Atoms& atoms, const NeighbourList& list, const ByAtom& by_atom);
  DeviceTotals compute_resident(const Atoms& atoms, const NeighbourList& list);

  Model model_;
  std::optional<RepulsionOptions> repulsion_;
  DeviceModel tables_;
  bool single_;
  Require require_;
  std::unique_ptr<DevicePotential> engine_;
  int promised_ = 0;          ///< atoms and ghosts that the device has room for
  int promised_by_atom_ = 0;  ///< those with an energy and a virial of their own
  /// NeighbourList::version that the device's list belongs to: of atoms that the host has, or that are there.
  std::uint64_t built_ = 0, built_resident_ = 0;
};

}  // namespace quintet::potential
