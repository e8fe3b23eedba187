#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"

namespace quintet::verify {

/// Datasets that grow together: a table of run.h5, frames of a trajectory or of fields.
struct Table {
  std::string group{};                 ///< path in the file; "": the root
  std::vector<std::string> columns{};  ///< paths in the file
  std::string key{};                   ///< path of the dataset that rises from row to row; "": none
  bool is_of_frames = false;           ///< a longer column is a frame that was not finished
  std::size_t axis = 0;                ///< the one that grows
  std::string counts{};     ///< path of a dataset that says how many count, of each sample; "": none
  std::uint64_t rows = 0;   ///< of the longest column, or as counted
  std::uint64_t whole = 0;  ///< the first ones that are in all columns, with a key that rises
  std::string damage{};     ///< why the rest is not; "": it is
  std::string checksums{};  ///< path of the dataset that has those of the rows; "": none
  std::string altered{};    ///< which rows do not agree with them; "": none
};

/// All tables of a file, found by the first axis of their datasets: "sample", "row", "frame", or "time" after
/// "sample". Throws InputError where the file cannot be read.
[[nodiscard]] std::vector<Table> tables_of(const hdf5::File& file);

/// Keep the first `rows` rows, on the disk at once: the dataset that counts first, then the others.
void cut(hdf5::File& file, const Table& table, std::uint64_t rows);

}  // namespace quintet::verify
