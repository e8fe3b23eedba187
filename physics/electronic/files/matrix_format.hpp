#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/parallel/comm_fwd.hpp"

namespace quintet::electronic {

struct BlockMatrix;
class FileBytes;
struct MatrixLabels;
namespace reading {
struct FileShare;
}

enum class MatrixFormat {
  automatic,  ///< to be detected; no file has it
  cp2k_text,
  cp2k_binary,
  elsi_csc,
  matrix_market,
  ntpoly_binary,
  quintet_hdf5
};

/// All that the rest of the code knows of a format of matrix files.
struct MatrixFormatRow {
  MatrixFormat value;
  std::string_view name, doc;  ///< "cp2k_binary" in YAML, "CP2K binary" for people
  const char* ending;          ///< of the names of files that we write
  /// Endings that tell the format of a file whose first bytes do not: then its reader says what is wrong.
  std::array<std::string_view, 2> telling_endings;
  bool tells_rows;  ///< CP2K does not say how many rows a matrix has
  /// Whether the first bytes (up to 256) and the size of a file are those of the format.
  bool (*begins)(const std::string& head, std::uint64_t size);
  /// This rank's share of the file; `n_rows`: what the user says, or the largest index there may be.
  /// InputErrors are thrown on all ranks. Collective.
  reading::FileShare (*read)(const Comm& comm, const FileBytes& file, std::optional<int> n_rows);
  /// See write_matrix(). Collective.
  void (*write)(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels);
};

/// The formats, in the order in which a file is compared with them: the surest marks first.
[[nodiscard]] std::span<const MatrixFormatRow> matrix_formats();

/// "cp2k_binary", ...
[[nodiscard]] std::string format_name(MatrixFormat format);
/// Format of a file, from its first bytes and its size, else from the ending of its name. Throws InputError
/// if the file is absent, empty or of another format.
[[nodiscard]] MatrixFormat detect_format(const std::string& path);

}  // namespace quintet::electronic
