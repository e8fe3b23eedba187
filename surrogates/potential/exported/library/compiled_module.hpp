#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace quintet::potential {

/// A model's machine code, as AOTInductor has packed it, in the host's memory.
///
/// The code asks for as many threads as there were where it was compiled, whatever the run has. A run of one
/// thread gets one: sums are then the same each time, and ranks do not crowd each other's cores.
class CompiledModule {
 public:
  struct Held;  ///< torch's loader, whose header takes long to compile
  /// Errors: InputError where the code does not fit LibTorch, with what to do.
  explicit CompiledModule(std::string path);
  ~CompiledModule();

  /// What the code makes of its inputs, in its order. Errors: as ExportedModel::evaluate().
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;

 private:
  std::string path_;
  std::unique_ptr<Held> held_;
};

}  // namespace quintet::potential
