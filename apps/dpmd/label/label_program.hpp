#pragma once

#include <string>

#include "apps/dpmd/ipi/messages.hpp"
#include "apps/dpmd/label/label_options.hpp"
#include "apps/dpmd/label/label_process.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// A program ended without a label.
struct NoLabel : InputError {
  NoLabel(const std::string& what, const ProcessEnd& how) : InputError(what), end(how) {}
  ProcessEnd end;
};

/// A program that stays and is asked for one frame after another by i-PI's protocol.
struct DriverRecipe {
  ipi::Units (*units)(const std::string& text);  ///< the program's own
  /// Write what the program reads at its start, with the frame that comes first and our port.
  void (*write)(const std::string& text, const std::string& folder, const Configuration& frame, int port);
  /// What frames must have in common to be given to one start of the program, beside atoms and boundaries.
  std::string (*kind)(const Configuration& frame);
  /// The frame as the program has it, and what it found as the frame has it.
  ipi::Positions (*sent)(const Configuration& frame);
  ipi::Forces (*received)(const Configuration& frame, ipi::Forces found);
  /// False if the program's output since the frame was sent is not whole yet. Throws InputError if it says
  /// that the result is no label.
  bool (*is_said)(const std::string& output, double energy);
};
/// The placeholders of a template whose program stays.
inline constexpr const char *driver_mark = "driver", *port_mark = "port";
/// Whether a template has one of them.
[[nodiscard]] bool stays(const std::string& text);

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
  DriverRecipe driver;  ///< where stays(template)
};

/// Name of the file in a frame's folder that takes the program's output.
inline constexpr const char* label_output = "output.log";

[[nodiscard]] const LabelRecipe& recipe_of(LabelProgram program);
/// The options' command, or the program's usual one.
[[nodiscard]] std::string command_of(const LabelOptions& options);
[[nodiscard]] const LabelRecipe& cp2k_recipe();
[[nodiscard]] const LabelRecipe& lammps_recipe();
[[nodiscard]] const LabelRecipe& ipi_recipe();

/// Throws InputError unless energy, forces and virial are finite and of the frame's size.
void check_labels(const Configuration& frame);

}  // namespace quintet::dpmd
