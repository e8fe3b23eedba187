#include "operations.hpp"

#include <algorithm>

namespace quintet::kinetics {

namespace {

/// Group with the degree in velocity direction d changed by `step`; -1 if none.
int beside(const PhaseBasis& basis, int g, int d, int step) {
  auto index = basis.group(g);
  const std::size_t i = d;
  if (index[i] + step < 0) return -1;
  index[i] += step;
  return basis.find_group(index);
}

int conf_face_modes(const PhaseBasis& basis, int g, int direction) {
  int n = 0;
  for (int a = 0; a < basis.n_conf(g); ++a) n += basis.conf().mode(a)[direction] == 0;
  return n;
}

/// v_i q for n modes of group g.
int times_velocity(const PhaseBasis& basis, int g, int i, int n) {
  return n * (1 + (beside(basis, g, i, -1) >= 0) + (beside(basis, g, i, 1) >= 0));
}

double streaming(const PhaseBasis& basis, int i) {
  double sum = 0;
  for (int g = 0; g < basis.n_groups(); ++g) {
    const int n = basis.n_conf(g), face = conf_face_modes(basis, g, i);
    sum += times_velocity(basis, g, i, n) + (n - face);      // volume
    sum += 2 * (n + times_velocity(basis, g, i, face) + n);  // two faces: trace, product, lift
  }
  return sum;
}

/// a_d q for group g of a cell or of a face of direction d, `rows` modes of the result.
double times_force(const PhaseBasis& basis, int g, int d, int rows) {
  double sum = rows * basis.n_conf(g);
  for (int j = 0; j < basis.vdim(); ++j) {
    if (j == d) continue;
    int width = basis.n_conf(g);
    sum += width;
    for (const int step : {-1, 1})
      if (const int u = beside(basis, g, j, step); u >= 0) {
        sum += basis.n_conf(u);
        width = std::max(width, basis.n_conf(u));
      }
    sum += rows * width;
  }
  return sum;
}

double acceleration(const PhaseBasis& basis, int d) {
  double sum = 0;
  for (int g = 0; g < basis.n_groups(); ++g) {
    if (const int up = beside(basis, g, d, 1); up >= 0) {
      const int rows = basis.n_conf(up);
      sum += times_force(basis, g, d, rows) + rows;
    }
    if (basis.group(g)[d] == 0) sum += times_force(basis, g, d, basis.n_conf(g));
  }
  return sum + 2 * basis.size();  // trace and lift
}

}  // namespace

double multiply_adds(const PhaseBasis& basis) {
  double sum = 2 * basis.size();  // Runge-Kutta update
  for (int i = 0; i < basis.cdim(); ++i) sum += streaming(basis, i);
  for (int d = 0; d < basis.vdim(); ++d) sum += acceleration(basis, d);
  return sum + basis.conf().size() * 2.0 * basis.vdim();  // current
}

}  // namespace quintet::kinetics
