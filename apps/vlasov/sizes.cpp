#include "apps/vlasov/sizes.hpp"

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/vlasov/state/simulation.hpp"

namespace quintet::vlasov {

SizeSeries sizes(Context& context, const RunOptions& options) {
  const auto make = [&context, options](const std::vector<std::int64_t>& cells) {
    RunOptions smaller = options;
    smaller.grid.cells = cells;
    smaller.time.steps.reset();
    smaller.time.end.text = fmt::format("1e6*({})", options.time.end.text);  // no timing meets it
    Setup setup = make_setup(context.comm(), smaller);
    DeviceSession device = open_device(context, options.device, setup);
    double work = 0;
    for (const auto& species : setup.species) {
      double all = 1;
      for (int d = 0; d < species.grid.dim(); ++d) all *= species.grid.cells[d];
      work += all;
    }
    const auto simulation =
        std::make_shared<Simulation>(context, std::move(device), smaller, std::move(setup));
    return SizedCase{.work = work, .step = [simulation] { simulation->advance(); }};
  };
  return {.key = "grid.cells", .unit = "cells", .largest = options.grid.cells, .make = make};
}

}  // namespace quintet::vlasov
