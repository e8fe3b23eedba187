#include "surrogates/potential/exported/library/deepmd_model.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <torch/csrc/autograd/autograd.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/potential/exported/library/numbers.hpp"

namespace quintet::potential {

namespace {

/// An output of forward_lower, or of what it calls.
at::Tensor output(const c10::Dict<c10::IValue, c10::IValue>& outputs, const char* name) {
  const auto found = outputs.find(name);
  QUINTET_ASSERT(found != outputs.end(), "the model gives no {}", name);
  return found->value().toTensor();
}

/// How many rows messages go in a module and its parts: 0 where none are passed, nothing where that is not
/// known. What atoms know before the first layer of dpa2 they have from a row already.
std::optional<int> rows_of_messages(const ScriptModule& module) {
  const bool can_tell = module.has_method("has_message_passing");
  if (can_tell && !module.call("has_message_passing").toBool()) return 0;
  const std::string kind = module.kind();
  const bool begins_with_features = kind == "DescrptBlockRepformers";
  if (begins_with_features || kind == "DescrptBlockRepflows") {
    if (!module.has_attribute("nlayers")) return {};
    return static_cast<int>(module.attribute("nlayers").toInt()) + (begins_with_features ? 1 : 0);
  }
  int most = 0;
  for (const auto& part : module.parts()) {
    const auto rows = rows_of_messages(*part);
    if (!rows) return {};
    most = std::max(most, *rows);
  }
  if (can_tell && most == 0) return {};
  return most;
}

/// Rows of an atom each, and a row for each atom to show the features of.
struct GhostRows {
  std::int64_t n = 0;
  std::vector<std::int64_t> neighbour;  ///< [n, width]
  std::vector<std::int64_t> shown;      ///< [n_atoms]
};

/// Atoms with rows show their own features; others those of an atom of their type. These differ from their
/// own after the first layer, when no message from there reaches a centre any more. A type without a row gets
/// an empty one.
GhostRows rows_with_ghosts(const ExportedSystem& system, std::size_t n_types) {
  GhostRows rows;
  std::vector<std::int64_t> first(n_types, -1);
  rows.n = system.n_rows;
  for (std::int64_t a = 0; a < system.n_atoms(); ++a) {
    std::int64_t& one = first[system.type[a]];
    if (one < 0) {
      one = a;
      rows.n = std::max(rows.n, a + 1);
    }
  }
  for (std::int64_t a = 0; a < system.n_atoms(); ++a)
    rows.shown.push_back(a < rows.n ? a : first[system.type[a]]);
  rows.neighbour = system.neighbour;
  rows.neighbour.resize(rows.n * system.width, -1);
  return rows;
}

}  // namespace

bool is_deepmd(const ScriptModule& script) {
  return script.has_method("forward_lower") && script.has_method("get_type_map");
}

DeepmdModel::DeepmdModel(std::string path, std::unique_ptr<ScriptModule> script,
                         std::vector<double> frame_parameters)
    : path_(std::move(path)), script_(std::move(script)), frame_parameters_(std::move(frame_parameters)) {
  translate_torch_errors(
      "Asking " + path_ + " what it is",
      [&] {
        refuse_the_uncommon();
        read_facts();
        check_frame_parameters();
      },
      ExitCode::input);
}

/// What a method says, or 0 where a file of an older DeePMD-kit does not have it yet.
std::int64_t DeepmdModel::number(const char* method) const {
  return script_->has_method(method) ? script_->call(method).toInt() : 0;
}
bool DeepmdModel::flag(const char* method) const {
  return script_->has_method(method) && script_->call(method).toBool();
}

std::vector<std::string> DeepmdModel::words(const char* method) const {
  const c10::IValue list = script_->call(method);
  std::vector<std::string> words;
  for (const c10::IValue& word : list.toListRef()) words.push_back(word.toStringRef());
  return words;
}

void DeepmdModel::read_facts() {
  facts_.origin = "DeePMD-kit's frozen model";
  facts_.cutoff = script_->call("get_rcut").toDouble();
  facts_.type_names = words("get_type_map");
  for (const std::int64_t n : script_->call("get_sel").toIntVector()) facts_.sel.push_back(n);
  facts_.counts_together = flag("mixed_types");
  facts_.passes_messages = flag("has_message_passing");
  if (facts_.passes_messages) read_reach_of_messages();
}

/// Ghosts may have rows of their own where atoms can be evaluated without forces: forward_lower would
/// differentiate the energies of ghosts, too.
void DeepmdModel::read_reach_of_messages() {
  const auto rows = rows_of_messages(*script_);
  if (!rows || !script_->has_method("format_nlist") || !script_->has_attribute("atomic_model")) return;
  auto atoms = script_->part("atomic_model");
  if (!atoms->has_method("forward_common_atomic")) return;
  facts_.layers = *rows;
  facts_.takes_rows_of_ghosts = true;
  atoms_ = std::move(atoms);
}

void DeepmdModel::refuse_the_uncommon() const {
  if (script_->has_method("model_output_type")) {
    const auto outputs = words("model_output_type");
    QUINTET_CHECK(std::find(outputs.begin(), outputs.end(), "energy") != outputs.end(),
                  "{}: predicts {}, not the energy that forces come from", path_,
                  outputs.empty() ? "nothing" : outputs.front());
  }
  QUINTET_CHECK(!flag("has_spin"), "{}: a model of atoms with spins, which dpmd does not have", path_);
  QUINTET_CHECK(number("get_dim_aparam") == 0,
                "{}: reads {} of each atom (aparam), which dpmd gives to models of .dp files alone: dp "
                "convert-backend, or train without numb_aparam",
                path_, counted(number("get_dim_aparam"), "parameter"));
  QUINTET_CHECK(number("get_dim_chg_spin") == 0,
                "{}: reads the total charge and spin, which dpmd does not have", path_);
}

void DeepmdModel::check_frame_parameters() const {
  const std::size_t wanted = number("get_dim_fparam");
  if (frame_parameters_.empty() && flag("has_default_fparam")) return;
  QUINTET_CHECK(frame_parameters_.size() == wanted,
                "{}: the model reads {} (fparam), but frame_parameters gives {}", path_,
                counted(wanted, "frame parameter"), frame_parameters_.size());
}

namespace {

/// Virials by atom, V_j = F_j x_j^T + sum_i dE_i/dx_j x_i^T with fixed x_i: a gradient for each direction of
/// x_i.
/// @param x [1, n_atoms, 3] @param energies [n_centres] @param force [n_atoms, 3]
at::Tensor virials_by_atom(const at::Tensor& x, const at::Tensor& energies, const at::Tensor& force) {
  const at::Tensor fixed = x.detach().squeeze(0);
  std::vector<at::Tensor> columns;
  for (int l = 0; l < 3; ++l) {
    const at::Tensor weighted = (energies * fixed.narrow(0, 0, energies.size(0)).select(1, l)).sum();
    const at::Tensor slope = torch::autograd::grad({weighted}, {x}, {}, l < 2)[0].squeeze(0);
    columns.push_back(force * fixed.select(1, l).unsqueeze(1) + slope);
  }
  return at::stack(columns, 2);
}

}  // namespace

/// Energies of all atoms with rows, of which only those of the centres are summed and differentiated.
void DeepmdModel::evaluate_with_ghosts(const ExportedSystem& system, bool with_virials,
                                       ExportedResult& result) {
  const std::int64_t n = system.n_centres, all = system.n_atoms();
  const GhostRows rows = rows_with_ghosts(system, facts_.type_names.size());
  result.resize(n, all, with_virials);
  translate_torch_errors(
      "Evaluating " + path_,
      [&] {
        const at::Tensor types = seen(system.type, {1, all});
        const at::Tensor x = seen(system.position, {1, all, 3}).clone().set_requires_grad(true);
        const auto listed =
            script_->call("format_nlist", {x.detach(), types, seen(rows.neighbour, {1, rows.n, system.width}),
                                           flag("need_sorted_nlist_for_lower")});
        const std::int64_t numbers = frame_parameters_.size();
        const c10::IValue parameters =
            numbers == 0 ? c10::IValue() : c10::IValue(seen(frame_parameters_, {1, numbers}));
        const auto outputs =
            atoms_
                ->call("forward_common_atomic",
                       {x, types, listed, seen(rows.shown, {1, all}), parameters, c10::IValue()})
                .toGenericDict();
        const at::Tensor energies = output(outputs, "energy").reshape({-1}).narrow(0, 0, n).to(at::kDouble);
        const at::Tensor energy = energies.sum();
        const at::Tensor force = -torch::autograd::grad({energy}, {x}, {}, with_virials)[0].squeeze(0);
        take_numbers(energies, n, result.atom_energy.data());
        take_numbers(energy, 1, &result.energy);
        take_numbers(force, 3 * all, result.force.data());
        take_numbers(force.t().mm(x.detach().squeeze(0)), 9, result.virial.data());
        if (with_virials)
          take_numbers(virials_by_atom(x, energies, force), 9 * all, result.atom_virial.data());
      },
      ExitCode::input);
}

/// By forward_lower, unless ghosts are atoms of their own: it would add their energies and forces.
void DeepmdModel::evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) {
  if (facts_.passes_messages && system.owner.empty()) {
    QUINTET_ASSERT(atoms_, "ghosts with rows of their own, which this model does not take");
    evaluate_with_ghosts(system, with_virials, result);
    return;
  }
  const std::int64_t n = system.n_centres, all = system.n_atoms();
  const auto outputs = translate_torch_errors(
      "Evaluating " + path_,
      [&] {
        std::vector<c10::IValue> arguments{seen(system.position, {1, all, 3}), seen(system.type, {1, all}),
                                           seen(system.neighbour, {1, n, system.width})};
        const std::int64_t numbers = frame_parameters_.size();
        arguments.push_back(system.owner.empty() ? c10::IValue() : seen(system.owner, {1, all}));
        arguments.push_back(numbers == 0 ? c10::IValue() : seen(frame_parameters_, {1, numbers}));
        arguments.emplace_back();
        arguments.emplace_back(with_virials);
        return script_->call("forward_lower", std::move(arguments)).toGenericDict();
      },
      ExitCode::input);
  const auto take = [&](const char* name, std::int64_t count, double* to) {
    take_numbers(output(outputs, name), count, to);
  };
  result.resize(n, all, with_virials);
  take("energy", 1, &result.energy);
  take("virial", 9, result.virial.data());
  take("atom_energy", n, result.atom_energy.data());
  take("extended_force", 3 * all, result.force.data());
  if (with_virials) take("extended_virial", 9 * all, result.atom_virial.data());
}

}  // namespace quintet::potential
