#pragma once

#include <string>
#include <vector>

#include "apps/quintet/verify/tables.hpp"

namespace quintet::verify {

enum class Verdict { whole, damaged, put_aside };

/// What is known of one file.
struct FileCheck {
  std::string path;
  Verdict verdict = Verdict::whole;
  std::string what{};           ///< what is damaged, or what it holds
  bool has_seal = false;        ///< all of its bytes were compared with a checksum
  bool is_checkpoint = false;   ///< in a folder of checkpoints, by its name
  bool can_be_opened = false;   ///< HDF5 finds all its objects
  std::vector<Table> tables{};  ///< where it can be opened
};

/// Whether it is a file that this program knows, by its name: HDF5 files and models.
[[nodiscard]] bool is_known(const std::string& path);
/// Read all of a file that says whether it is whole. Throws nothing but for what the system refuses.
[[nodiscard]] FileCheck check_file(const std::string& path);

}  // namespace quintet::verify
