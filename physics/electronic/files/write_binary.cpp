#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "physics/electronic/files/matrix_writers.hpp"

namespace quintet::electronic::writing {

namespace {

/// First element of each column, from 1 as ELSI counts; one without elements begins where the next does.
/// Collective.
std::vector<std::int32_t> column_begins(const Comm& comm, int n, const SortedElements& sorted) {
  std::vector<std::int32_t> count(n, 0);
  for (const auto& e : sorted.elements) ++count[e.column];
  comm.reduce(std::span<std::int32_t>(count), Comm::Reduction::sum);
  std::int32_t next = 1;
  for (auto& c : count) next += std::exchange(c, next);
  return count;
}

/// ELSI's 16 integers.
std::string elsi_header(int n_rows, std::int64_t n_elements, double n_electrons) {
  constexpr std::int32_t magic = 170915, unset = -910910;
  std::vector<std::int32_t> numbers(16, unset);
  numbers[0] = magic;
  numbers[2] = 0;  // real
  numbers[3] = n_rows;
  if (n_electrons > 0) numbers[4] = std::lround(n_electrons);
  numbers[5] = n_elements;
  std::string bytes;
  for (const auto value : numbers) put(bytes, value);
  return bytes;
}

}  // namespace

void write_cp2k_binary(const BlockMatrix& matrix, const std::string& path, const MatrixLabels&) {
  static constexpr std::int32_t marker = 16;
  const auto sorted = sorted_elements(matrix, false);
  FileSink sink(matrix.comm, path);
  append_elements(sink, matrix.comm, sorted, [](std::string& bytes, const Triplet& e) {
    put(bytes, marker);
    put(bytes, e.row + 1);
    put(bytes, e.column + 1);
    put(bytes, e.value);
    put(bytes, marker);
  });
  sink.finish();
}

void write_ntpoly(const BlockMatrix& matrix, const std::string& path, const MatrixLabels&) {
  const auto sorted = sorted_elements(matrix, true);
  std::string header;
  for (const std::int32_t value : {matrix.blocking->n_rows(), matrix.blocking->n_rows(), 0})
    put(header, value);
  put(header, sorted.total);
  FileSink sink(matrix.comm, path);
  sink.append_from(0, header);
  append_elements(sink, matrix.comm, sorted, [](std::string& bytes, const Triplet& e) {
    put(bytes, e.column + 1);
    put(bytes, e.row + 1);
    put(bytes, e.value);
  });
  sink.finish();
}

void write_elsi_csc(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels) {
  const auto sorted = sorted_elements(matrix, true);
  QUINTET_CHECK(sorted.total < std::numeric_limits<std::int32_t>::max(),
                "{}: {} elements are too many for ELSI's 32-bit counters; write quintet_hdf5", path,
                sorted.total);
  const int n = matrix.blocking->n_rows();
  auto header = elsi_header(n, sorted.total, labels.n_electrons);
  for (const auto begin : column_begins(matrix.comm, n, sorted)) put(header, begin);
  FileSink sink(matrix.comm, path);
  sink.append_from(0, header);
  append_elements(sink, matrix.comm, sorted,
                  [](std::string& bytes, const Triplet& e) { put(bytes, e.row + 1); });
  append_elements(sink, matrix.comm, sorted,
                  [](std::string& bytes, const Triplet& e) { put(bytes, e.value); });
  sink.finish();
}

}  // namespace quintet::electronic::writing
