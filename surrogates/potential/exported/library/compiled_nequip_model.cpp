#include "surrogates/potential/exported/library/compiled_nequip_model.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/potential/exported/library/numbers.hpp"

namespace quintet::potential {

CompiledNequipModel::CompiledNequipModel(CompiledPackage package)
    : package_(std::move(package)), code_(package_.path) {
  for (const char* wanted : {"atomic_energy", "forces"})
    QUINTET_CHECK(output(wanted) >= 0, "{}: gives no {}; compile it by --target pair_allegro or pair_nequip",
                  package_.path, wanted);
  QUINTET_CHECK(output("virial") >= 0 || (output("stress") >= 0 && package_.reads("cell")),
                "{}: gives no virial; compile it by --target pair_allegro or pair_nequip", package_.path);
  package_.facts.passes_messages = takes_its_types();
  QUINTET_CHECK(!package_.facts.passes_messages || package_.reads("edge_cell_shift"),
                "{}: atoms of this model pass messages to each other, but it takes no images; compile it by "
                "--target pair_nequip",
                package_.path);
}

/// Place of an output; -1: not given.
int CompiledNequipModel::output(const char* name) const {
  const auto found = std::find(package_.outputs.begin(), package_.outputs.end(), name);
  return found == package_.outputs.end() ? -1 : static_cast<int>(found - package_.outputs.begin());
}

namespace {

/// Keeps what compiled code itself prints of its errors, with the frames of its functions, from the terminal.
class QuietErrors {
 public:
  QuietErrors() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~QuietErrors() { std::cerr.rdbuf(before_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

}  // namespace

/// passes_messages(), the first time that the code runs. Throws InputError for one that does not take the
/// types that its metadata name, in fewer words than LibTorch's, which show where its own functions were.
bool CompiledNequipModel::takes_its_types() const {
  const QuietErrors quiet;
  try {
    return passes_messages();
  } catch (const InputError& error) {
    const std::string_view text = error.what();
    throw InputError(fmt::format(
        "{}: its code fails for three atoms of the types that type_names of its metadata gives ({}): {}. Was "
        "it compiled for these types? Compile the model again",
        package_.path, fmt::join(package_.facts.type_names, ", "), text.substr(0, text.find('\n'))));
  }
}

/// Whether the energy of an atom depends on where its neighbour's neighbour is: asked with three atoms, of
/// which the outer ones do not see each other. As many edges are there both times, so that sums are the same.
bool CompiledNequipModel::passes_messages() const {
  const int n_types = std::ssize(package_.facts.type_names);
  for (int outer = 0; outer < n_types; ++outer)
    for (const int inner : {outer, (outer + 1) % n_types}) {
      const double near = 0.6 * package_.reach[outer * n_types + inner];
      const double far = package_.reach[inner * n_types + outer];
      ExportedSystem three;
      three.n_centres = three.n_rows = three.width = 2;
      three.type = {outer, inner, outer};
      three.neighbour = {1, -1, 0, 2};
      double energy[2];
      for (const int which : {0, 1}) {
        three.position = {0, 0, 0, near, 0, 0, near, (which == 0 ? 0.5 : 0.6) * far, 0};
        take_numbers(run(three, 3, edges_of(three))[output("atomic_energy")], 1, &energy[which]);
      }
      if (energy[0] != energy[1]) return true;
    }
  return false;
}

/// Edges of all rows, between types that see each other and as far as they do.
CompiledEdges CompiledNequipModel::edges_of(const ExportedSystem& system) const {
  const std::size_t n_types = package_.facts.type_names.size();
  CompiledEdges edges;
  std::vector<std::int64_t> to;
  for (std::int64_t i = 0; i < system.n_rows; ++i)
    for (int c = 0; c < system.width; ++c) {
      const std::int64_t j = system.neighbour[i * system.width + c];
      if (j < 0) break;  // rows are padded at their ends
      double distance2 = 0;
      for (int k = 0; k < 3; ++k) {
        const double d = system.position[3 * j + k] - system.position[3 * i + k];
        distance2 += d * d;
      }
      const double reach = package_.reach[system.type[i] * n_types + system.type[j]];
      if (distance2 > reach * reach) continue;
      const std::int64_t owner = system.owner.empty() ? j : system.owner[j];
      edges.ends.push_back(i);
      to.push_back(owner);
      for (int k = 0; k < 3; ++k)
        edges.shift.push_back(system.position[3 * j + k] - system.position[3 * owner + k]);
    }
  edges.ends.insert(edges.ends.end(), to.begin(), to.end());
  return edges;
}

/// The code takes two nodes and two edges at least. So there are two more nodes, which see each other only
/// where there are too few edges, further apart than the cutoff: nothing depends on where they are. Shifts
/// are given in a cell of unit rows, so that a strain acts on them as on positions.
std::vector<at::Tensor> CompiledNequipModel::run(const ExportedSystem& system, std::int64_t n_nodes,
                                                 CompiledEdges edges) const {
  std::vector<double> position(system.position.begin(), system.position.begin() + 3 * n_nodes);
  std::vector<std::int64_t> type(system.type.begin(), system.type.begin() + n_nodes);
  const double apart = 1.5 * package_.facts.cutoff;
  position.insert(position.end(), {0, 0, 0, apart, 0, 0});
  type.insert(type.end(), 2, type.front());
  if (edges.shift.size() < 6) {
    auto& ends = edges.ends;
    const auto half = ends.begin() + std::ssize(ends) / 2;
    ends.insert(half, {n_nodes, n_nodes + 1});
    ends.insert(ends.end(), {n_nodes + 1, n_nodes});
    edges.shift.resize(edges.shift.size() + 6, 0.0);
  }
  const std::int64_t n_edges = std::ssize(edges.ends) / 2;
  std::vector<at::Tensor> inputs;
  for (const std::string& name : package_.inputs) {
    if (name == "pos") inputs.push_back(seen(position, {n_nodes + 2, 3}));
    if (name == "edge_index") inputs.push_back(seen(edges.ends, {2, n_edges}));
    if (name == "atom_types") inputs.push_back(seen(type, {n_nodes + 2}));
    if (name == "cell") inputs.push_back(at::eye(3, at::kDouble).unsqueeze(0));
    if (name == "edge_cell_shift") inputs.push_back(seen(edges.shift, {n_edges, 3}));
  }
  auto outputs = code_.run(inputs);
  QUINTET_CHECK(
      outputs.size() == package_.outputs.size(),
      "{}: its code gives {}, but nequip_aoti_outputs of its metadata names {}; compile the model again",
      package_.path, counted(outputs.size(), "output"), package_.outputs.size());
  return outputs;
}

void CompiledNequipModel::evaluate(const ExportedSystem& system, bool /*with_virials*/,
                                   ExportedResult& result) {
  const std::int64_t n = system.n_centres, all = system.n_atoms(), n_nodes = system.owner.empty() ? all : n;
  const auto outputs = run(system, n_nodes, edges_of(system));
  result.resize(n, all, false);
  std::fill(result.force.begin(), result.force.end(), 0.0);  // those of images act on their owners
  take_numbers(outputs[output("forces")], 3 * n_nodes, result.force.data());
  take_numbers(outputs[output("atomic_energy")], n, result.atom_energy.data());
  result.energy = 0;
  for (const double energy : result.atom_energy) result.energy += energy;
  if (output("virial") >= 0) {
    take_numbers(outputs[output("virial")], 9, result.virial.data());
  } else {  // of a cell whose volume is 1
    take_numbers(-outputs[output("stress")], 9, result.virial.data());
  }
}

}  // namespace quintet::potential
