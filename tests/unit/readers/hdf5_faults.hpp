#pragma once

#include <string>
#include <vector>

/// Faults of HDF5 files (netCDF-4 among them), made with the C library alone.
namespace quintet::readers {

/// An attribute, or a dataset where `attribute` is empty.
struct Place {
  std::string object, attribute;
  bool is_text = false, is_integer = false;
  [[nodiscard]] std::string text() const { return object + (attribute.empty() ? "" : "@" + attribute); }
};
/// All attributes and datasets of texts and numbers in a file.
[[nodiscard]] std::vector<Place> places_of(const std::string& path);

enum class Fault {
  absent,   ///< it is not there
  type,     ///< text for numbers, a number for text
  fraction  ///< integers become numbers that are none
};
/// Do this to a file. False where it cannot be done there.
bool damage(const std::string& path, const Place& place, Fault fault);

}  // namespace quintet::readers
