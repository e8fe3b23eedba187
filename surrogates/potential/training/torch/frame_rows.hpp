#pragma once

#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/training/passes.hpp"
#include "surrogates/potential/training/torch/torch_steps.hpp"

namespace quintet::potential {

/// Rows of a share of a frame's atoms; counts in `scratch` the atoms that overflow sel.
template <class Real>
[[nodiscard]] FrameRows<Real> make_rows(const TrainingFrame& frame, const AtomShare& share,
                                        const Model& model, const Environment& environment,
                                        Environment::Scratch& scratch);

/// Bytes of a centre's rows and of what refers to them, on a device.
template <class Real>
[[nodiscard]] double bytes_of_centre(const Model& model);

}  // namespace quintet::potential
