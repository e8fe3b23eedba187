#include "surrogates/potential/exported/library/mace_model.hpp"

#include <algorithm>
#include <utility>

#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/potential/exported/library/numbers.hpp"

namespace quintet::potential {

namespace {

/// Edges of a graph: from a neighbour to the atom in whose row it stands.
struct Edges {
  std::vector<std::int64_t> ends;  ///< [2, n] neighbours or their owners, then atoms
  /// [n, 3] (angstrom) from the neighbour to its owner: x_atom - x_owner + shift = x_atom - x_neighbour.
  std::vector<double> shift;
};

Edges edges_of(const ExportedSystem& system) {
  Edges edges;
  std::vector<std::int64_t> to;
  for (int i = 0; i < system.n_rows; ++i)
    for (int c = 0; c < system.width; ++c) {
      const std::int64_t j = system.neighbour[std::int64_t{i} * system.width + c];
      if (j < 0) break;  // rows are padded at their ends
      const std::int64_t owner = system.owner.empty() ? j : system.owner[j];
      edges.ends.push_back(owner);
      to.push_back(i);
      for (int k = 0; k < 3; ++k)
        edges.shift.push_back(system.position[3 * owner + k] - system.position[3 * j + k]);
    }
  edges.ends.insert(edges.ends.end(), to.begin(), to.end());
  return edges;
}

}  // namespace

bool is_mace(const ScriptModule& script) {
  return script.has_attribute("r_max") && script.has_attribute("atomic_numbers") &&
         script.has_attribute("num_interactions");
}

MaceModel::MaceModel(std::string path, std::unique_ptr<ScriptModule> script,
                     const std::vector<double>& frame_parameters)
    : path_(std::move(path)), script_(std::move(script)) {
  QUINTET_CHECK(frame_parameters.empty(), "{}: MACE reads no frame parameters, but frame_parameters gives {}",
                path_, frame_parameters.size());
  const at::Tensor reach = script_->attribute("r_max").toTensor();
  const at::Tensor numbers = script_->attribute("atomic_numbers").toTensor().to(at::kLong).contiguous();
  numbers_ = reach.scalar_type();
  facts_.origin = "MACE's model for LAMMPS";
  facts_.cutoff = reach.item<double>();
  for (std::int64_t t = 0; t < numbers.numel(); ++t)
    facts_.atomic_numbers.push_back(numbers.data_ptr<std::int64_t>()[t]);
  facts_.layers = script_->attribute("num_interactions").toTensor().item<std::int64_t>();
  facts_.passes_messages = facts_.layers > 1;
  facts_.takes_rows_of_ghosts = true;
  facts_.gives_atom_virials = false;
}

/// The graph as forward() takes it. Nodes are the centres where ghosts have owners, else all atoms. Shifts
/// are given in a cell of unit rows, so that a strain acts on them as on positions.
c10::IValue MaceModel::graph(const ExportedSystem& system, std::int64_t n_nodes) const {
  const Edges edges = edges_of(system);
  const std::int64_t all = system.n_atoms(), n_edges = edges.ends.size() / 2;
  const std::int64_t n_types = facts_.atomic_numbers.size();
  const auto real = at::TensorOptions().dtype(numbers_);
  const auto own = [&](const at::Tensor& numbers) { return numbers.to(numbers_, false, true); };
  const at::Tensor shift = own(seen(edges.shift, {n_edges, 3}));
  c10::Dict<std::string, at::Tensor> graph;
  graph.insert("positions", own(seen(system.position, {all, 3}).narrow(0, 0, n_nodes)));
  graph.insert("cell", at::eye(3, real));
  graph.insert("edge_index", seen(edges.ends, {2, n_edges}).clone());
  graph.insert("shifts", shift);
  graph.insert("unit_shifts", shift);
  graph.insert("node_attrs", own(at::one_hot(seen(system.type, {all}).narrow(0, 0, n_nodes), n_types)));
  graph.insert("batch", at::zeros({n_nodes}, at::kLong));
  graph.insert("ptr", seen(std::vector<std::int64_t>{0, n_nodes}, {2}).clone());
  graph.insert("weight", at::ones({1}, real));
  graph.insert("energy", at::zeros({1}, real));
  graph.insert("forces", at::zeros({n_nodes, 3}, real));
  return graph;
}

void MaceModel::evaluate(const ExportedSystem& system, bool /*with_virials*/, ExportedResult& result) {
  const std::int64_t n = system.n_centres, all = system.n_atoms(), n_nodes = system.owner.empty() ? all : n;
  const auto outputs = translate_torch_errors(
      "Evaluating " + path_,
      [&] {
        const at::Tensor counts = at::zeros({n_nodes}, at::TensorOptions().dtype(numbers_));
        counts.narrow(0, 0, n).fill_(1);
        return script_->call("forward", {graph(system, n_nodes), counts, true}).toGenericDict();
      },
      ExitCode::input);
  const auto take = [&](const char* name, std::int64_t count, double* to) {
    take_numbers(outputs.at(name).toTensor(), count, to);
  };
  result.resize(n, all, false);
  std::fill(result.force.begin(), result.force.end(), 0.0);  // those of images act on their owners
  take("total_energy_local", 1, &result.energy);
  take("virials", 9, result.virial.data());
  take("node_energy", n, result.atom_energy.data());
  take("forces", 3 * n_nodes, result.force.data());
}

}  // namespace quintet::potential
