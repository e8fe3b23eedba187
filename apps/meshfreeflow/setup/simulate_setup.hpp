#pragma once

#include <memory>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "io/device/device.hpp"
#include "physics/convection/boussinesq.hpp"

namespace quintet::meshfreeflow {

/// The flows of a run, at rest and without a start. Memory is asked for before anything is allocated.
/// Collective. Throws InputError for what does not fit together.
[[nodiscard]] std::unique_ptr<convection::Boussinesq> make_flow(const Context& context,
                                                                const SimulateOptions& options);

/// What a rank takes to write a frame of so many cells (bytes): its greatest data set, of all flows, on its
/// way to the file, and what HDF5 keeps. Measured: docs/measured.md.
[[nodiscard]] double frame_bytes(double cells, int flows);

/// The equations and walls, and the start, that the options ask for.
[[nodiscard]] convection::Problem make_problem(const SimulateOptions& options);
[[nodiscard]] convection::Start start_of(const SimulateOptions& options);

/// Whether linear equations are solved by transforms along x.
[[nodiscard]] bool by_transform(const SimulateOptions& options);
/// Whether linear equations are solved by multigrid.
[[nodiscard]] bool by_multigrid(const SimulateOptions& options);

/// The device of these flows. Collective. Throws InputError where they cannot be on the one that is asked
/// for.
[[nodiscard]] DeviceSession open_device(Context& context, const SimulateOptions& options);
/// Bytes that the flows take on the session's device; 0 on the cpu.
[[nodiscard]] double device_bytes(const DeviceSession& session, const SimulateOptions& options,
                                  const convection::Boussinesq& flow);
/// Move the flows to the session's device, unless that is the cores. Throws ResourceError if its memory does
/// not suffice.
void move_to(const Context& context, const DeviceSession& session, const SimulateOptions& options,
             convection::Boussinesq& flow);

/// "Ra 1e+06, Pr 1, 128 x 64 cells on 4 x 1, no-slip plates, periodic sides".
[[nodiscard]] std::string description(const SimulateOptions& options);

}  // namespace quintet::meshfreeflow
