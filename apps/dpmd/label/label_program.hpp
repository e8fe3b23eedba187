#pragma once

#include <string>

#include "apps/dpmd/label/label_options.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// A program that labels: how to ask it and what it said.
struct LabelRecipe {
  std::string name;             ///< "CP2K"
  std::string default_command;  ///< run in the frame's folder
  std::string how_to_get_it;    ///< for the message that it is not found
  /// Throws InputError if the template cannot make an input.
  void (*check)(const std::string& text, const std::string& path);
  /// Write what the program reads into the frame's folder.
  void (*write)(const std::string& text, const std::string& folder, const Configuration& frame);
  /// The frame with energy, forces and, if the program gave one, virial; from the files in its folder. Throws
  /// InputError that says why they are not labels.
  Configuration (*read)(const std::string& folder, Configuration frame);
};

/// Name of the file in a frame's folder that takes the program's output.
inline constexpr const char* label_output = "output.log";

[[nodiscard]] const LabelRecipe& recipe_of(LabelProgram program);
/// The options' command, or the program's usual one.
[[nodiscard]] std::string command_of(const LabelOptions& options);
[[nodiscard]] const LabelRecipe& cp2k_recipe();
[[nodiscard]] const LabelRecipe& lammps_recipe();

/// Throws InputError unless energy, forces and virial are finite and of the frame's size.
void check_labels(const Configuration& frame);

}  // namespace quintet::dpmd
