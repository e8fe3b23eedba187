#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "surrogates/potential/exported/library/measured_model.hpp"
#include "surrogates/potential/exported/library/script_module.hpp"

namespace quintet::potential {

/// Whether a module is a MACE model exported for LAMMPS.
[[nodiscard]] bool is_mace(const ScriptModule& script);

/// Such a model: a graph of atoms whose edges go from neighbours to those in whose rows they stand. Its
/// method forward(graph, which atoms count, whether virials are wanted) gives the energy of those that count,
/// and its derivatives by all positions and a symmetric strain. Source: Batatia et al. 2022 (2206.07697);
/// mace-torch 0.3.16, its calculator for LAMMPS.
class MaceModel final : public MeasuredModel {
 public:
  /// Errors: InputError for frame parameters, which it does not read.
  MaceModel(std::string path, std::unique_ptr<ScriptModule> script,
            const std::vector<double>& frame_parameters);

  [[nodiscard]] const ExportedFacts& facts() const override { return facts_; }
  void evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) override;

 private:
  [[nodiscard]] c10::IValue graph(const ExportedSystem& system, std::int64_t n_nodes) const;

  std::string path_;
  std::unique_ptr<ScriptModule> script_;
  at::ScalarType numbers_ = at::kDouble;
  ExportedFacts facts_;
};

}  // namespace quintet::potential
