#include "apps/dpmd/convert/inspect.hpp"

#include <cstdio>

#include <fmt/ranges.h>

#include "apps/dpmd/convert/inspect_atoms.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/potential/model/chains.hpp"

namespace quintet::dpmd {

namespace {

enum Argument { positional, training, named, types, masses };

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

std::vector<Application::Flag> inspect_flags() {
  std::vector<Application::Flag> flags{
      {"MODEL", "Deep Potential model (or --model MODEL), or a file of atoms", false, ""},
      {"--training", "Show what a training step keeps, instead of an evaluation", false, "", true},
      {"--model", "The model, as other commands take it", false, ""}};
  for (auto& flag : naming_flags()) flags.push_back(std::move(flag));
  return flags;
}

void inspect(const Comm& comm, const Application::Arguments& arguments) {
  on_root(comm, [&] {
    const std::string& path = model_of(arguments, positional, named);
    if (holds_atoms(path)) {
      auto read = read_options_of(arguments, types, masses);
      read.labels.use = LabelSource::Use::compare;
      std::fputs(describe_atoms(path, read).c_str(), stdout);
      return;
    }
    const auto model = potential::read_dp(path);
    const bool for_training = !arguments[training].empty();
    const auto networks = potential::describe_networks(model, for_training);
    std::size_t parameters = 0, bytes = 0;
    for (const auto& network : networks) {
      parameters += network.chain.total().parameters;
      bytes += network.chain.total().parameter_bytes;
    }
    const std::string text = fmt::format(
        "{}: {}\n{} networks, {} parameters, {:.2f} MB\n{}\n"
        "A row is {} in an embedding network and an atom in a fitting network. Flops are those of one way\n"
        "forward and one back (a multiply-add counts two, an activation one); kept is the memory that {} "
        "holds.\n"
        "'23 of 24 x 8': of 24 inputs, 23 are different numbers; weights of equal ones are added up first.\n",
        path, model.summary(), networks.size(), parameters, 1e-6 * static_cast<double>(bytes),
        tables_of(networks), for_training ? "a sample" : "a neighbour",
        for_training ? "a training step" : "an evaluation");
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace quintet::dpmd
