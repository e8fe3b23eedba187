#include "physics/electronic/density/basis_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet::electronic {

namespace {

int users_row(const Blocking& blocking, int row) {
  return blocking.order.empty() ? row : blocking.order[row];
}

/// An element of a column of the blocked matrices.
struct Pair {
  int row;
  double k, s;
};

/// Places of the blocks of a local column, sorted by row.
struct Blocks {
  Blocks(const BlockMatrix& m, int c) : matrix(m), p(m.column_begin[c]), end(m.column_begin[c + 1]) {}
  [[nodiscard]] int row() const { return p < end ? matrix.row[p] : std::numeric_limits<int>::max(); }
  [[nodiscard]] const double* values() const { return matrix.value.data() + matrix.offset[p]; }
  const BlockMatrix& matrix;
  std::int64_t p, end;
};

/// Call visit(column, pairs) for each column of this rank, the pairs being all that K or S has a block for.
template <class Visit>
void for_each_column(const BlockMatrix& k, const BlockMatrix& s, Visit&& visit) {
  const Blocking& blocking = *s.blocking;
  std::vector<Pair> pairs;
  for (int c = 0; c < s.n_columns(); ++c)
    for (int j = 0; j < blocking.size(s.first + c); ++j) {
      pairs.clear();
      Blocks of_k(k, c), of_s(s, c);
      for (int row = 0; (row = std::min(of_k.row(), of_s.row())) != std::numeric_limits<int>::max();) {
        const int n = blocking.size(row);
        const bool in_k = of_k.row() == row, in_s = of_s.row() == row;
        for (int i = 0; i < n; ++i) {
          const auto at = std::int64_t{n} * j + i;
          pairs.push_back(
              {blocking.begin[row] + i, in_k ? of_k.values()[at] : 0.0, in_s ? of_s.values()[at] : 0.0});
        }
        of_k.p += in_k ? 1 : 0;
        of_s.p += in_s ? 1 : 0;
      }
      visit(blocking.begin[s.first + c] + j, pairs);
    }
}

/// Diagonal elements of the blocked matrix on all ranks. Collective.
std::vector<double> diagonal(const BlockMatrix& s) {
  std::vector<double> mine;
  for_each_column(s, s, [&](int column, const std::vector<Pair>& pairs) {
    for (const Pair& e : pairs)
      if (e.row == column) mine.push_back(e.s);
  });
  return s.comm.all_gather(std::span<const double>(mine));
}

/// A column of K and S but for the diagonal: k = |K_ij|, s = s_ij.
struct Column {
  std::vector<Pair> pairs;
  std::vector<double> overlap;                  ///< |S_ij|
  const Pair *of_k = nullptr, *of_s = nullptr;  ///< largest

  Column(int column, const std::vector<Pair>& all, const std::vector<double>& s_ii) {
    const auto at = [&](int i) { return s_ii[i]; };
    for (const Pair& e : all) {
      if (e.row == column || (e.k == 0 && e.s == 0)) continue;
      overlap.push_back(std::abs(e.s));
      pairs.push_back({e.row, std::abs(e.k), std::abs(e.s) / std::sqrt(at(column) * at(e.row))});
    }
    for (const Pair& e : pairs) {
      if (of_k == nullptr || e.k > of_k->k) of_k = &e;
      if (of_s == nullptr || e.s > of_s->s) of_s = &e;
    }
  }
  [[nodiscard]] bool is_judged() const {
    constexpr double least_overlap = 0.02;
    return of_s != nullptr && of_s->s >= least_overlap && of_k->k > 0;
  }
  [[nodiscard]] bool contradicts() const {
    constexpr double large = 0.5, small = 0.2, energy = 0.05;
    constexpr double overlapping = 0.05, coupled = 0.1, absent = 1e-6;
    double k_at_s = 0, energy_at_s = 0, s_at_k = 0;
    bool k_lacks = false, s_lacks = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto& [row, k, s] = pairs[i];
      if (s >= large * of_s->s) {
        k_at_s = std::max(k_at_s, k);
        energy_at_s = std::max(energy_at_s, k / overlap[i]);
      }
      if (k >= large * of_k->k) s_at_k = std::max(s_at_k, s);
      k_lacks = k_lacks || (s >= overlapping && k < absent * of_k->k);
      s_lacks = s_lacks || (k >= coupled * of_k->k && s < absent);
    }
    return (k_lacks && s_lacks) ||
           (k_at_s < small * of_k->k && energy_at_s < energy && s_at_k < small * of_s->s);
  }
};

/// A message of the user's first row that has one.
struct First {
  int row = std::numeric_limits<int>::max();
  std::string text;
  void offer(int users, const std::string& what) {
    if (users < row) row = users, text = what;
  }
  /// That of all ranks. Collective.
  [[nodiscard]] std::string of_all(const Comm& comm) const {
    const auto rows = comm.all_gather(row);
    const auto owner = std::min_element(rows.begin(), rows.end()) - rows.begin();
    return comm.broadcast(text, static_cast<int>(owner));
  }
};

}  // namespace

void check_functions(const BlockMatrix& s) {
  const Comm& comm = s.comm;
  const auto s_ii = diagonal(s);
  const auto at = [&](int i) { return s_ii[i]; };
  First first;
  for_each_column(s, s, [&](int column, const std::vector<Pair>& pairs) {
    const int users = users_row(*s.blocking, column);
    if (at(column) == 0) {
      const bool empty = std::all_of(pairs.begin(), pairs.end(), [](const Pair& e) { return e.s == 0; });
      return first.offer(
          users, empty ? fmt::format("row {} of S is empty: that function has no norm. Are both files "
                                     "of one basis, and is this one whole?",
                                     users + 1)
                       : fmt::format("row {} of S has no diagonal element", users + 1));
    }
    constexpr double noise = 1e-10;
    for (const Pair& e : pairs)
      if (e.row != column && at(e.row) > 0 &&
          std::abs(e.s) >= (1 - noise) * std::sqrt(at(column) * at(e.row)))
        first.offer(
            users,
            fmt::format("rows {} and {} of S are the same function twice: S_ij = {:.10g}, S_ii = {:.10g}, "
                        "S_jj = {:.10g}; leave one of them out",
                        users + 1, users_row(*s.blocking, e.row) + 1, e.s, at(column), at(e.row)));
  });
  if (const auto text = first.of_all(comm); !text.empty()) throw InputError(text);
}

Disagreement compare_patterns(const BlockMatrix& k, const BlockMatrix& s) {
  const Blocking& blocking = *s.blocking;
  const auto s_ii = diagonal(s);
  long rows = 0, judged = 0;
  First first;
  for_each_column(k, s, [&](int column, const std::vector<Pair>& pairs) {
    const Column one(column, pairs, s_ii);
    if (!one.is_judged()) return;
    ++judged;
    if (!one.contradicts()) return;
    ++rows;
    const auto user = [&](int row) { return users_row(blocking, row) + 1; };
    first.offer(
        user(column),
        fmt::format("row {} is coupled most strongly to row {} in K ({:.4g} hartree, overlap {:.2g}), but "
                    "overlaps most with row {} in S ({:.4g}, K {:.2g} hartree)",
                    user(column), user(one.of_k->row), one.of_k->k, one.of_k->s, user(one.of_s->row),
                    one.of_s->s, one.of_s->k));
  });
  return {s.comm.sum(rows), s.comm.sum(judged), first.of_all(s.comm)};
}

}  // namespace quintet::electronic
