#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet::dpmd {

/// Force fields that evaluate frames: the model of `--model`, or of a registry (`--experts`) the one that a
/// router chooses by the frame's composition. Experts are kept in memory as far as `--budget` goes.
class FrameFields {
 public:
  /// Flags that choose, to be put behind those of a command; it passes their values on in this order.
  [[nodiscard]] static std::vector<Application::Flag> flags();
  /// @param single the field of `--model`, or nothing @param values of flags()
  FrameFields(std::unique_ptr<ForceField> single, std::span<const std::vector<std::string>> values);
  ~FrameFields();

  /// The model of a frame, by number, and why. Throws InputError where none is to evaluate it.
  struct Choice {
    int model = 0;
    std::string reason;
  };
  [[nodiscard]] Choice choose(const Configuration& frame, const std::string& name) const;
  [[nodiscard]] const std::vector<std::string>& type_names(int model) const;
  [[nodiscard]] std::vector<std::string> all_types() const;
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
