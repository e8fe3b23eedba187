#pragma once

#include <memory>
#include <string>

#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::bridges {

/// What evaluates the potentials of a handle: the cores of this process, or a device.
///
/// The first handle on a GPU starts it; it stays with this process until that ends, as kernels.hpp says of
/// Kokkos. Made one at a time, with start_kernels() done.
class Evaluator {
 public:
  /// @param device "cpu", "gpu" (of the GPUs seen, the one of this process's rank on its node, as a launcher
  /// tells), "gpu:N" (the one of this number), "auto" (gpu where one can be used, else cpu) or "portable"
  /// (the GPU's algorithms on the host's cores). Throws InputError for another word or number, ResourceError
  /// where there is no GPU or this process computes on another one already.
  explicit Evaluator(const std::string& device);

  /// A model as a force field there. Throws InputError for a model that no device evaluates.
  [[nodiscard]] std::unique_ptr<ForceField> make(potential::Model model,
                                                 const potential::DeepPotentialOptions& options) const;
  /// Whether a device lists neighbours and evaluates.
  [[nodiscard]] bool is_device() const { return make_engine_ != nullptr; }
  /// "cpu", or what the device is.
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  potential::DeviceForceField::Maker make_engine_ = nullptr;
  bool is_gpu_ = false;
  std::string description_ = "cpu";
};

}  // namespace quintet::bridges
