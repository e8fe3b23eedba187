#include <algorithm>
#include <limits>

#include <Kokkos_Core.hpp>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/dense_lu.hpp"
#include "physics/kinetics/moments/moments.hpp"
#include "physics/kinetics/space/conf_products.hpp"

namespace quintet::kinetics {

namespace {

constexpr int most_modes = 32;  ///< of a configuration basis: tensor p2 in 3-D has 27

}  // namespace

void weak_multiply(const Exec& exec, const Basis& conf, const ConfField& a, int component_a,
                   const ConfField& b, int component_b, const ConfField& c, int component_c) {
  const ConfProducts products(conf);
  const int n = conf.size();
  Kokkos::parallel_for("kinetics::weak_multiply",
                       Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(c.extent(0))),
                       [=, &products](int cell) {
                         double product[most_modes] = {};  // c may be a or b
                         products.add_product(&a(cell, component_a, 0), &b(cell, component_b, 0), 1, product);
                         for (int i = 0; i < n; ++i) c(cell, component_c, i) = product[i];
                       });
  exec.fence();  // the table dies here
}

void weak_divide(const Exec& exec, const Basis& conf, const ConfField& a, int component_a, const ConfField& b,
                 int component_b, const ConfField& c, int component_c) {
  const ConfProducts products(conf);
  const int n = conf.size(), none = std::numeric_limits<int>::max();
  int singular = none;
  Kokkos::parallel_reduce(
      "kinetics::weak_divide", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(c.extent(0))),
      [=, &products](int cell, int& least) {
        double matrix[most_modes * most_modes], quotient[most_modes];  // sum_j C_ijk b_j
        int pivot[most_modes];
        std::fill(matrix, matrix + n * n, 0.0);
        products.add_matrix(&b(cell, component_b, 0), 1, matrix, n);
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
