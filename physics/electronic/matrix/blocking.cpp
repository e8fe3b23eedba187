#include "physics/electronic/matrix/blocking.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet::electronic {

namespace {

/// First row of each part of the given sizes, then the sum.
std::vector<std::int64_t> offsets(const std::vector<int>& sizes) {
  std::vector<std::int64_t> begin(sizes.size() + 1, 0);
  for (std::size_t i = 0; i < sizes.size(); ++i) begin[i + 1] = begin[i] + sizes[i];
  return begin;
}

void check_sizes(int n_rows, const std::vector<int>& sizes, const char* what) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    QUINTET_CHECK(sizes[i] > 0, "{} {} has {} orbitals; expected at least 1", what, i + 1, sizes[i]);
  const auto total = offsets(sizes).back();
  QUINTET_CHECK(total == n_rows, "{} {}s have {} orbitals together, the matrix has {} rows", sizes.size(),
                what, total, n_rows);
}

/// True for 0, 1, 2, ...
bool is_identity(const std::vector<int>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!std::cmp_equal(order[i], i)) return false;
  return true;
}

}  // namespace

Blocking uniform_blocking(int n_rows, int block_size) {
  QUINTET_CHECK(n_rows > 0, "a matrix of {} rows cannot be divided into blocks", n_rows);
  QUINTET_CHECK(
      block_size > 0 && n_rows % block_size == 0,
      "blocks.size: blocks of {} orbitals do not divide a matrix of {} rows; give the orbitals of each atom",
      block_size, n_rows);
  Blocking blocking;
  for (int row = block_size; row <= n_rows; row += block_size) blocking.begin.push_back(row);
  return blocking;
}

Blocking blocking_of_sizes(int n_rows, const std::vector<int>& sizes) {
  check_sizes(n_rows, sizes, "block");
  Blocking blocking;
  for (const int size : sizes) blocking.begin.push_back(blocking.begin.back() + size);
  return blocking;
}

Blocking atom_blocking(int n_rows, const std::vector<int>& orbitals_of_atom) {
  check_sizes(n_rows, orbitals_of_atom, "atom");
  return blocking_of_sizes(n_rows, orbitals_of_atom);
}

Blocking molecule_blocking(int n_rows, const std::vector<int>& orbitals_of_atom,
                           const std::vector<std::vector<int>>& molecules) {
  check_sizes(n_rows, orbitals_of_atom, "atom");
  const auto first = offsets(orbitals_of_atom);
  const int n_atoms = orbitals_of_atom.size();
  std::vector<int> molecule_of(n_atoms, -1);
  Blocking blocking;
  for (std::size_t m = 0; m < molecules.size(); ++m) {
    QUINTET_CHECK(!molecules[m].empty(), "molecule {} has no atoms", m + 1);
    auto atoms = molecules[m];
    std::sort(atoms.begin(), atoms.end());
    for (const int atom : atoms) {
      QUINTET_CHECK(atom >= 0 && atom < n_atoms, "molecule {} names atom {}; expected 0 to {}", m + 1, atom,
                    n_atoms - 1);
      QUINTET_CHECK(molecule_of[atom] < 0, "atom {} is named by molecules {} and {}", atom,
                    molecule_of[atom] + 1, m + 1);
      molecule_of[atom] = m;
      for (auto row = first[atom]; row < first[atom + 1]; ++row) blocking.order.push_back(row);
    }
    blocking.begin.push_back(blocking.order.size());
  }
  const auto left_out = std::find(molecule_of.begin(), molecule_of.end(), -1);
  QUINTET_CHECK(left_out == molecule_of.end(), "atom {} belongs to no molecule",
                left_out - molecule_of.begin());
  if (is_identity(blocking.order)) blocking.order.clear();
  return blocking;
}

std::vector<std::int32_t> blocked_rows(const Blocking& blocking) {
  std::vector<std::int32_t> rows(blocking.n_rows());
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t i = 0; i < blocking.order.size(); ++i) rows[blocking.order[i]] = i;
  return rows;
}

std::vector<std::int32_t> block_of_rows(const Blocking& blocking) {
  std::vector<std::int32_t> block(blocking.n_rows());
  for (int b = 0; b < blocking.n_blocks(); ++b)
    std::fill(block.begin() + blocking.begin[b], block.begin() + blocking.begin[b + 1], b);
  return block;
}

void check_blocking(const Blocking& blocking) {
  QUINTET_CHECK(!blocking.begin.empty() && blocking.begin.front() == 0, "blocks do not begin at row 0");
  for (int b = 0; b < blocking.n_blocks(); ++b)
    QUINTET_CHECK(blocking.size(b) > 0, "block {} has {} orbitals; expected at least 1", b + 1,
                  blocking.size(b));
  if (blocking.order.empty()) return;
  QUINTET_CHECK(std::ssize(blocking.order) == blocking.n_rows(),
                "the order of orbitals has {} entries for {}", blocking.order.size(), blocking.n_rows());
  std::vector<bool> seen(blocking.order.size(), false);
  for (const int row : blocking.order) {
    QUINTET_CHECK(row >= 0 && row < blocking.n_rows() && !seen[row],
                  "the order of orbitals is no permutation: {} is out of range or there twice", row);
    seen[row] = true;
  }
}

}  // namespace quintet::electronic
