#include <memory>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

namespace quintet::electronic::reading {

namespace {

FileShare read_format(const Comm& comm, const std::string& path, MatrixFormat format,
                      std::optional<int> n_rows) {
  if (format == MatrixFormat::quintet_hdf5) return read_quintet(comm, path);
  std::unique_ptr<FileBytes> file;
  together(comm, [&] { file = std::make_unique<FileBytes>(path); });
  switch (format) {
    case MatrixFormat::cp2k_text:
      return read_cp2k_text(comm, *file, n_rows);
    case MatrixFormat::cp2k_binary:
      return read_cp2k_binary(comm, *file, n_rows);
    case MatrixFormat::elsi_csc:
      return read_elsi_csc(comm, *file);
    case MatrixFormat::matrix_market:
      return read_matrix_market(comm, *file);
    default:
      return read_ntpoly(comm, *file);
  }
}

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
  return read_format(comm, path, format, n_rows);
}

}  // namespace quintet::electronic::reading
