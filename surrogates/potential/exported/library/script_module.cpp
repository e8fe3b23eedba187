#include "surrogates/potential/exported/library/script_module.hpp"

#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"

namespace quintet::potential {

struct ScriptModule::Held {
  torch::jit::Module module;
};

ScriptModule::ScriptModule(std::unique_ptr<Held> held) : held_(std::move(held)) {}
ScriptModule::~ScriptModule() = default;

std::string ScriptModule::kind() const {
  const auto& name = held_->module.type()->name();
  return name ? name->name() : "";
}

std::vector<std::unique_ptr<ScriptModule>> ScriptModule::parts() const {
  std::vector<std::unique_ptr<ScriptModule>> parts;
  for (const torch::jit::Module& part : held_->module.children())
    parts.push_back(std::make_unique<ScriptModule>(std::make_unique<Held>(Held{part})));
  return parts;
}

std::unique_ptr<ScriptModule> ScriptModule::part(const char* name) const {
  return std::make_unique<ScriptModule>(std::make_unique<Held>(Held{held_->module.attr(name).toModule()}));
}

bool ScriptModule::has_method(const char* name) const { return held_->module.find_method(name).has_value(); }

bool ScriptModule::has_attribute(const char* name) const { return held_->module.hasattr(name); }
c10::IValue ScriptModule::attribute(const char* name) const { return held_->module.attr(name); }

c10::IValue ScriptModule::call(const char* method, std::vector<c10::IValue> arguments) const {
  const torch::jit::GraphOptimizerEnabledGuard as_written(false);
  return held_->module.get_method(method)(std::move(arguments));
}

namespace {

/// Name of the operator that an error of loading complains of; else nothing.
std::string missing_operator(std::string_view text) {
  constexpr std::string_view words = "Unknown builtin op: ";
  const auto at = text.find(words);
  if (at == std::string_view::npos) return "";
  const auto name = text.substr(at + words.size());
  return std::string(name.substr(0, name.find_first_of(". \n")));
}

torch::jit::Module read(const std::string& path) {
  try {
    return torch::jit::load(path, at::kCPU);
  } catch (const std::exception& error) {  // of a kind of torch's own that is no c10::Error
    const std::string name = missing_operator(error.what());
    if (name.empty()) throw;
    const bool is_table = name.find("tabulate") != std::string::npos;
    throw InputError(fmt::format(
        "{}: needs the operator {}, which LibTorch does not have and dpmd does not know; {}", path, name,
        is_table ? "freeze the model before it is compressed (dp --pt freeze, without dp --pt compress)"
                 : "export the model again where that operator's library is not loaded"));
  }
}

}  // namespace

std::unique_ptr<ScriptModule> load_script(const std::string& path) {
  return translate_torch_errors(
      "Reading " + path,
      [&] {
        auto held = std::make_unique<ScriptModule::Held>(ScriptModule::Held{read(path)});
        held->module.eval();
        for (auto parameter : held->module.parameters()) parameter.requires_grad_(false);
        return std::make_unique<ScriptModule>(std::move(held));
      },
      ExitCode::input);
}

}  // namespace quintet::potential
