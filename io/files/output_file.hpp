#pragma once

#include <string>
#include <string_view>

namespace quintet {

/// Make an empty file at `path` for a writer that is to open it: what had this name is removed, not followed,
/// so that a link laid there leads nowhere. Throws ResourceError.
///
/// For temporary names, which can be foreseen: where others may write too, they could have been laid before.
void make_new_file(const std::string& path);

/// `word` as a part of one file's name: letters, digits, '_', '-', '+' and, not in front, '.' stay, all else
/// becomes '_'; at most 100 characters. Words of an input file must not lead out of the folder.
[[nodiscard]] std::string file_name_part(std::string_view word);

}  // namespace quintet
