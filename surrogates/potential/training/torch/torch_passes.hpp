#pragma once

#include <memory>

#include "surrogates/potential/model/parameters.hpp"
#include "surrogates/potential/training/passes.hpp"
#include "surrogates/potential/training/torch/torch_steps.hpp"
#include "surrogates/potential/training/trainer.hpp"

namespace quintet::potential {

/// A training's steps by LibTorch on a device, frames of a batch together. Environments are the kernels' own,
/// made on the host and kept there. Throws InputError where the program was built without LibTorch.
/// @param values,gradient of the training in the device's memory [n_parameters]: used where they are, so that
/// neither travels; null: they are the host's, and go there and come back
template <class Real>
[[nodiscard]] std::unique_ptr<Passes<Real>> make_torch_passes(const Model& start,
                                                              const ParameterLayout& places, SelRule rule,
                                                              const TrainingDevice& device,
                                                              Real* values = nullptr,
                                                              Real* gradient = nullptr);

/// device_with_torch() of it. Without LibTorch automatic is the cpu. Errors: InputError for another device
/// there.
[[nodiscard]] Device device_for_training(Device wanted);

/// Bytes that LibTorch takes on the device for a step of so many frames on this rank, which keeps what its
/// backward passes need, and for parameters that are not there anyway (`is_resident`); roughly, from above.
[[nodiscard]] double bytes_of_torch_step(const Model& model, int n_frames, std::size_t atoms_a_frame,
                                         bool is_resident);
/// Memory for recorded steps (TorchSteps; bytes): rows of a batch for each shape; on a GPU the arrays of a
/// step once more, which lie in a pool of the recordings alone.
/// @param n_sharers ranks that share the atoms of a frame
[[nodiscard]] double bytes_of_recordings(const Model& model, int n_frames, std::size_t atoms_a_frame,
                                         int n_sharers, Device device);
/// Memory for a frame that stays there (bytes).
[[nodiscard]] double bytes_of_kept_frame(const Model& model, std::size_t atoms);

[[nodiscard]] NetworkShapes shapes_of(const Model& model, const ParameterLayout& places);

}  // namespace quintet::potential
