#include "physics/electronic/matrix/diagonalise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/functions/occupation.hpp"
#include "physics/electronic/functions/tridiagonal.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/matrix/spectrum.hpp"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
void dsygst_(const int* itype, const char* uplo, const int* n, double* a, const int* lda, const double* b,
             const int* ldb, int* info);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

namespace quintet::electronic {

namespace {

/// An element of the blocked matrix by its rows there.
struct Place {
  std::int32_t row, column;
};

/// Call visit(place, value) for each element of this rank.
template <class Visit>
void for_each_element(const BlockMatrix& a, const Visit& visit) {
  const auto& begin = a.blocking->begin;
  for (int c = 0; c < a.n_columns(); ++c) {
    const int first_column = begin[a.first + c], columns = a.blocking->size(a.first + c);
    for (auto p = a.column_begin[c]; p < a.column_begin[c + 1]; ++p) {
      const int first_row = begin[a.row[p]], rows = a.blocking->size(a.row[p]);
      const double* value = a.value.data() + a.offset[p];
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) visit(Place{first_row + i, first_column + j}, *value++);
    }
  }
}

/// Whole columns of the matrix, [n, n] column-major, on root.
std::vector<double> dense(const BlockMatrix& a) {
  const std::size_t n = a.blocking->n_rows();
  const auto first = a.blocking->begin[a.first], last = a.blocking->begin[a.last];
  std::vector<double> columns(n * (last - first));
  for_each_element(
      a, [&](Place place, double value) { columns[(place.column - first) * n + place.row] = value; });
  return a.comm.gather(std::span<const double>(columns));
}

/// ||S^-1||_2 from S = L L^T, by power iteration: too small, by a tenth as a rule.
double norm_of_inverse(const std::vector<double>& factor, int n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = scrambled(i);
  double norm = 0;
  constexpr int n_steps = 20, one = 1;
  for (int k = 0; k < n_steps; ++k) {
    const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (double& value : x) value /= length;
    int info = 0;
    dpotrs_("L", &n, &one, factor.data(), &n, x.data(), &n, &info);
    norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  }
  return norm;
}

/// S becomes its Cholesky factor L. Returns S's condition number.
double factorise(std::vector<double>& s, int n, double largest_eigenvalue) {
  int info = 0;
  dpotrf_("L", &n, s.data(), &n, &info);
  QUINTET_CHECK(info == 0,
                "the overlap matrix S is not positive definite: its leading minor of order {} is not; are K "
                "and S the right way round, in one order and complete?",
                info);
  const double inverse = norm_of_inverse(s, n), condition = largest_eigenvalue * inverse;
  QUINTET_CHECK(
      condition <= largest_condition,
      "the overlap matrix S is all but singular: its smallest eigenvalue is about {:.3g}, its condition "
      "number about {:.2g}, and levels are known to 16 digits less those of the condition number: up to "
      "{:.0e} is taken; remove near-dependent basis functions (the most diffuse ones, or atoms given "
      "twice)",
      1 / inverse, condition, largest_condition);
  return condition;
}

/// C and the levels from K and S's factor; C replaces K.
std::vector<double> solve(std::vector<double>& k, const std::vector<double>& factor, int n) {
  const int type = 1, query = -1;
  const double one = 1;
  std::vector<double> level(n);
  double work_size = 0;
  int iwork_size = 0, info = 0;
  dsygst_(&type, "L", &n, k.data(), &n, factor.data(), &n, &info);
  dsyevd_("V", "L", &n, k.data(), &n, level.data(), &work_size, &query, &iwork_size, &query, &info);
  const int lwork = work_size;
  std::vector<double> work(lwork);
  std::vector<int> iwork(iwork_size);
  dsyevd_("V", "L", &n, k.data(), &n, level.data(), work.data(), &lwork, iwork.data(), &iwork_size, &info);
  if (info != 0) throw NumericalError(fmt::format("dsyevd: {} of {} eigenvalues did not converge", info, n));
  dtrsm_("L", "L", "T", "N", &n, &n, &one, factor.data(), &n, k.data(), &n);
  return level;
}

double occupation(double level, double mu, double temperature) {
  if (temperature <= 0) return level <= mu ? 1 : 0;
  return 1 / (1 + std::exp(std::clamp((level - mu) / temperature, -700.0, 700.0)));
}

double count(const std::vector<double>& level, double mu, double temperature) {
  double sum = 0;
  for (const double e : level) sum += occupation(e, mu, temperature);
  return sum;
}

double find_mu(const std::vector<double>& level, double n_pairs, double temperature) {
  if (temperature <= 0) {
    const auto n = std::lround(n_pairs);
    QUINTET_CHECK(n >= 0 && n <= std::ssize(level) && std::abs(n_pairs - n) < 1e-9,
                  "{} pairs of electrons do not fill a whole number of the {} orbitals", n_pairs,
                  level.size());
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (n == 0) return std::nextafter(level.front(), -infinity);
    if (n == std::ssize(level)) return std::nextafter(level.back(), infinity);
    QUINTET_CHECK(
        level[n] - level[n - 1] > 1e-9 * (level.back() - level.front()),
        "{} pairs of electrons fill a part of levels that are equal ({:.6g} hartree), which no density "
        "matrix at zero temperature has: give another number, or a temperature",
        n_pairs, level[n]);
    return 0.5 * (level[n - 1] + level[n]);
  }
  double low = level.front() - 50 * temperature, high = level.back() + 50 * temperature;
  for (int i = 0; i < 200; ++i)
    (count(level, 0.5 * (low + high), temperature) < n_pairs ? low : high) = 0.5 * (low + high);
  return 0.5 * (low + high);
}

/// C w C^T, [n, n], on root.
std::vector<double> weighted(const Orbitals& orbitals, std::span<const double> weight) {
  if (orbitals.vector.empty()) return {};
  const int n = orbitals.level.size();
  std::vector<double> left, right;
  int n_used = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::abs(weight[i]) <= 1e-18) continue;
    ++n_used;
    const double* c = orbitals.vector.data() + i * n;
    left.insert(left.end(), c, c + n);
    std::transform(c, c + n, std::back_inserter(right), [&](double x) { return weight[i] * x; });
  }
  std::vector<double> d(std::int64_t{n} * n);
  const double one = 1, zero = 0;
  dgemm_("N", "T", &n, &n, &n_used, &one, left.data(), &n, right.data(), &n, &zero, d.data(), &n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) d[j * n + i] = d[i * n + j];
  return d;
}

/// The blocks of all columns of a dense matrix on root, as one list a rank.
std::vector<std::vector<double>> blocks_of(const std::vector<double>& whole, const BlockMatrix& pattern) {
  std::vector<std::int32_t> heights;
  for (int c = 0; c < pattern.n_columns(); ++c)
    heights.push_back(pattern.column_begin[c + 1] - pattern.column_begin[c]);
  const auto all_heights = pattern.comm.gather(std::span<const std::int32_t>(heights));
  const auto rows = pattern.comm.gather(std::span<const std::int32_t>(pattern.row));
  std::vector<std::vector<double>> blocks(pattern.comm.size());
  const auto& begin = pattern.blocking->begin;
  const std::size_t n = pattern.blocking->n_rows();
  auto row = rows.begin();
  for (std::size_t column = 0; column < all_heights.size(); ++column) {
    auto& to = blocks[pattern.owner(column)];
    for (const auto last = row + all_heights[column]; row != last; ++row)
      for (int j = begin[column]; j < begin[column + 1]; ++j) {
        const double* from = whole.data() + std::int64_t{j} * n;
        to.insert(to.end(), from + begin[*row], from + begin[*row + 1]);
      }
  }
  return blocks;
}

}  // namespace

double dense_seconds(double n_rows) { return 2.8e-10 * std::pow(n_rows, 3) + 3e-8 * n_rows * n_rows; }

Orbitals orbitals_of(const BlockMatrix& k, const BlockMatrix& s) {
  const Comm& comm = k.comm;
  const int n = k.blocking->n_rows();
  const double largest = extreme_ritz_values(s, 24).upper;
  Orbitals result;
  result.level.resize(n);
  std::vector<double> c = dense(k), overlap = dense(s);
  on_root(comm, [&] {
    result.condition = factorise(overlap, n, largest);
    result.level = solve(c, overlap, n);
  });
  comm.broadcast(std::span<double>(result.level));
  result.condition = comm.broadcast(result.condition);
  result.vector = std::move(c);
  return result;
}

Filling fill(const std::vector<double>& level, std::optional<double> mu, std::optional<double> n_pairs,
             double temperature) {
  Filling result;
  result.mu = mu ? *mu : find_mu(level, *n_pairs, temperature);
  result.homo = -std::numeric_limits<double>::infinity();
  result.lumo = std::numeric_limits<double>::infinity();
  const Occupation fermi{result.mu, temperature, 0};
  for (const double e : level) {
    const double f = occupation(e, result.mu, temperature);
    result.occupation.push_back(f);
    result.tr_dk += f * e;
    result.n_pairs += f;
    result.entropy += fermi.entropy(e);
    if (e <= result.mu) result.homo = e;
    if (e > result.mu) result.lumo = std::min(result.lumo, e);
  }
  return result;
}

BlockMatrix sum_over_orbitals(const Orbitals& orbitals, std::span<const double> weight,
                              const BlockMatrix& pattern) {
  BlockMatrix result = pattern;
  const auto blocks = pattern.comm.all_to_all(blocks_of(weighted(orbitals, weight), pattern));
  const double* from = blocks.front().data();
  for (int c = 0; c < result.n_columns(); ++c)
    for (auto p = result.column_begin[c]; p < result.column_begin[c + 1]; ++p) {
      const int size = result.blocking->size(result.row[p]) * result.blocking->size(result.first + c);
      std::copy_n(from, size, result.value.data() + result.offset[p]);
      from += size;
    }
  return result;
}

double rounding_defect(const Orbitals& orbitals, std::span<const double> weight, const BlockMatrix& matrix,
                       std::span<const double> m) {
  const Comm& comm = matrix.comm;
  const std::size_t n = orbitals.level.size();
  const auto first = matrix.blocking->begin[matrix.first], last = matrix.blocking->begin[matrix.last];
  SymmetricProduct product(matrix);
  constexpr int n_vectors = 4;
  double squares = 0;
  for (int k = 0; k < n_vectors; ++k) {
    std::vector<double> v(n), y(n, 0.0), own;
    for (std::size_t i = 0; i < n; ++i)
      v[i] = scrambled(std::int64_t{k} * n + i) < 0 ? -weight[i] : weight[i];
    if (comm.is_root())
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t r = 0; r < n && v[i] != 0; ++r) y[r] += v[i] * orbitals.vector[i * n + r];
    comm.broadcast(std::span<double>(y));
    product({y.begin() + first, y.begin() + last}, own);
    const auto z = comm.gather(std::span<const double>(own));
    for (std::size_t i = 0; i < n && comm.is_root(); ++i) {
      if (weight[i] == 0) continue;
      const double* c = orbitals.vector.data() + i * n;
      const double defect = weight[i] * (std::inner_product(c, c + n, z.data(), 0.0) - m[i] * v[i]);
      squares += defect * defect;
    }
  }
  return comm.broadcast(std::sqrt(squares / n_vectors));
}

double norm_outside(const Orbitals& orbitals, std::span<const double> weight, const BlockMatrix& d) {
  const Comm& comm = d.comm;
  const std::size_t n = orbitals.level.size();
  const std::ptrdiff_t first = d.blocking->begin[d.first], last = d.blocking->begin[d.last];
  SymmetricProduct product(d);
  const int n_vectors = std::clamp(2048 / static_cast<int>(n), 4, 64);  // few rows share little scatter
  double squares = 0;
  std::vector<double> v(n), own;
  for (int k = 0; k < n_vectors; ++k) {
    for (std::size_t i = 0; i < n; ++i) v[i] = scrambled(std::int64_t{k} * n + i) < 0 ? -1 : 1;
    product({v.begin() + first, v.begin() + last}, own);
    std::vector<double> rest = comm.gather(std::span<const double>(own));
    for (std::size_t i = 0; i < n && comm.is_root(); ++i) {
      if (weight[i] == 0) continue;
      const double* c = orbitals.vector.data() + i * n;
      const double part = weight[i] * std::inner_product(c, c + n, v.begin(), 0.0);
      for (std::size_t r = 0; r < n; ++r) rest[r] -= part * c[r];
    }
    if (comm.is_root()) squares += std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0);
  }
  return comm.broadcast(std::sqrt(squares / n_vectors));
}

Diagonalised diagonalise(const BlockMatrix& k, const BlockMatrix& s, std::optional<double> mu,
                         std::optional<double> n_pairs, double temperature) {
  Orbitals orbitals = orbitals_of(k, s);
  const Filling filling = fill(orbitals.level, mu, n_pairs, temperature);
  Diagonalised result{orbitals.level,  weighted(orbitals, filling.occupation),
                      filling.tr_dk,   filling.mu,
                      filling.n_pairs, filling.homo,
                      filling.lumo};
  return result;
}

double largest_difference(const BlockMatrix& d, const Diagonalised& exact) {
  const Comm& comm = d.comm;
  std::vector<Place> places;
  std::vector<double> values;
  for_each_element(d, [&](Place place, double value) {
    places.push_back(place);
    values.push_back(value);
  });
  const auto all_places = comm.gather(std::span<const Place>(places));
  const auto all_values = comm.gather(std::span<const double>(values));
  const std::size_t n = d.blocking->n_rows();
  double largest = 0;
  for (std::size_t i = 0; i < all_values.size(); ++i)
    largest = std::max(
        largest,
        std::abs(all_values[i] - exact.d[std::int64_t{all_places[i].column} * n + all_places[i].row]));
  return comm.broadcast(largest);
}

}  // namespace quintet::electronic
