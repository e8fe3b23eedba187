#include "surrogates/flow/evaluation/grid_residuals.hpp"

namespace quintet::flow {
namespace {

FieldAxis time_axis(const std::vector<double>& times) {
  return {"t", "1", times, false, times.front(), times.back()};
}

/// Ends at which the time derivative of a field is known: where the field itself is, it is 0.
EndValues still(const EndValues& ends) {
  EndValues result;
  for (std::size_t end = 0; end < 2; ++end)
    if (ends[end]) result[end] = 0;
  return result;
}

}  // namespace

GridResiduals::GridResiduals(const RectilinearGrid& grid, const std::vector<double>& times,
                             std::vector<FieldWalls> walls, Residuals residuals, int sample)
    : grid_(&grid),
      times_(times),
      time_rules_(time_axis(times), {false, false}),
      walls_(std::move(walls)),
      residuals_(std::move(residuals)),
      sample_(sample) {}

std::vector<std::vector<double>> GridResiduals::of_frame(
    int frame, const std::vector<std::span<const double>>& fields) const {
  const int n = grid_->size(), n_fields = residuals_.n_fields();
  const int n_channels = 1 + residuals_.n_operators();
  std::vector<double> jets(std::int64_t{n} * n_channels * n_fields, 0);
  for (int field = 0; field < n_fields; ++field) {
    const auto values = fields[field].subspan(std::int64_t{frame} * n, n);
    const auto add = [&](int channel, double factor, std::span<const double> f) {
      for (int i = 0; i < n; ++i)
        jets[(std::int64_t{i} * n_channels + channel) * n_fields + field] += factor * f[i];
    };
    const auto in_time = [&](int order) {
      const auto& rule = time_rules_.derivative(order, frame);
      std::vector<double> f(n, 0);
      for (std::size_t k = 0; k < rule.points.size(); ++k)
        for (int i = 0; i < n; ++i)
          f[i] += rule.weights[k] * fields[field][std::int64_t{rule.points[k]} * n + i];
      return f;
    };
    /// d_i (order 1), or d_i d_j
    const auto derivative = [&](int i, int j) {
      const auto& walls = walls_[field];
      if (i == 0 && j == 0) return in_time(2);
      if (i == 0) return grid_->derivative(in_time(1), j - 1, 1, still(walls[j - 1]));
      if (i == j) return grid_->derivative(values, i - 1, 2, walls[i - 1]);
      return grid_->derivative(grid_->derivative(values, i - 1, 1, walls[i - 1]), j - 1, 1);
    };
    add(0, 1, values);
    const auto operators = residuals_.operators(sample_);
    for (int i = 0; i < n_axes; ++i) {
      std::vector<double> f;
      for (std::size_t k = 0; k < operators.size(); ++k) {
        if (operators[k].first[i] == 0) continue;
        if (f.empty()) f = i == 0 ? in_time(1) : grid_->derivative(values, i - 1, 1, walls_[field][i - 1]);
        add(1 + static_cast<int>(k), operators[k].first[i], f);
      }
    }
    for (int pair = 0; pair < n_second; ++pair) {
      std::vector<double> f;
      for (std::size_t k = 0; k < operators.size(); ++k) {
        if (operators[k].second[pair] == 0) continue;
        if (f.empty()) f = derivative(second_axes[pair][0], second_axes[pair][1]);
        add(1 + static_cast<int>(k), operators[k].second[pair], f);
      }
    }
  }
  std::vector<double> coordinates(std::int64_t{n} * n_axes);
  for (int i = 0; i < n; ++i) {
    coordinates[i * n_axes] = times_[frame];
    coordinates[i * n_axes + 1] = grid_->axes()[0].coordinates[i / grid_->size(1)];
    coordinates[i * n_axes + 2] = grid_->axes()[1].coordinates[i % grid_->size(1)];
  }
  std::vector<double> by_point(std::int64_t{n} * residuals_.n_equations());
  residuals_.evaluate(sample_, n, jets.data(), coordinates.data(), by_point.data());
  std::vector<std::vector<double>> result(residuals_.n_equations(), std::vector<double>(n));
  for (int i = 0; i < n; ++i)
    for (int e = 0; e < residuals_.n_equations(); ++e)
      result[e][i] = by_point[i * residuals_.n_equations() + e];
  return result;
}

}  // namespace quintet::flow
