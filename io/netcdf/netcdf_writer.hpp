#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quintet::netcdf {

enum class Format {
  classic,   ///< CDF-1: what every program reads; variables below 2 GB
  offset64,  ///< CDF-2
  netcdf4,   ///< an HDF5 file
};

/// Type of the numbers of a variable in the file.
enum class Type { int8, int16, int32, float32, float64 };

/// Makes a netCDF file, in one process: dimensions and variables first, then values. Throws ResourceError if
/// the disk is full, InternalError for what does not fit together.
class Writer {
 public:
  /// Make the file or replace it.
  static Writer create(const std::string& path, Format format = Format::netcdf4);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  /// `size` 0: unlimited.
  void dimension(const std::string& name, std::uint64_t size);
  void variable(const std::string& name, Type type, const std::vector<std::string>& dimensions);
  /// Attribute of a variable, or of the file where `variable` is empty.
  void attribute(const std::string& variable, const std::string& name, const std::string& text);
  /// Stored in the type of the variable (of the file: float64), or as float32 where `as_float`, as files with
  /// packed numbers have their scale_factor.
  void attribute(const std::string& variable, const std::string& name, double number, bool as_float = false);

  /// Write all of a variable, or a part of it: numbers as they are to be stored, not packed.
  void write(const std::string& variable, std::span<const double> values);
  void write(const std::string& variable, const std::vector<std::uint64_t>& start,
             const std::vector<std::uint64_t>& count, std::span<const double> values);
  /// Bring all to the disk and close (the destructor does that otherwise, but cannot say that it failed).
  void close();

 private:
  struct Implementation;
  explicit Writer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::netcdf
