#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <Kokkos_Core.hpp>

#include "io/log/error.hpp"
#include "physics/kinetics/dense_lu.hpp"
#include "physics/kinetics/legendre.hpp"
#include "physics/kinetics/moments.hpp"

namespace quintet::kinetics {

namespace {

constexpr int most_modes = 32;  ///< of a configuration basis: tensor p2 in 3-D has 27

/// int phi_k phi_l phi_m dxi of all degrees.
constexpr auto triple_integrals = [] {
  std::array<std::array<std::array<double, max_degree + 1>, max_degree + 1>, max_degree + 1> table{};
  for (std::size_t k = 0; k <= max_degree; ++k)
    for (std::size_t l = 0; l <= max_degree; ++l)
      for (std::size_t m = 0; m <= max_degree; ++m)
        table[k][l][m] = integral_triple(static_cast<int>(k), static_cast<int>(l), static_cast<int>(m));
  return table;
}();

/// C_ijk = int w_i w_j w_k dxi where it is not zero.
struct Triple {
  int i, j, k;
  double value;
};

double triple_product(const Basis& basis, int i, int j, int k) {
  double product = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(basis.dim()); ++d)
    product *= triple_integrals[static_cast<std::size_t>(basis.mode(i)[d])][static_cast<std::size_t>(
        basis.mode(j)[d])][static_cast<std::size_t>(basis.mode(k)[d])];
  return product;
}

std::vector<Triple> make_triples(const Basis& basis) {
  std::vector<Triple> triples;
  for (int i = 0; i < basis.size(); ++i)
    for (int j = 0; j < basis.size(); ++j)
      for (int k = 0; k < basis.size(); ++k)
        if (const double value = triple_product(basis, i, j, k); value != 0)
          triples.push_back({i, j, k, value});
  return triples;
}

/// Made once for each basis, so that a step loop does not allocate.
const std::vector<Triple>& triples_of(const Basis& basis) {
  static std::mutex mutex;
  static std::map<std::tuple<int, int, Family>, std::vector<Triple>> made;
  const std::lock_guard lock(mutex);
  auto& triples = made[{basis.dim(), basis.order(), basis.family()}];
  if (triples.empty()) triples = make_triples(basis);
  return triples;
}

}  // namespace

void weak_multiply(const Exec& exec, const Basis& conf, const ConfField& a, int component_a,
                   const ConfField& b, int component_b, const ConfField& c, int component_c) {
  const auto& triples = triples_of(conf);
  const Triple* first = triples.data();
  const std::size_t n_triples = triples.size();
  const int n = conf.size();
  Kokkos::parallel_for("kinetics::weak_multiply",
                       Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(c.extent(0))), [=](int cell) {
                         double product[most_modes] = {};  // c may be a or b
                         for (std::size_t t = 0; t < n_triples; ++t)
                           product[first[t].i] += first[t].value * a(cell, component_a, first[t].j) *
                                                  b(cell, component_b, first[t].k);
                         for (int i = 0; i < n; ++i) c(cell, component_c, i) = product[i];
                       });
}

void weak_divide(const Exec& exec, const Basis& conf, const ConfField& a, int component_a, const ConfField& b,
                 int component_b, const ConfField& c, int component_c) {
  const auto& triples = triples_of(conf);
  const Triple* first = triples.data();
  const std::size_t n_triples = triples.size();
  const int n = conf.size(), none = std::numeric_limits<int>::max();
  int singular = none;
  Kokkos::parallel_reduce(
      "kinetics::weak_divide", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(c.extent(0))),
      [=](int cell, int& least) {
        double matrix[most_modes * most_modes], quotient[most_modes];  // sum_j C_ijk b_j
        int pivot[most_modes];
        std::fill(matrix, matrix + n * n, 0.0);
        for (std::size_t t = 0; t < n_triples; ++t)
          matrix[first[t].i * n + first[t].k] += first[t].value * b(cell, component_b, first[t].j);
        for (int i = 0; i < n; ++i) quotient[i] = a(cell, component_a, i);
        if (lu_factorise(matrix, pivot, n))
          lu_solve(matrix, pivot, quotient, n);
        else
          least = std::min(least, cell);
        for (int i = 0; i < n; ++i) c(cell, component_c, i) = quotient[i];
      },
      Kokkos::Min<int>(singular));
  if (singular != none)
    throw NumericalError(
        fmt::format("weak division: the denominator (component {}) vanishes or is not finite in local "
                    "configuration cell {}, mean {}",
                    component_b, singular, b(singular, component_b, 0)));
}

}  // namespace quintet::kinetics
