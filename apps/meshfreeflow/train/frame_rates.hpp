#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "surrogates/flow/data/dataset.hpp"
#include "surrogates/flow/model/flow_equations.hpp"

/// Equations of volumes that contain d/dt, of which a model that refines each frame by itself knows nothing.
namespace quintet::meshfreeflow {

/// Equations of volumes, apart: those of each frame by itself, and those with dt(FIELD).
struct VolumeEquations {
  flow::EquationOptions still, rated;
};
/// Throws InputError for dt() of anything but a field: that is what frames have.
[[nodiscard]] VolumeEquations apart(const flow::EquationOptions& equations,
                                    const std::vector<std::string>& fields);

/// Ask the middle frames of runs, and some rows of these, whether they obey the equations with d/dt, which is
/// that of the polynomial through five frames. Its error is told by every other frame. Collective. Throws
/// InputError as check_truth() does.
void check_rates(Context& context, const flow::EquationOptions& rated, const flow::FlowDataset& data);

}  // namespace quintet::meshfreeflow
