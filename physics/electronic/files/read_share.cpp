#include <memory>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

namespace quintet::electronic::reading {

namespace {

/// The format in which to read: the one found if `wanted` is automatic. Throws InputError if the file is
/// surely another one than wanted. Collective.
MatrixFormat choose_format(const Comm& comm, const std::string& path, MatrixFormat wanted) {
  MatrixFormat format = wanted;
  together(comm, [&] {
    const FileBytes exists(path);
    if (wanted == MatrixFormat::automatic) {
      format = detect_format(path);
      return;
    }
    const auto found = format_of_contents(exists);
    QUINTET_CHECK(!found || *found == wanted, "{}: is a file of format {}, not {}", path, format_name(*found),
                  format_name(wanted));
  });
  return format;
}

}  // namespace

FileShare read_share(const Comm& comm, const std::string& path, MatrixFormat& format,
                     std::optional<int> n_rows) {
  format = choose_format(comm, path, format);
  std::unique_ptr<FileBytes> file;
  together(comm, [&] { file = std::make_unique<FileBytes>(path); });
  return row_of(matrix_formats(), format).read(comm, *file, n_rows);
}

}  // namespace quintet::electronic::reading
