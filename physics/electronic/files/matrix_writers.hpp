#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "physics/electronic/files/file_sink.hpp"
#include "physics/electronic/files/matrix_files.hpp"

/// Functions that the writers of single formats share. Not for other folders.
namespace quintet::electronic::writing {

/// Elements in the user's numbering, in order over the ranks: each rank holds a range of rows (columns).
struct SortedElements {
  std::vector<Triplet> elements;      ///< this rank's, sorted by row and column (column and row)
  std::int64_t first = 0, total = 0;  ///< number of its first one, and of all
};
/// Collective.
[[nodiscard]] SortedElements sorted_elements(const BlockMatrix& matrix, bool by_column);

/// Bytes of a value as they lie in memory.
template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Append all elements, each as `form(bytes, element)` puts it, the ranks one after the other and in
/// portions. Collective.
template <class Form>
void append_elements(FileSink& sink, const Comm& comm, const SortedElements& sorted, Form&& form) {
  constexpr std::size_t at_once = 1 << 17;
  int rank = 0;
  for (const auto count : comm.all_gather(sorted.elements.size())) {
    std::string bytes;
    for (std::size_t begin = 0; begin < count; begin += at_once) {
      bytes.clear();
      if (comm.rank() == rank)
        for (auto k = begin; k < std::min(count, begin + at_once); ++k) form(bytes, sorted.elements[k]);
      sink.append_from(rank, bytes);
    }
    ++rank;
  }
}

/// The writers of the table of formats: see MatrixFormatRow. Collective.
void write_cp2k_text(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels);
void write_cp2k_binary(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels);
void write_matrix_market(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels);
void write_elsi_csc(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels);
void write_ntpoly(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels);
void write_quintet(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels);

}  // namespace quintet::electronic::writing
