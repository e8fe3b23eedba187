#include "physics/particles/domain/parameter_rows.hpp"

#include <algorithm>
#include <numeric>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

void append_row(const Atoms& atoms, int i, std::vector<double>& rows) {
  rows.push_back(static_cast<double>(atoms.id(i)));  // below 2^53, as ids in float64 are
  for (int k = 0; k < atoms.n_parameters(); ++k) rows.push_back(atoms.parameters(i, k));
}

/// Rows in the order of their first number, the id.
std::vector<double> sorted_by_id(const std::vector<double>& rows, std::size_t width) {
  std::vector<std::size_t> order(rows.size() / width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return rows[a * width] < rows[b * width]; });
  std::vector<double> sorted;
  sorted.reserve(rows.size());
  for (const std::size_t row : order)
    sorted.insert(sorted.end(), rows.begin() + row * width, rows.begin() + (row + 1) * width);
  return sorted;
}

}  // namespace

std::vector<double> parameter_rows(const Atoms& atoms, std::int64_t first, std::int64_t last) {
  std::vector<double> rows;
  for (int i = 0; atoms.n_parameters() > 0 && i < atoms.n_local; ++i)
    if (atoms.id(i) >= first && atoms.id(i) <= last) append_row(atoms, i, rows);
  return rows;
}

std::vector<double> sent_parameters(const Comm& comm, const Atoms& atoms,
                                    const std::function<int(int)>& rank_of) {
  if (atoms.n_parameters() == 0 || comm.size() == 1) return parameter_rows(atoms);
  std::vector<std::vector<double>> leaving(comm.size());
  for (int i = 0; i < atoms.n_local; ++i) append_row(atoms, i, leaving[rank_of(i)]);
  std::vector<double> rows;
  for (const auto& arrived : comm.all_to_all(leaving))
    rows.insert(rows.end(), arrived.begin(), arrived.end());
  return rows;
}

void set_parameters(const std::vector<double>& rows, Atoms& atoms) {
  const std::size_t n = atoms.n_parameters(), width = n + 1;
  if (n == 0) return;
  const auto sorted = sorted_by_id(rows, width);
  std::vector<double> ids;
  for (std::size_t at = 0; at < sorted.size(); at += width) ids.push_back(sorted[at]);
  for (int i = 0; i < atoms.n_local; ++i) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), static_cast<double>(atoms.id(i)));
    QUINTET_ASSERT(at != ids.end() && *at == static_cast<double>(atoms.id(i)), "atom {} without parameters",
                   atoms.id(i));
    const double* row = sorted.data() + (at - ids.begin()) * width + 1;
    for (std::size_t k = 0; k < n; ++k) atoms.parameters(i, k) = row[k];
  }
}

std::vector<double> numbers_by_id(const std::vector<double>& rows, std::size_t n) {
  const auto sorted = sorted_by_id(rows, n + 1);
  std::vector<double> numbers;
  for (std::size_t at = 0; at < sorted.size(); at += n + 1)
    numbers.insert(numbers.end(), sorted.begin() + at + 1, sorted.begin() + at + 1 + n);
  return numbers;
}

}  // namespace quintet
