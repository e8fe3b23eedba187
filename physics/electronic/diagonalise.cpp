#include "physics/electronic/diagonalise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "io/log/error.hpp"
#include "physics/electronic/collective.hpp"

extern "C" {
void dsygvd_(const int* itype, const char* jobz, const char* uplo, const int* n, double* a, const int* lda,
             double* b, const int* ldb, double* w, double* work, const int* lwork, int* iwork,
             const int* liwork, int* info);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

namespace quintet::electronic {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// An element of the blocked matrix by its rows there.
struct Place {
  std::int32_t row, column;
};

/// Call visit(place, value) for each element of this rank.
template <class Visit>
void for_each_element(const BlockMatrix& a, const Visit& visit) {
  const auto& begin = a.blocking->begin;
  for (int c = 0; c < a.n_columns(); ++c) {
    const int first_column = begin[at(a.first + c)], columns = a.blocking->size(a.first + c);
    for (auto p = a.column_begin[at(c)]; p < a.column_begin[at(c + 1)]; ++p) {
      const int first_row = begin[at(a.row[at(p)])], rows = a.blocking->size(a.row[at(p)]);
      const double* value = a.value.data() + a.offset[at(p)];
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) visit(Place{first_row + i, first_column + j}, *value++);
    }
  }
}

/// Whole columns of the matrix, [n, n] column-major, on root.
std::vector<double> dense(const BlockMatrix& a) {
  const std::size_t n = at(a.blocking->n_rows());
  const auto first = at(a.blocking->begin[at(a.first)]), last = at(a.blocking->begin[at(a.last)]);
  std::vector<double> columns(n * (last - first));
  for_each_element(
      a, [&](Place place, double value) { columns[(at(place.column) - first) * n + at(place.row)] = value; });
  return a.comm.gather(std::span<const double>(columns));
}

/// C and the eigenvalues; C replaces K.
std::vector<double> solve(std::vector<double>& k, std::vector<double>& s, int n) {
  const int type = 1, query = -1;
  std::vector<double> level(at(n));
  double work_size = 0;
  int iwork_size = 0, info = 0;
  dsygvd_(&type, "V", "L", &n, k.data(), &n, s.data(), &n, level.data(), &work_size, &query, &iwork_size,
          &query, &info);
  const int lwork = static_cast<int>(work_size);
  std::vector<double> work(at(lwork));
  std::vector<int> iwork(at(iwork_size));
  dsygvd_(&type, "V", "L", &n, k.data(), &n, s.data(), &n, level.data(), work.data(), &lwork, iwork.data(),
          &iwork_size, &info);
  QUINTET_CHECK(info <= n,
                "the overlap matrix is not positive definite: its leading minor of order {} is not",
                info - n);
  if (info != 0) throw NumericalError(fmt::format("dsygvd: {} of {} eigenvalues did not converge", info, n));
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
    const auto n = at(std::lround(n_pairs));
    QUINTET_CHECK(n > 0 && n < level.size(),
                  "{} pairs of electrons do not fit between no and all of {} orbitals", n_pairs,
                  level.size());
    return 0.5 * (level[n - 1] + level[n]);
  }
  double low = level.front() - 50 * temperature, high = level.back() + 50 * temperature;
  for (int i = 0; i < 200; ++i)
    (count(level, 0.5 * (low + high), temperature) < n_pairs ? low : high) = 0.5 * (low + high);
  return 0.5 * (low + high);
}

/// C f C^T of the orbitals with f > 0.
std::vector<double> density(std::vector<double> c, const std::vector<double>& level, double mu,
                            double temperature) {
  const int n = static_cast<int>(level.size());
  int occupied = 0;
  for (; occupied < n && occupation(level[at(occupied)], mu, temperature) > 1e-18; ++occupied) {
    const double root = std::sqrt(occupation(level[at(occupied)], mu, temperature));
    for (std::size_t i = 0; i < at(n); ++i) c[at(occupied) * at(n) + i] *= root;
  }
  std::vector<double> d(at(n) * at(n));
  const double one = 1, zero = 0;
  dgemm_("N", "T", &n, &n, &occupied, &one, c.data(), &n, c.data(), &n, &zero, d.data(), &n);
  return d;
}

}  // namespace

Diagonalised diagonalise(const BlockMatrix& k, const BlockMatrix& s, std::optional<double> mu,
                         std::optional<double> n_pairs, double temperature) {
  const Comm& comm = k.comm;
  const int n = k.blocking->n_rows();
  Diagonalised result;
  result.level.resize(at(n));
  std::vector<double> c = dense(k), overlap = dense(s);
  std::string failure;
  together(comm, [&] {
    try {
      if (comm.is_root()) result.level = solve(c, overlap, n);
    } catch (const NumericalError& error) {
      failure = error.what();
    }
  });
  failure = comm.broadcast(failure);
  if (!failure.empty()) throw NumericalError(failure);
  comm.broadcast(std::span<double>(result.level));
  result.mu = mu ? *mu : find_mu(result.level, *n_pairs, temperature);
  result.homo = -std::numeric_limits<double>::infinity();
  result.lumo = std::numeric_limits<double>::infinity();
  for (const double e : result.level) {
    const double f = occupation(e, result.mu, temperature);
    result.tr_dk += f * e;
    result.n_pairs += f;
    if (e <= result.mu) result.homo = e;
    if (e > result.mu) result.lumo = std::min(result.lumo, e);
  }
  if (comm.is_root()) result.d = density(std::move(c), result.level, result.mu, temperature);
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
  const std::size_t n = at(d.blocking->n_rows());
  double largest = 0;
  for (std::size_t i = 0; i < all_values.size(); ++i)
    largest = std::max(
        largest, std::abs(all_values[i] - exact.d[at(all_places[i].column) * n + at(all_places[i].row)]));
  return comm.broadcast(largest);
}

}  // namespace quintet::electronic
