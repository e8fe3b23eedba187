#include "apps/dpmd/convert/inspect.hpp"

#include <cstdio>
#include <regex>

#include <fmt/ranges.h>

#include "apps/dpmd/convert/inspect_atoms.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/potential/model/chains.hpp"
#include "surrogates/potential/model/stored_networks.hpp"

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

/// What the file has of a model whose networks read types: all above follows from it.
std::string text_of(const std::vector<potential::StoredNetwork>& networks) {
  using Rows = potential::StoredNetwork::Rows;
  std::size_t parameters = 0;
  for (const auto& network : networks) parameters += network.parameters();
  std::string text = fmt::format(
      "\nStored are {}, {}, which read types. What depends on types alone is made once, in a training in "
      "each "
      "step:\n",
      counted(networks.size(), "network"), counted(parameters, "parameter"));
  for (const auto& network : networks)
    text += fmt::format("  {:<30} {:<18} {:>9} parameters, {}\n", network.title, network.widths(),
                        network.parameters(),
                        network.rows == Rows::types        ? counted(network.n_rows, "row")
                        : network.rows == Rows::neighbours ? "a row a neighbour"
                                                           : "a row an atom");
  return text;
}

/// Tables of a compressed model, and gates of pairs of types.
std::string text_of_tables(const potential::Model& model) {
  std::string text;
  std::size_t numbers = 0, rows = 0;
  for (const auto& table : model.tables) {
    numbers += table.coefficients.size();
    rows += potential::QuinticRanges(table).n_rows();
  }
  const int bytes = model.single_precision ? 4 : 8;
  if (!model.tables.empty())
    text += fmt::format("\nIn place of the embedding networks: {}, {}, {:.2f} MB\n",
                        counted(model.tables.size(), "table"), counted(rows, "row"), 1e-6 * bytes * numbers);
  if (!model.gates.empty())
    text += fmt::format("\nFactors of their outputs: gates of {} of types, {} numbers\n",
                        counted(model.gates.size(), "pair"), model.gates.size() * model.gates.front().size());
  return text;
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
      read.n_atom_parameters = any_number;
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
    const std::string tables = tables_of(networks);
    const bool has_equal_inputs = std::regex_search(tables, std::regex("[0-9] of [0-9]"));
    const std::string text = fmt::format(
        "{}: {}\n{}, {}, {:.2f} MB, as evaluated\n{}{}{}\n"
        "A row is {} in an embedding network and an atom in a fitting network. Flops are those of one way\n"
        "forward and one back (a multiply-add counts two, an activation one); kept is the memory that {} "
        "holds.\n{}",
        path, model.summary(), counted(networks.size(), "network"), counted(parameters, "parameter"),
        1e-6 * bytes, tables, text_of_tables(model),
        model.readers ? text_of(potential::stored_networks(model)) : "",
        options.training ? "a sample" : "a neighbour", options.training ? "a training step" : "an evaluation",
        has_equal_inputs
            ? "'23 of 24 x 8': of 24 inputs, 23 are different numbers; weights of equal ones are "
              "added up first.\n"
            : "");
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace quintet::dpmd
