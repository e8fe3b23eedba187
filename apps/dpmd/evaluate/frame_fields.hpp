#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet::dpmd {

/// Flags of commands that may choose among the models of a registry.
struct ExpertFlags {
  std::optional<std::string> experts, router, pin;
  std::optional<double> budget;  ///< (MB)
  std::optional<std::int64_t> prefetch;
};
void describe(Schema& schema, ExpertFlags& options);
/// The first flag that says how to choose, where there is nothing to choose from: "--router"; "" if none.
[[nodiscard]] std::string surplus_flag(const ExpertFlags& options);

/// Force fields that evaluate frames: the model of `--model`, or of a registry (`--experts`) the one that a
/// router chooses by the frame's composition. Experts are kept in memory as far as `--budget` goes.
class FrameFields {
 public:
  /// @param single the field of `--model`, or nothing
  FrameFields(std::unique_ptr<ForceField> single, const ExpertFlags& flags);
  ~FrameFields();

  /// The model of a frame, by number, and why. Throws InputError where none is to evaluate it.
  struct Choice {
    int model = 0;
    std::string reason;
  };
  [[nodiscard]] Choice choose(const Configuration& frame, const std::string& name) const;
  [[nodiscard]] const std::vector<std::string>& type_names(int model) const;
  [[nodiscard]] std::vector<std::string> all_types() const;
  /// Numbers of each atom that the field of `--model` reads (aparam); experts are asked for none.
  [[nodiscard]] int n_atom_parameters() const { return single_ ? single_->n_atom_parameters() : 0; }
  /// "" where there is one model alone.
  [[nodiscard]] std::string id(int model) const;
  /// In what order frames of these models are best evaluated: positions.
  [[nodiscard]] std::vector<int> order(std::span<const int> models) const;

  /// The field of a model, in use until the next call; `next` (-1: none) is read meanwhile.
  [[nodiscard]] ForceField& use(int model, int next);
  /// Log what the cache has done.
  void report() const;

 private:
  struct Experts;
  std::unique_ptr<ForceField> single_;
  std::unique_ptr<Experts> experts_;
};

}  // namespace quintet::dpmd
