#pragma once

#include <memory>
#include <string>
#include <vector>

#include "surrogates/potential/exported/library/measured_model.hpp"
#include "surrogates/potential/exported/library/script_module.hpp"

namespace quintet::potential {

/// Whether a module is a model that DeePMD-kit's PyTorch back end has frozen.
[[nodiscard]] bool is_deepmd(const ScriptModule& script);

/// Such a model. Its method forward_lower(coordinates, types, neighbours, owners, ...) gives energies, forces
/// and virials of the atoms that have a row. Where ghosts have rows, too, its part that gives energies is
/// called, and differentiated here: forces are those of the centres' energies alone. Source: DeePMD-kit 3.2,
/// its energy model of the PyTorch back end.
class DeepmdModel final : public MeasuredModel {
 public:
  /// Errors: InputError for models that predict no energies, have spins or read parameters of atoms, and for
  /// frame parameters that do not fit.
  DeepmdModel(std::string path, std::unique_ptr<ScriptModule> script, std::vector<double> frame_parameters);

  [[nodiscard]] const ExportedFacts& facts() const override { return facts_; }
  void evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) override;

 private:
  [[nodiscard]] std::int64_t number(const char* method) const;
  [[nodiscard]] bool flag(const char* method) const;
  [[nodiscard]] std::vector<std::string> words(const char* method) const;
  void read_facts();
  void read_reach_of_messages();
  void evaluate_with_ghosts(const ExportedSystem& system, bool with_virials, ExportedResult& result);
  void refuse_the_uncommon() const;
  void check_frame_parameters() const;

  std::string path_;
  std::unique_ptr<ScriptModule> script_;
  std::unique_ptr<ScriptModule> atoms_;  ///< energies of atoms without their derivatives, where needed
  std::vector<double> frame_parameters_;
  ExportedFacts facts_;
};

}  // namespace quintet::potential
