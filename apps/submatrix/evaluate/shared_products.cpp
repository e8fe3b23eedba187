#include "apps/submatrix/evaluate/shared_products.hpp"

#include "apps/application/life/context.hpp"
#include "io/log/log.hpp"
#include "io/machine/machine.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/density/probe.hpp"
#include "physics/electronic/matrix/block_panel.hpp"

namespace quintet::submatrix {

namespace {

/// Hockney's a and b (per word of 8 bytes) between the run's ranks, the same on all of them.
MessageCosts message_costs(const Comm& comm, const std::string& machine_name) {
  MessageCosts costs;
  const bool one_node = comm.node_size() == comm.size();
  on_root(comm, [&] {
    const Machine machine = read_machine(machine_name);
    const MachineLink* const link =
        find_link(machine, one_node ? LinkLevel::node : LinkLevel::network, comm.size());
    if (link == nullptr || !link->alpha || !link->beta) {
      costs.source =
          fmt::format("assumed, as machine {} knows no links (quintet machine --calibrate)", machine_name);
      return;
    }
    costs = {*link->alpha, 8 * *link->beta * link->sharing,
             fmt::format("the {} links of machine {}", one_node ? "node's" : "network's", machine_name)};
  });
  costs.message = comm.broadcast(costs.message);
  costs.word = comm.broadcast(costs.word);
  costs.source = comm.broadcast(costs.source);
  return costs;
}

}  // namespace

SpmmLayout layout_for(Context& context, const EvaluateOptions& options, const electronic::BlockMatrix& a,
                      SpmmKind kind, int vectors, const std::string& section, const std::string& suffix) {
  const Comm& comm = a.comm;
  const MessageCosts costs =
      comm.size() > 1 && kind == SpmmKind::automatic ? message_costs(comm, options.machine) : MessageCosts{};
  const SpmmChoice choice =
      choose_layout(comm, electronic::sparse_rows(a), electronic::panel_columns(vectors), kind, costs);
  if (comm.size() > 1) {
    log::info("{}: products with vectors shared out as {}", section, choice.reason);
    context.summarise(section + "_spmm" + suffix, choice.layout.name(), choice.reason);
  }
  return choice.layout;
}

}  // namespace quintet::submatrix
