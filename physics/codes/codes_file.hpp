#pragma once

#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "physics/codes/binary_codes.hpp"

namespace quintet {

/// A matrix of a model, by its name there.
struct NamedCodes {
  std::string name;
  BinaryCodes codes;
};

/// Write `codes` into a group: the datasets `alpha` (float32) and `keys` (uint8), matrix after matrix, each
/// as in BinaryCodes, and the attributes
///
///     mu 4 (columns a key), bits [matrix], group [matrix], rows [matrix], columns [matrix], names [matrix]
///
/// so that signs take bits rows ceil(columns/8) bytes a matrix, scales 4 bits rows groups. Collective.
void write_codes(hdf5::Group codes, const std::vector<NamedCodes>& matrices);

/// Read what write_codes() wrote. Throws InputError for sizes that do not fit each other, before memory is
/// taken for them, and for scales that are not finite. Collective. @param what begins messages: the file
[[nodiscard]] std::vector<NamedCodes> read_codes(const hdf5::Group& codes, const std::string& what);

}  // namespace quintet
