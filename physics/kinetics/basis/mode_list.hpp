#pragma once

#include <array>
#include <stdexcept>

namespace quintet::kinetics {

/// Degrees of one basis function in each direction; 0 beyond the last.
using MultiIndex = std::array<int, 6>;

/// A list of basis functions that the compiler can make.
struct ModeList {
  static constexpr int capacity = 64;
  MultiIndex modes[capacity]{};
  int size = 0;

  [[nodiscard]] constexpr int find(const MultiIndex& mode) const {
    for (int i = 0; i < size; ++i)
      if (modes[i] == mode) return i;
    return -1;
  }
};

/// Sum of the degrees that are 2 or more.
[[nodiscard]] constexpr int superlinear_degree(const MultiIndex& mode) {
  int sum = 0;
  for (const int k : mode) sum += k >= 2 ? k : 0;
  return sum;
}
[[nodiscard]] constexpr int total_degree(const MultiIndex& mode) {
  int sum = 0;
  for (const int k : mode) sum += k;
  return sum;
}

/// No limit of the superlinear degree: the tensor product.
inline constexpr int any_superlinear_degree = 1000;

/// All products of degree at most `order` in each of `dim` directions, with superlinear degree at most
/// `limit`; sorted by superlinear degree, then total degree, then the earlier directions first.
[[nodiscard]] constexpr ModeList products(int dim, int order, int limit) {
  ModeList list;
  int n_all = 1;
  for (int d = 0; d < dim; ++d) n_all *= order + 1;
  const auto before = [](const MultiIndex& a, const MultiIndex& b) {
    if (superlinear_degree(a) != superlinear_degree(b)) return superlinear_degree(a) < superlinear_degree(b);
    if (total_degree(a) != total_degree(b)) return total_degree(a) < total_degree(b);
    for (int d = 0; d < 6; ++d)
      if (a[d] != b[d]) return a[d] > b[d];
    return false;
  };
  for (int number = 0; number < n_all; ++number) {
    MultiIndex mode{};
    for (int d = 0, rest = number; d < dim; ++d, rest /= order + 1) mode[d] = rest % (order + 1);
    if (superlinear_degree(mode) > limit) continue;
    if (list.size == ModeList::capacity) throw std::length_error("a basis of more than 64 functions");
    int place = list.size++;
    for (; place > 0 && before(mode, list.modes[place - 1]); --place)
      list.modes[place] = list.modes[place - 1];
    list.modes[place] = mode;
  }
  return list;
}

}  // namespace quintet::kinetics
