#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/files/reading.hpp"

namespace quintet::netcdf {

struct Variable;

/// Units of valid_range, valid_min and valid_max: packed or unpacked.
enum class Limits {
  from_file,  ///< told by their type; refused where it tells nothing
  stored,     ///< as the numbers that are stored
  unpacked,   ///< as the numbers that are meant
  ignored     ///< nothing: all values count
};

/// User's facts about a variable's numbers, beside those of the file.
struct UnpackingOptions {
  Limits limits = Limits::from_file;
  std::vector<double> missing;  ///< unpacked numbers that mark missing values, too
  std::string limits_key;       ///< the key that sets `limits`, for messages; "": no key
};

/// How stored numbers become those that are meant: stored * scale + offset, NaN where the stored one marks a
/// missing value or lies outside the valid range.
struct Unpacking {
  double scale = 1, offset = 0;
  std::vector<double> missing;                                             ///< stored numbers
  double least = -std::numeric_limits<double>::infinity(), most = -least;  ///< stored, both valid
  double least_meant = least, most_meant = most;                           ///< the same, unpacked
  Reading reading;
  /// Limits that the file's types make those of stored numbers, as numbers; where there is a key to say
  /// otherwise.
  struct Doubt {
    double first, last;
    std::string message;  ///< what to say where only the other reading makes sense
  };
  std::optional<Doubt> doubt;

  /// Unpack numbers of a type that files store, such as double and std::int16_t; `values` may be `stored`
  /// itself. Throws InputError where limits leave out more than half of the numbers that are not marked as
  /// missing, and would leave out none if they were of unpacked numbers.
  template <class T>
  void unpack(std::span<const T> stored, std::span<double> values) const;
  /// Unpack numbers of 16 bits, negative ones wrapped where they are unsigned. Errors as unpack().
  [[nodiscard]] std::vector<double> unpacked(std::span<const std::int16_t> stored, bool is_unsigned) const;

 private:
  template <class T>
  void check_limits(std::span<const T> stored) const;
};

/// Read off a variable's attributes how it is unpacked.
///
/// - Fill values: _FillValue, missing_value, else the type's own. Where _Unsigned is true, negative ones are
///   wrapped as stored numbers are. A missing_value that the stored type cannot hold is one of the unpacked
///   numbers.
/// - Limits (NetCDF Users' Guide, appendix A; CF 1.11, 2.5.1 and 8.1): of unpacked numbers where they have
///   the type of scale_factor and add_offset and this is wider than the stored one, else of stored ones, to
///   whose type they are rounded.
///
/// Throws InputError, the variable's place in front: an attribute of a wrong type or length, limits that no
/// number meets, limits of integers that are neither of the stored type nor of scale_factor's.
[[nodiscard]] Unpacking unpacking_of(const Variable& variable, const UnpackingOptions& options = {});

}  // namespace quintet::netcdf
