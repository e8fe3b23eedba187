#include "physics/kinetics/basis/basis.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/legendre.hpp"

namespace quintet::kinetics {

namespace {

std::vector<MultiIndex> to_vector(const ModeList& list) { return {list.modes, list.modes + list.size}; }

std::vector<MultiIndex> conf_modes(int dim, int order, Family family) {
  return to_vector(products(dim, order, family == Family::serendipity ? order : any_superlinear_degree));
}

/// Gkeyll's order: by total degree, then the degrees in descending order, then the later directions last. Its
/// hybrid basis has the products of degree at most 1 first, then those with v_x^2, then v_y^2, v_z^2.
std::tuple<int, int, MultiIndex, MultiIndex> gkeyll_key(const MultiIndex& mode, Family family) {
  int squared = 0;
  for (int d = 0; d < 6; ++d)
    if (mode[d] > 1) squared = d + 1;
  MultiIndex descending = mode, reversed = mode;
  std::sort(descending.begin(), descending.end(), std::greater<>());
  std::reverse(reversed.begin(), reversed.end());
  return {family == Family::hybrid ? squared : 0, total_degree(mode), descending, reversed};
}

bool is_supported(int cdim, int vdim, int order, Family family) {
  if (cdim < 1 || cdim > vdim || vdim > 3) return false;
  if (family == Family::hybrid && order != 1) return false;
  if (cdim == 3) return order == 1 && family != Family::hybrid;
  return order >= 1 && order <= (cdim + vdim <= 3 ? 3 : 2);
}

}  // namespace

std::string name(Family family) {
  switch (family) {
    case Family::serendipity:
      return "serendipity";
    case Family::tensor:
      return "tensor";
    case Family::hybrid:
      return "hybrid";
  }
  throw InternalError("a family of bases without a name");
}

double legendre(int k, double xi) {
  double value = 1, previous = 0;
  for (int n = 0; n < k; ++n) {
    const double next = ((2 * n + 1) * xi * value - n * previous) / (n + 1);
    previous = value;
    value = next;
  }
  return value * std::sqrt(k + 0.5);
}

double legendre_slope(int k, double xi) {
  // P'_{n+1} = P'_{n-1} + (2n + 1) P_n
  double slope = 0;
  for (int n = k - 1; n >= 0; n -= 2) slope += (2 * n + 1) * legendre(n, xi) / std::sqrt(n + 0.5);
  return slope * std::sqrt(k + 0.5);
}

Basis::Basis(int dim, int order, Family family)
    : dim_(dim), order_(order), family_(family), modes_(conf_modes(dim, order, family)) {}

int Basis::find(const MultiIndex& mode) const {
  const auto found = std::find(modes_.begin(), modes_.end(), mode);
  return found == modes_.end() ? -1 : found - modes_.begin();
}

double Basis::value(int i, std::span<const double> xi) const {
  double product = 1;
  for (int d = 0; d < dim_; ++d) product *= legendre(mode(i)[d], xi[d]);
  return product;
}

double Basis::derivative(int i, int direction, std::span<const double> xi) const {
  double product = 1;
  for (int d = 0; d < dim_; ++d)
    product *= d == direction ? legendre_slope(mode(i)[d], xi[d]) : legendre(mode(i)[d], xi[d]);
  return product;
}

PhaseBasis::PhaseBasis(int cdim, int vdim, int order, Family family)
    : vdim_(vdim),
      order_(order),
      family_(family),
      conf_(std::clamp(cdim, 1, 3), std::clamp(order, 1, max_degree), family) {
  QUINTET_CHECK(is_supported(cdim, vdim, order, family), "no basis '{}' of order {} in {}x{}v; there are {}",
                kinetics::name(family), order, cdim, vdim, supported());
  const int velocity_order = family == Family::hybrid ? 2 : order;
  groups_ = to_vector(
      products(vdim, velocity_order, family == Family::tensor ? any_superlinear_degree : velocity_order));
  // Groups with all configuration modes stand first, because the products are sorted by superlinear degree.
  for (const auto& group : groups_)
    if (family != Family::serendipity || superlinear_degree(group) == 0) ++n_full_;
  for (int g = 0; g < n_groups(); ++g)
    for (int a = 0; a < n_conf(g); ++a) {
      MultiIndex mode = conf_.mode(a);
      for (int d = 0; d < vdim; ++d) mode[cdim + d] = group(g)[d];
      modes_.push_back(mode);
    }
  std::vector<MultiIndex> theirs = modes_;
  std::sort(theirs.begin(), theirs.end(), [&](const MultiIndex& a, const MultiIndex& b) {
    return gkeyll_key(a, family) < gkeyll_key(b, family);
  });
  for (const auto& mode : modes_)
    gkeyll_order_.push_back(std::find(theirs.begin(), theirs.end(), mode) - theirs.begin());
}

int PhaseBasis::find(const MultiIndex& mode) const {
  const auto found = std::find(modes_.begin(), modes_.end(), mode);
  return found == modes_.end() ? -1 : found - modes_.begin();
}

int PhaseBasis::find_group(const MultiIndex& velocity) const {
  const auto found = std::find(groups_.begin(), groups_.end(), velocity);
  return found == groups_.end() ? -1 : found - groups_.begin();
}

int PhaseBasis::offset(int g) const {
  return g <= n_full_ ? g * conf_.size() : n_full_ * conf_.size() + (g - n_full_) * (1 << cdim());
}

double PhaseBasis::value(int i, std::span<const double> xi) const {
  double product = 1;
  for (int d = 0; d < dim(); ++d) product *= legendre(mode(i)[d], xi[d]);
  return product;
}

std::string PhaseBasis::gkeyll_name() const { return kinetics::name(family_); }

std::string PhaseBasis::supported() {
  return "serendipity and tensor of order 1 to 3 in 1x1v and 1x2v, 1 to 2 in 1x3v, 2x2v and 2x3v, 1 in 3x3v; "
         "hybrid of order 1 in all but 3x3v";
}

}  // namespace quintet::kinetics
