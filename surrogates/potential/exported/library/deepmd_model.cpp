#include "surrogates/potential/exported/library/deepmd_model.hpp"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/potential/exported/library/numbers.hpp"

namespace quintet::potential {

namespace {

/// An output of forward_lower.
at::Tensor output(const c10::Dict<c10::IValue, c10::IValue>& outputs, const char* name) {
  const auto found = outputs.find(name);
  QUINTET_ASSERT(found != outputs.end(), "forward_lower gives no {}", name);
  return found->value().toTensor();
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
  for (const std::int64_t n : script_->call("get_sel").toIntVector())
    facts_.sel.push_back(static_cast<int>(n));
  facts_.counts_together = flag("mixed_types");
  facts_.passes_messages = flag("has_message_passing");
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
                "{}: reads {} of each atom (aparam), which dpmd does not have; train without numb_aparam",
                path_, counted(number("get_dim_aparam"), "parameter"));
  QUINTET_CHECK(number("get_dim_chg_spin") == 0,
                "{}: reads the total charge and spin, which dpmd does not have", path_);
}

void DeepmdModel::check_frame_parameters() const {
  const auto wanted = static_cast<std::size_t>(number("get_dim_fparam"));
  if (frame_parameters_.empty() && flag("has_default_fparam")) return;
  QUINTET_CHECK(frame_parameters_.size() == wanted,
                "{}: the model reads {} (fparam), but frame_parameters gives {}", path_,
                counted(wanted, "frame parameter"), frame_parameters_.size());
}

void DeepmdModel::evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) {
  const std::int64_t n = system.n_centres, all = system.n_atoms();
  const auto outputs = translate_torch_errors(
      "Evaluating " + path_,
      [&] {
        std::vector<c10::IValue> arguments{seen(system.position, {1, all, 3}), seen(system.type, {1, all}),
                                           seen(system.neighbour, {1, n, system.width})};
        const auto numbers = static_cast<std::int64_t>(frame_parameters_.size());
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
