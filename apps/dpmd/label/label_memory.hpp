#pragma once

#include <optional>
#include <string>

#include "apps/dpmd/label/label_options.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// Labels by what was asked for: FOLDER/KEY.xyz, whoever asked, and whatever build of dpmd did.
///
/// KEY is a checksum of the program's name, the command, the template's bytes, and the frame's cell,
/// boundaries, names of types and positions (to the bit). Files that the template names are not seen, nor is
/// the program.
class LabelMemory {
 public:
  /// `folder`: absent, nothing is known. It is made with the first label.
  LabelMemory(const LabelOptions& options, const std::string& template_text,
              std::optional<std::string> folder);

  [[nodiscard]] std::string key(const Configuration& frame) const;
  /// Copy what is known of a frame to `path`, which has that name once it is whole; false: nothing is. Throws
  /// InputError if what is known is damaged, ResourceError.
  bool recall(const Configuration& frame, const std::string& path) const;
  /// Remember a frame's label, which is in the file `path`. Throws ResourceError.
  void remember(const Configuration& frame, const std::string& path) const;

 private:
  [[nodiscard]] std::string file(const std::string& key) const { return *folder_ + "/" + key + ".xyz"; }

  std::string asked_;  ///< of all frames
  std::optional<std::string> folder_;
};

/// The label that a file holds, if it is there. Throws InputError if it is not a label of this frame.
[[nodiscard]] std::optional<Configuration> read_label(const std::string& path, const Configuration& frame);

}  // namespace quintet::dpmd
