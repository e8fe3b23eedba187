#pragma once

#include "surrogates/potential/exported/compiled_package.hpp"
#include "surrogates/potential/exported/library/compiled_module.hpp"
#include "surrogates/potential/exported/library/measured_model.hpp"

namespace quintet::potential {

/// A local model of DeePMD-kit, compiled: coordinates, types, rows of neighbours and owners make energies,
/// forces and virials of the atoms that have a row. Source: DeePMD-kit 3.2, its exportable PyTorch back end.
class CompiledDeepmdModel final : public MeasuredModel {
 public:
  /// Errors: InputError where the code gives no energies.
  explicit CompiledDeepmdModel(CompiledPackage package);

  [[nodiscard]] const ExportedFacts& facts() const override { return package_.facts; }
  void evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) override;

 private:
  [[nodiscard]] std::vector<std::int64_t> seen_neighbours(const ExportedSystem& system) const;
  [[nodiscard]] int output(const char* name) const;

  CompiledPackage package_;
  CompiledModule code_;
};

}  // namespace quintet::potential
