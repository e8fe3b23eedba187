#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/ivalue.h>

namespace quintet::potential {

/// A TorchScript module, evaluated operator by operator.
///
/// TorchScript's optimiser is off: it watches the first calls and compiles afterwards, so that numbers would
/// change between steps, and a restart would differ from an uninterrupted run.
class ScriptModule {
 public:
  struct Held;  ///< torch::jit::Module, whose header takes long to compile
  explicit ScriptModule(std::unique_ptr<Held> held);
  ~ScriptModule();

  /// Name of its class, without that of the file.
  [[nodiscard]] std::string kind() const;
  [[nodiscard]] std::vector<std::unique_ptr<ScriptModule>> parts() const;
  [[nodiscard]] std::unique_ptr<ScriptModule> part(const char* name) const;
  [[nodiscard]] bool has_method(const char* name) const;
  [[nodiscard]] bool has_attribute(const char* name) const;
  [[nodiscard]] c10::IValue attribute(const char* name) const;
  [[nodiscard]] c10::IValue call(const char* method, std::vector<c10::IValue> arguments = {}) const;

 private:
  std::unique_ptr<Held> held_;
};

/// Read a module to the host's memory. Errors: InputError; an operator that is missing is named, with what to
/// do.
[[nodiscard]] std::unique_ptr<ScriptModule> load_script(const std::string& path);

}  // namespace quintet::potential
