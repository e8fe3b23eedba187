#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/dpmd/label/label_options.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// Result of labelling frames.
struct Labelling {
  struct Failure {
    std::size_t frame;
    std::string reason;
  };
  std::vector<Configuration> frames;  ///< with energy, forces and, if the program gave them, virials
  std::vector<Failure> failures;
  std::vector<Failure> killed;  ///< program killed from outside at each try: nothing is known of them
  std::size_t kept = 0;         ///< of `frames`: labelled by a run before
  bool stopped = false;         ///< left early by a signal; frames that are done are kept
};

/// Label frames with another program, each in a folder of its own, FOLDER/frame_000000 and so on; on this
/// rank alone.
///
/// A frame counts once its label.xyz is there, whole; a later call takes it from there and does the others.
/// So does one that is in the folder `known` (label_memory.hpp), where new labels go, too. A frame that fails
/// is told with its reason and does not hold up the rest. A program that a signal ends is tried three times.
/// Throws InputError: no such program, a template that cannot work, a folder that holds labels of other
/// frames.
[[nodiscard]] Labelling label_frames(const std::vector<Configuration>& frames, const LabelOptions& options,
                                     const std::string& folder, const std::optional<std::string>& known);

/// FOLDER/labelled.xyz, all frames, and FOLDER/systems/*, one DeePMD folder for each sequence of types.
void write_labelled(const std::string& folder, const std::vector<Configuration>& frames);

/// Throws InputError unless program, template and command of the options can work.
void check_label_options(const LabelOptions& options);

/// Words of `dpmd label`: `frames` by place.
struct LabelCommandOptions {
  LabelOptions labelling;
  std::string output = "labels";
  std::optional<std::string> known;
  NamingOptions naming;
  std::vector<std::string> frames;
};
void describe(Schema& schema, LabelCommandOptions& options);
/// `dpmd label FRAMES... --with cp2k|lammps --template FILE`.
void label(const Comm& comm, const LabelCommandOptions& options);

}  // namespace quintet::dpmd
