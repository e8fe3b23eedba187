#include <algorithm>

#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "physics/electronic/files/matrix_writers.hpp"

namespace quintet::electronic {

namespace writing {

SortedElements sorted_elements(const BlockMatrix& matrix, bool by_column) {
  const Comm& comm = matrix.comm;
  const std::int64_t n = matrix.blocking->n_rows();
  const auto line = [&](const Triplet& e) { return by_column ? e.column : e.row; };
  std::vector<std::vector<Triplet>> send(comm.size());
  for (const auto& e : elements(matrix)) send[line(e) * std::int64_t{comm.size()} / n].push_back(e);
  SortedElements sorted;
  for (const auto& list : comm.all_to_all(send))
    sorted.elements.insert(sorted.elements.end(), list.begin(), list.end());
  std::sort(sorted.elements.begin(), sorted.elements.end(), [&](const Triplet& a, const Triplet& b) {
    const auto across_a = by_column ? a.row : a.column, across_b = by_column ? b.row : b.column;
    return line(a) != line(b) ? line(a) < line(b) : across_a < across_b;
  });
  int rank = 0;
  for (const auto count : comm.all_gather(std::ssize(sorted.elements))) {
    if (rank++ < comm.rank()) sorted.first += count;
    sorted.total += count;
  }
  return sorted;
}

}  // namespace writing

void write_matrix(const BlockMatrix& matrix, const std::string& path, MatrixFormat format,
                  const MatrixLabels& labels) {
  row_of(matrix_formats(), format).write(matrix, path, labels);
}

}  // namespace quintet::electronic
