#include "apps/dpmd/convert/inspect.hpp"

#include <cstdio>

#include <fmt/ranges.h>

#include "apps/dpmd/convert/inspect_atoms.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/potential/model/chains.hpp"

namespace quintet::dpmd {

namespace {

/// The networks of one shape share a table.
struct Table {
  std::string text;
  std::vector<std::string> networks;
};

std::string tables_of(const std::vector<potential::NetworkDescription>& networks) {
  std::vector<Table> tables;
  for (const auto& network : networks) {
    const std::string text = network.chain.table();
    if (tables.empty() || tables.back().text != text) tables.push_back({text, {}});
    tables.back().networks.push_back(network.title);
  }
  std::string all;
  for (const auto& table : tables)
    all += fmt::format("\n{}\n{}", fmt::join(table.networks, "\n"), table.text);
  return all;
}

}  // namespace

void describe(Schema& schema, InspectOptions& options) {
  schema.text("file", options.file, "Deep Potential model (or --model MODEL), or a file of atoms");
  schema.flag("training", options.training, "Show what a training step keeps, instead of an evaluation");
  schema.text("model", options.model, "The model, as other commands take it");
  describe(schema, options.naming);
}

void inspect(const Comm& comm, const InspectOptions& options) {
  on_root(comm, [&] {
    const std::string& path = model_of(options.file, options.model);
    if (holds_atoms(path)) {
      auto read = read_options_of(options.naming);
      read.labels.use = LabelSource::Use::compare;
      std::fputs(describe_atoms(path, read).c_str(), stdout);
      return;
    }
    const auto model = potential::read_dp(path);
    const auto networks = potential::describe_networks(model, options.training);
    std::size_t parameters = 0, bytes = 0;
    for (const auto& network : networks) {
      parameters += network.chain.total().parameters;
      bytes += network.chain.total().parameter_bytes;
    }
    const std::string text = fmt::format(
        "{}: {}\n{}, {}, {:.2f} MB\n{}\n"
        "A row is {} in an embedding network and an atom in a fitting network. Flops are those of one way\n"
        "forward and one back (a multiply-add counts two, an activation one); kept is the memory that {} "
        "holds.\n"
        "'23 of 24 x 8': of 24 inputs, 23 are different numbers; weights of equal ones are added up first.\n",
        path, model.summary(), counted(networks.size(), "network"), counted(parameters, "parameter"),
        1e-6 * bytes, tables_of(networks), options.training ? "a sample" : "a neighbour",
        options.training ? "a training step" : "an evaluation");
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace quintet::dpmd
