#pragma once

#include <string>
#include <vector>

/// Sets of files that a Dedalus handler wrote. Not for users of the room.
namespace quintet::field_formats {

/// One set of writes: a file of the whole grid, or one file of each process in a folder.
struct DedalusSet {
  int number = 0;                  ///< N of NAME_sN
  std::string joint;               ///< NAME_sN.h5; "": no such file
  std::vector<std::string> parts;  ///< NAME_sN/NAME_sN_pM.h5 by M; empty: the joint file has all
};

/// The sets that a path stands for, by number. The path is a handler's folder, one set's file, or one set's
/// folder of process files; empty for any other. Throws InputError for sets of two handlers, or for a
/// process's file by itself.
[[nodiscard]] std::vector<DedalusSet> dedalus_sets(const std::string& path);
/// Whether a folder holds sets.
[[nodiscard]] bool is_dedalus_folder(const std::string& path);

}  // namespace quintet::field_formats
