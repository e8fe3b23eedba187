#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "physics/particles/atoms/box.hpp"

namespace quintet {

/// Labels of a file of frames that count, and the meaning of their stress.
struct LabelSource {
  /// none: labels are ignored and not parsed; compare: doubtful labels are left out.
  enum class Use { none, compare, learn } use = Use::learn;
  /// Prefix of energy, forces, virial and stress: "REF_", "" for the plain names; absent: the one source that
  /// a frame has.
  std::optional<std::string> prefix = {};
  /// (eV/angstrom^3) of one unit of stress; negative where pressure is counted positive.
  double stress_unit = 1;
};

/// The key=value pairs of a comment line by lower-case key, each with the key as written.
struct CommentValue {
  std::string name, value;
};
using Comment = std::map<std::string, CommentValue>;
/// Names of the columns of an atom's line as written, by the lower-case name.
using ColumnNames = std::map<std::string, std::string>;

/// Keys and columns, in lower case, of the one source of labels that counts in a frame; "": absent.
struct LabelNames {
  std::string energy, virial, stress, forces;
  std::string other_forces;  ///< of a second source that must be equal
};

/// Choose the source of the labels of a frame: energy, forces and virial of one.
///
/// Sources are told apart by what stands before the names: nothing, REF_, DFT_, MACE_, or what
/// `source.prefix` says. Two that say the same are one. Throws InputError with both values where they differ,
/// or where one has what the other lacks, and nobody chose. Second names of one quantity stand in `reading`.
[[nodiscard]] LabelNames choose_labels(const Comment& comment, const ColumnNames& columns,
                                       const LabelSource& source, std::size_t n_atoms,
                                       const std::string& where, Reading& reading);

/// The virial of a frame (eV), from its virial or from -volume * stress; nothing if it has neither, or a
/// stress and an open direction, where a stress means nothing. Throws InputError: not nine numbers (a stress:
/// or six, xx yy zz yz xz xy), or a virial and a stress that contradict one another.
[[nodiscard]] std::optional<Mat3> virial_of(const Comment& comment, const LabelNames& names, const Box& box,
                                            const LabelSource& source, const std::string& where,
                                            Reading& reading);

/// The numbers of a value such as "1 2 3" or "[1, 2, 3]". Throws InputError naming key and place.
[[nodiscard]] std::vector<double> numbers_of(const std::string& value, const std::string& where,
                                             const std::string& key);
/// Nine of them.
[[nodiscard]] Mat3 nine_numbers(const std::string& value, const std::string& where, const std::string& key);

}  // namespace quintet
