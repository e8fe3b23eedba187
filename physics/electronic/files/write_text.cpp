#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/electronic/files/matrix_writers.hpp"

namespace quintet::electronic::writing {

namespace {

/// x as Fortran's E23.14E3 writes it: 0.dddddddddddddd times a power of ten of three digits.
std::string fortran_e23(double x) {
  if (x == 0) return "  0.00000000000000E+000";
  const auto text = fmt::format("{:.13e}", std::abs(x));  // d.ddddddddddddde+xx
  const auto mark = text.find('e');
  return fmt::format("{:>23}", fmt::format("{}0.{}{}E{:+04d}", x < 0 ? "-" : "", text.substr(0, 1),
                                           text.substr(2, mark - 2), std::stoi(text.substr(mark + 1)) + 1));
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

void write_cp2k_text(const BlockMatrix& matrix, const std::string& path, const MatrixLabels&) {
  QUINTET_CHECK(matrix.blocking->n_rows() < 100000000,
                "{}: a matrix of {} rows has indices of more than 8 digits, which CP2K's text format cannot "
                "hold; write cp2k_binary",
                path, matrix.blocking->n_rows());
  const auto sorted = sorted_elements(matrix, false);
  FileSink sink(matrix.comm, path);
  append_elements(sink, matrix.comm, sorted, [](std::string& text, const Triplet& e) {
    fmt::format_to(std::back_inserter(text), "{:8d}{:8d}{}\n", e.row + 1, e.column + 1, fortran_e23(e.value));
  });
  sink.finish();
}

void write_matrix_market(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels) {
  const auto sorted = sorted_elements(matrix, false);
  const int n = matrix.blocking->n_rows();
  FileSink sink(matrix.comm, path);
  sink.append_from(0, fmt::format("%%MatrixMarket matrix coordinate real general\n% {} Unit: {}.\n{} {} {}\n",
                                  one_line(labels.description), one_line(labels.units), n, n, sorted.total));
  append_elements(sink, matrix.comm, sorted, [](std::string& text, const Triplet& e) {
    fmt::format_to(std::back_inserter(text), "{} {} {:.17g}\n", e.row + 1, e.column + 1, e.value);
  });
  sink.finish();
}

}  // namespace quintet::electronic::writing
