#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/input/formulas.hpp"
#include "apps/vlasov/input/run_options.hpp"
#include "io/device/device.hpp"
#include "physics/kinetics/system.hpp"

namespace quintet::vlasov {

/// A wave exp(i k.x) whose signed amplitude the history keeps, for the rates of a theory.
struct WaveSignal {
  std::array<double, 3> k{};
  std::array<double, 6> weight{};  ///< of Ex ... Bz in the field
  std::string component;           ///< what that is: ex ... bz, or ek for E along k
};

/// The options with all formulas read and all numbers known: what a VlasovSystem is made of.
struct Setup {
  Formulas formulas;
  kinetics::PhaseBasis basis;
  std::vector<kinetics::Species> species;
  kinetics::Decomposition decomposition;
  kinetics::SystemOptions system;
  double end = 0;                  ///< time
  std::optional<double> fixed_dt;  ///< the time step, unless the largest stable one is taken
  double frame_interval = 0;       ///< time between frames; 0: none between the first and the last
  std::vector<bool> has_source;    ///< of each species
  std::optional<WaveSignal> wave;  ///< of the theory, if there is one of a field
};

/// Throws InputError for whatever in the options does not fit together; nothing large is allocated.
/// Collective.
[[nodiscard]] Setup make_setup(const Comm& comm, const RunOptions& options);

/// The device of a run, which setup.system then takes its engines from. Throws InputError where it cannot do
/// what the run asks for; with `automatic` that is left to the host. Collective.
[[nodiscard]] DeviceSession open_device(Context& context, Device wanted, Setup& setup);
/// setup.system takes its engines from a session that is open.
void use_device(const DeviceSession& session, Setup& setup);

/// Bytes a rank needs of its own memory. Throws InputError, before anything is allocated, if they are more
/// than there are. Collective.
double require_room(const Context& context, const DeviceSession& device, const Setup& setup);

/// "1x2v, serendipity of order 2 (20 functions a cell), 64 x (32 x 32) cells".
[[nodiscard]] std::string description(const Setup& setup);

}  // namespace quintet::vlasov
