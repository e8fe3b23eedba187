#include "surrogates/flow/decoder/place_series.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace quintet::flow {

namespace {

/// Multiply-adds of the series for each of the product's, up to which it is the faster.
constexpr double worth = 0.6;
/// Boxes that are narrower than this are flat: what float resolves of a place.
constexpr double flat = std::numeric_limits<float>::epsilon();

double factorial(int n) { return std::tgamma(n + 1.0); }
double power(double x, int n) {
  double product = 1;
  for (; n > 0; --n) product *= x;
  return product;
}

}  // namespace

PlaceBox PlaceBox::around(std::span<const std::array<double, n_axes>> places) {
  PlaceBox box;
  for (int i = 0; i < n_axes; ++i) {
    const auto [low, high] = std::minmax_element(places.begin(), places.end(),
                                                 [i](const auto& a, const auto& b) { return a[i] < b[i]; });
    box.centre[i] = ((*low)[i] + (*high)[i]) / 2;
    box.half_width[i] = ((*high)[i] - (*low)[i]) / 2;
  }
  return box;
}

PlaceSeries::PlaceSeries(const DecoderLayer<float>& first, const DecoderLayer<float>& second,
                         const JetPlan& plan)
    : first_(first), second_(second), plan_(plan) {
  if (!has_series(first.activation)) return;
  largest_ = largest_derivatives(first.activation);
  largest_[0] = 1;
  const int n_units = second.n_hidden, n_out = second.hidden.n();
  std::vector<float> weights(std::int64_t{n_units} * n_out);
  second.hidden.unpack(weights.data());
  for (int k = 0; k < n_units; ++k) {
    double squares = 0;
    for (int o = 0; o < n_out; ++o) squares += power(weights[std::int64_t{k} * n_out + o], 2);
    strength_.push_back(std::sqrt(squares));
    double slope = 0;
    for (int i = 0; i < n_axes; ++i) slope += std::abs(first.coordinates[i * first.stride + k]);
    slope_.push_back(slope);
  }
  reach_.resize(n_units);
  order_ = plan.second_order ? 2 : plan.n_channels() > 1 ? 1 : 0;
  most_power_if_flat_.fill(std::min(order_, 1));
  for (const int axis : plan.tangents) most_power_if_flat_[axis] = order_;
}

bool PlaceSeries::is_enough(int degree) const {
  const int n = degree + 1;
  for (int j = 0; j <= std::min(order_, degree); ++j) {
    double remainder = 0, size = 0;
    for (std::size_t k = 0; k < reach_.size(); ++k) {
      const double share = strength_[k] * power(slope_[k], j);
      size += share;
      remainder += share * power(reach_[k], n - j);
    }
    if (!(largest_[n] / factorial(n - j) * remainder <= tolerance * largest_[j] * size)) return false;
  }
  return true;
}

void PlaceSeries::list_powers() {
  powers_.clear();
  const auto most = [&](int axis, int left) {
    return box_.half_width[axis] > flat ? left : std::min(left, most_power_if_flat_[axis]);
  };
  for (int i = 0; i <= most(0, degree_); ++i)
    for (int j = 0; j <= most(1, degree_ - i); ++j)
      for (int k = 0; k <= most(2, degree_ - i - j); ++k) powers_.push_back({i, j, k});
}

bool PlaceSeries::choose(const PlaceBox& box, int n_points) {
  if (strength_.empty()) return false;
  box_ = box;
  for (std::size_t k = 0; k < reach_.size(); ++k) {
    reach_[k] = 0;
    for (int i = 0; i < n_axes; ++i)
      reach_[k] += std::abs(first_.coordinates[i * first_.stride + k]) * box.half_width[i];
  }
  const double units = static_cast<double>(reach_.size()), rows = 1.0 * n_points * plan_.n_channels();
  for (degree_ = std::max(order_, 1); degree_ < most_derivatives; ++degree_) {
    list_powers();
    if (powers_.size() * (units + rows) > worth * units * rows) return false;
    if (is_enough(degree_)) {
      form_scales();
      return true;
    }
  }
  return false;
}

void PlaceSeries::form_scales() {
  for (int i = 0; i < n_axes; ++i)
    if (box_.half_width[i] <= flat) box_.half_width[i] = 0.5;  // no point leaves the centre: any scale
  const std::size_t stride = first_.stride;
  scales_.resize(powers_.size() * stride);
  for (std::size_t alpha = 0; alpha < powers_.size(); ++alpha) {
    float* const to = scales_.data() + alpha * stride;
    double constant = 1;
    for (int i = 0; i < n_axes; ++i)
      constant *= power(box_.half_width[i], powers_[alpha][i]) / factorial(powers_[alpha][i]);
    std::fill_n(to, stride, static_cast<float>(constant));
    for (int i = 0; i < n_axes; ++i)
      for (int times = 0; times < powers_[alpha][i]; ++times)
        for (std::size_t k = 0; k < stride; ++k) to[k] *= first_.coordinates[i * stride + k];
  }
}

void PlaceSeries::form(std::span<const float* const> node_products) {
  constexpr int w = pack_width<float>;
  const std::ptrdiff_t stride = first_.stride, n_alpha = std::ssize(powers_);
  modes_.resize(n_alpha * n_corners * stride);
  sums_.resize(n_alpha * n_corners * second_.stride);
  for (int corner = 0; corner < n_corners; ++corner) {
    std::array<float, n_axes> centre{};
    for (int i = 0; i < n_axes; ++i)
      centre[i] = static_cast<float>(box_.centre[i] - (corner >> (n_axes - 1 - i) & 1));
    for (int k = 0; k < stride; k += w) {
      Pack<float> a = load<float>(node_products[corner] + k), derivatives[most_derivatives + 1];
      for (int i = 0; i < n_axes; ++i) a += centre[i] * load<float>(&first_.coordinates[i * stride + k]);
      activation_derivatives<float, w>(first_.activation, a, degree_, derivatives);
      for (std::ptrdiff_t alpha = 0; alpha < n_alpha; ++alpha) {
        const auto& p = powers_[alpha];
        store<float>(&modes_[(alpha * n_corners + corner) * stride + k],
                     load<float>(&scales_[alpha * stride + k]) * derivatives[p[0] + p[1] + p[2]]);
      }
    }
  }
  multiply_bf16(modes_.data(), stride, n_alpha * n_corners, second_.hidden_bf16, sums_.data(),
                second_.stride);
  const std::ptrdiff_t n_columns = std::ptrdiff_t{n_corners} * second_.stride;
  packed_.assign(&sums_[n_columns], n_columns, n_alpha - 1, n_columns);
}

// Long: the value, tangents and operators of each u^alpha share tables of powers and their derivatives.
void PlaceSeries::fill_point(const RowBlock<float>& rows, int point, int n_points) {
  double table[n_axes][3][most_derivatives + 1];  // [axis][order of derivative][power]
  for (int i = 0; i < n_axes; ++i) {
    const double scale = box_.half_width[i],
                 u = (rows.place[point * n_corners * n_axes + i] - box_.centre[i]) / scale;
    auto& t = table[i];
    for (int n = 0; n <= degree_; ++n) {
      t[0][n] = n == 0 ? 1 : u * t[0][n - 1];
      t[1][n] = n == 0 ? 0 : n * t[0][n - 1] / scale;
      t[2][n] = n == 0 ? 0 : n * t[1][n - 1] / scale;
    }
  }
  const float* coefficients =
      rows.coefficients.data() + std::ptrdiff_t{point} * n_corners * plan_.n_inner() * row_coefficients;
  const auto& tangents = plan_.tangents;
  const std::ptrdiff_t n_alpha = std::ssize(powers_);
  for (std::ptrdiff_t alpha = 1; alpha < n_alpha; ++alpha) {
    const auto& p = powers_[alpha];
    const auto derivative = [&](int i, int j) {  // along axes i and j, or -1
      double product = 1;
      for (int axis = 0; axis < n_axes; ++axis) product *= table[axis][(axis == i) + (axis == j)][p[axis]];
      return product;
    };
    float* to = columns_.data() + point * (n_alpha - 1) + alpha - 1;
    const auto put = [&](double value) {
      *to = static_cast<float>(value);
      to += n_points * (n_alpha - 1);
    };
    put(derivative(-1, -1));
    for (const int axis : tangents) put(derivative(axis, -1));
    for (int k = 0; k < plan_.n_inner(); ++k) {
      const float* first = coefficients + std::ptrdiff_t{k} * row_coefficients;
      const float* second = first + n_axes;
      double sum = 0;
      for (int i = 0; i < n_axes; ++i) sum += first[i] * derivative(i, -1);
      for (const int axis : tangents) sum += *second++ * derivative(axis, axis);
      for (std::size_t t = 0; t < tangents.size(); ++t)
        for (std::size_t u = t + 1; u < tangents.size(); ++u)
          sum += *second++ * derivative(tangents[t], tangents[u]);
      put(sum);
    }
  }
}

void PlaceSeries::multiply(const RowBlock<float>& rows, float* product) {
  const int n_points = rows.n_rows / n_corners, n_rows = plan_.n_channels() * n_points,
            n_powers = static_cast<int>(powers_.size()) - 1;
  const std::ptrdiff_t n_columns = std::ptrdiff_t{n_corners} * second_.stride;
  columns_.resize(std::int64_t{n_rows} * n_powers);
  for (int point = 0; point < n_points; ++point) fill_point(rows, point, n_points);
  // The constant, most of a value, is not rounded, and derivatives have none.
  for (int point = 0; point < n_points; ++point)
    std::copy_n(sums_.data(), n_columns, product + point * n_columns);
  multiply_bf16(columns_.data(), n_powers, n_points, packed_, product, n_columns, true);
  multiply_bf16(columns_.data() + std::ptrdiff_t{n_points} * n_powers, n_powers, n_rows - n_points, packed_,
                product + n_points * n_columns, n_columns);
}

}  // namespace quintet::flow
