#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/config/tree.hpp"

namespace quintet::potential {

/// DeePMD-kit's serialised model, in no file format: a tree in which arrays are named, and the arrays.
///
/// As `.dp` (HDF5) the tree is the root's attribute `json` and each array a dataset; as `.yaml` or `.json`
/// arrays stand in the tree themselves, {"@class": np.ndarray, dtype, value: nested lists}.
struct DpDocument {
  struct Array {
    std::vector<std::uint64_t> shape;
    std::vector<double> values;
    bool single = false;  ///< stored as float32
  };
  Tree description;
  std::map<std::string, Array> arrays;  ///< by name: "/variable_0000"

  /// Put an array in; returns what the description says of it: its name.
  Tree add(std::vector<std::uint64_t> shape, std::vector<double> values, bool single);
};

/// A number for the tree, in digits that YAML 1.1 and JSON readers take as a number (1.0e-05, not 1e-05).
[[nodiscard]] Tree document_number(double value);

/// Shortest digits that give a value, of a float or a double, back. PyYAML takes 1e-05 for text: its numbers
/// need a point.
[[nodiscard]] std::string document_digits(double value, bool single);

/// True if the name of a file says that it holds the tree as text: .yaml, .yml, .json.
[[nodiscard]] bool is_text_document(const std::string& path);

/// Write as text or as HDF5, by the name's ending: to a temporary name first, brought to the disk, renamed.
/// On one rank. Throws ResourceError (no such folder, not writable, disk full); nothing stays behind.
void write_document(const std::string& path, const DpDocument& document);

/// Read a text document. Throws InputError: syntax, arrays that are ragged, not of numbers, or do not say
/// their values.
[[nodiscard]] DpDocument read_text_document(const std::string& path);

}  // namespace quintet::potential
