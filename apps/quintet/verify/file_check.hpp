#pragma once

#include <string>
#include <vector>

#include "apps/quintet/verify/tables.hpp"

namespace quintet::verify {

enum class Verdict { whole, damaged, put_aside, in_use };

/// Result of the check of one file.
struct FileCheck {
  std::string path;
  Verdict verdict = Verdict::whole;
  std::string what{};           ///< what is damaged, or what it holds
  bool has_seal = false;        ///< all of its bytes were compared with a checksum
  bool is_checkpoint = false;   ///< in a folder of checkpoints, by its name
  bool can_be_opened = false;   ///< HDF5 finds all its objects
  std::vector<Table> tables{};  ///< where it can be opened
};

/// Whether it is a file that this program knows, by the end of its name: HDF5 files and models, also under
/// the names that runs give to what they put aside or have not finished.
[[nodiscard]] bool is_known(const std::string& path);
/// Read all of a file that says whether it is whole. Throws nothing but for what the system refuses.
/// `is_owned`: a living run may be writing to what has no seal, which is then not looked into.
[[nodiscard]] FileCheck check_file(const std::string& path, bool is_owned = false);

}  // namespace quintet::verify
