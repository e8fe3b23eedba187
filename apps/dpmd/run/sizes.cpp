#include "apps/dpmd/run/sizes.hpp"

#include <memory>

#include "apps/application/life/context.hpp"
#include "apps/dpmd/run/simulation.hpp"

namespace quintet::dpmd {

SizeSeries sizes(Context& context, const RunOptions& options) {
  // Shared by all sizes, and outlives their engines.
  const auto session = std::make_shared<DeviceSession>(context.open_device(options.device));
  const auto make = [&context, options, session](const std::vector<std::int64_t>& copies) {
    RunOptions smaller = options;
    smaller.system.replicate = copies;
    const auto simulation = std::make_shared<Simulation>(context.comm(), smaller, *session);
    return SizedCase{.work = static_cast<double>(simulation->atoms().n_global),
                     .step = [simulation, session] { simulation->advance(); }};
  };
  // Neighbours are listed anew every few ten steps: a piece is to have its share of that.
  constexpr int least_steps = 50;
  return {.key = "system.replicate",
          .unit = "atoms",
          .largest = options.system.replicate,
          .make = make,
          .least_steps = least_steps};
}

}  // namespace quintet::dpmd
