#include "surrogates/flow/evaluation/truth_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "io/config/tree.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "surrogates/flow/evaluation/grid_residuals.hpp"

namespace quintet::flow {
namespace {

constexpr int fewest_points = 6, fewest_frames = 5, reach = AxisRules::width / 2;
constexpr double safety = 2;  ///< errors of differences that a residual may be

using Rows = std::vector<double>;  ///< squares by row of axis 0, means over the row and frames

/// Frames to look at: equally far apart, with their neighbours where there are so many.
std::vector<int> chosen_frames(int n, int most) {
  const int first = std::min(2 * reach, (n - 1) / 2), last = std::max(first, n - 1 - 2 * reach);
  const int count = std::clamp(last - first + 1, 1, std::max(1, most));
  std::vector<int> frames;
  for (int i = 0; i < count; ++i)
    frames.push_back(count == 1 ? (first + last) / 2 : first + (last - first) * i / (count - 1));
  return frames;
}

/// Every `step`-th point of an axis from `start` on.
FieldAxis thinned(FieldAxis axis, int step, int start) {
  std::vector<double> x;
  for (std::size_t i = start; i < axis.size(); i += step) x.push_back(axis.coordinates[i]);
  axis.coordinates = std::move(x);
  return axis;
}

/// Every step-th point of the grid from `start` on.
struct Thinned {
  std::array<int, 2> step, start;
  RectilinearGrid grid;

  Thinned(const RectilinearGrid& whole, std::array<int, 2> s, std::array<int, 2> first = {0, 0})
      : step(s),
        start(first),
        grid({thinned(whole.axes()[0], s[0], first[0]), thinned(whole.axes()[1], s[1], first[1])}) {}
};

/// Residuals [equation][point] of a frame, of its neighbours `time_step` frames apart on a thinned grid.
std::vector<std::vector<double>> residuals_at(const Residuals& residuals, const FieldsOverTime& fields,
                                              const Thinned& on, int frame, int time_step) {
  const int n_t = fields.times.size(), n_1 = fields.grid->size(1);
  const std::size_t all = fields.grid->size();
  std::vector<double> times;
  std::vector<int> frames;
  int at = 0;
  for (int k = -reach; k <= reach; ++k) {
    const int t = frame + k * time_step;
    if (t < 0 || t >= n_t) continue;
    if (k == 0) at = times.size();
    times.push_back(fields.times[t]);
    frames.push_back(t);
  }
  std::vector<std::vector<double>> values(residuals.n_fields());
  std::vector<std::span<const double>> spans;
  for (std::size_t f = 0; f < values.size(); ++f) {
    for (const int t : frames)
      for (int i = on.start[0]; i < fields.grid->size(0); i += on.step[0])
        for (int j = on.start[1]; j < n_1; j += on.step[1])
          values[f].push_back(fields.values[(f * fields.times.size() + t) * all + std::int64_t{i} * n_1 + j]);
    spans.emplace_back(values[f]);
  }
  const std::vector<FieldWalls> nothing_known(values.size(), FieldWalls(2));
  return GridResiduals(on.grid, times, nothing_known, residuals, 0).of_frame(at, spans);
}

/// Means of squares by row, at the points of `on`; `other`, which lies there, is taken off where it is given.
void add_rows(const RectilinearGrid& grid, std::span<const double> f, const Thinned& on,
              std::span<const double> other, Rows& rows) {
  rows.resize(grid.size(0), 0);
  for (int i = on.start[0]; i < grid.size(0); i += on.step[0]) {
    double sum = 0;
    for (int j = 0; j < on.grid.size(1); ++j) {
      double value = f[std::int64_t{i} * grid.size(1) + on.start[1] + j * on.step[1]];
      if (!other.empty()) value -= other[std::int64_t{(i - on.start[0]) / on.step[0]} * on.grid.size(1) + j];
      sum += value * value;
    }
    rows[i] += sum / on.grid.size(1);
  }
}

double mean(const Rows& rows, double frames) {
  return std::accumulate(rows.begin(), rows.end(), 0.0) / (rows.size() * frames);
}

/// The system with each term of its equations as an equation of its own behind them.
PdeSystem with_terms(const PdeSystem& system, std::vector<std::vector<std::string>>& terms) {
  auto texts = system.equations();
  for (const auto& equation : system.equations()) {
    terms.push_back(terms_of(equation.text));
    for (const auto& term : terms.back()) texts.push_back({equation.name, term, equation.what});
  }
  return {texts, system.names(), true};
}

/// Weights of the value at the end of an axis through n points, the `first`-nearest and those behind it.
std::vector<double> end_weights(const FieldAxis& axis, int end, int n, int first = 0) {
  const auto& x = axis.coordinates;
  n = std::min(n, static_cast<int>(x.size()) - first);
  std::vector<double> nodes;
  for (int k = first; k < first + n; ++k) nodes.push_back(end == 0 ? x[k] : x[x.size() - 1 - k]);
  auto weights = difference_weights(end == 0 ? axis.lower : axis.upper, nodes, 0);
  weights.insert(weights.begin(), static_cast<std::size_t>(first), 0);
  return weights;
}

/// Sums of what a quantity is at a wall, and over the flow.
class WallSums {
 public:
  WallSums(const RectilinearGrid& grid, int axis, int end)
      : grid_(grid),
        axis_(axis),
        end_(end),
        five_(end_weights(grid.axes()[axis], end, 5)),
        three_(end_weights(grid.axes()[axis], end, 3)),
        behind_(end_weights(grid.axes()[axis], end, 4, 1)) {}

  template <class Values>
  void add(const Values& f) {
    const int n = grid_.size(axis_), stride = axis_ == 0 ? grid_.size(1) : 1,
              step = axis_ == 0 ? 1 : grid_.size(1);
    for (int line = 0; line < grid_.size(1 - axis_); ++line, ++n_) {
      const auto at_wall = [&](const std::vector<double>& weights) {
        double sum = 0;
        for (std::size_t k = 0; k < weights.size(); ++k) {
          const int point = end_ == 0 ? static_cast<int>(k) : n - 1 - static_cast<int>(k);
          sum += weights[k] * static_cast<double>(f[line * step + point * stride]);
        }
        return sum;
      };
      const double value = at_wall(five_), difference = std::max(std::abs(value - at_wall(three_)),
                                                                 std::abs(value - at_wall(behind_)));
      wall_ += value, square_ += value * value, error_ += difference * difference;
    }
    double sum = 0, square = 0;
    const int size = grid_.size();
    for (int i = 0; i < size; ++i) sum += static_cast<double>(f[i]) / size;
    for (int i = 0; i < size; ++i)
      square += (static_cast<double>(f[i]) - sum) * (static_cast<double>(f[i]) - sum) / size;
    flow_ += square, ++frames_;
  }

  [[nodiscard]] WallValue result() const {
    const double average = wall_ / n_;
    return {average, rounded_root(square_ / n_ - average * average), std::sqrt(error_ / n_),
            std::sqrt(flow_ / frames_)};
  }
  [[nodiscard]] double rms() const { return std::sqrt(square_ / n_); }

 private:
  const RectilinearGrid& grid_;
  int axis_, end_;
  std::vector<double> five_, three_, behind_;
  double wall_ = 0, square_ = 0, error_ = 0, flow_ = 0, n_ = 0, frames_ = 0;
};

bool can_be_checked(const FieldsOverTime& fields) {
  return fields.grid->size(0) >= fewest_points && fields.grid->size(1) >= fewest_points &&
         fields.times.size() >= fewest_frames;
}

}  // namespace

double EquationCheck::largest() const {
  double most_rms = 0;
  for (const auto& term : terms) most_rms = std::max(most_rms, term.rms);
  return most_rms;
}

bool WallValue::contradicts(double value) const {
  const double off = std::hypot(mean - value, deviation);
  return off - safety * error > EquationCheck::most * scale;
}

std::vector<EquationCheck> check_equations(const PdeSystem& system, const std::vector<double>& constants,
                                           const FieldsOverTime& fields, int most_frames) {
  if (!can_be_checked(fields) || system.n_equations() == 0) return {};
  std::vector<std::vector<std::string>> texts;
  const auto residuals = with_terms(system, texts).residuals(std::vector<std::vector<double>>{constants});
  const Thinned whole(*fields.grid, {1, 1});
  // Each point is in one of two halves; columns of both halves are added up in each row.
  const std::array<std::array<Thinned, 2>, 2> halves{
      {{{{*fields.grid, {2, 1}, {0, 0}}, {*fields.grid, {2, 1}, {1, 0}}}},
       {{{*fields.grid, {1, 2}, {0, 0}}, {*fields.grid, {1, 2}, {0, 1}}}}}};
  const std::size_t n = residuals.n_equations(), n_equations = system.n_equations();
  std::vector<Rows> squares(n);
  std::array<std::vector<Rows>, 3> errors{squares, squares, squares};
  const auto frames = chosen_frames(fields.times.size(), most_frames);
  for (const int frame : frames) {
    const auto here = residuals_at(residuals, fields, whole, frame, 1),
               in_time = residuals_at(residuals, fields, whole, frame, 2);
    for (std::size_t e = 0; e < n; ++e) add_rows(*fields.grid, here[e], whole, {}, squares[e]);
    for (std::size_t e = 0; e < n_equations; ++e)
      add_rows(*fields.grid, here[e], whole, in_time[e], errors[0][e]);
    for (std::size_t along = 0; along < 2; ++along)
      for (const auto& half : halves[along]) {
        const auto there = residuals_at(residuals, fields, half, frame, 1);
        for (std::size_t e = 0; e < n_equations; ++e)
          add_rows(*fields.grid, here[e], half, there[e], errors[1 + along][e]);
      }
  }
  const double count = frames.size();
  std::vector<EquationCheck> checks;
  for (std::size_t e = 0, term = n_equations; e < n_equations; ++e) {
    EquationCheck check{system.equations()[e].name, {}, std::sqrt(mean(squares[e], count))};
    for (const auto& text : texts[e]) check.terms.push_back({text, std::sqrt(mean(squares[term++], count))});
    for (auto& row : errors[2][e]) row /= 2;
    Rows error(squares[e].size()), beyond(squares[e].size());
    for (std::size_t i = 0; i < error.size(); ++i) {
      double sum = 0;
      for (const auto& along : errors) sum += std::sqrt(along[e][i]);
      error[i] = sum * sum;
      const double left = std::max(0.0, std::sqrt(squares[e][i]) - safety * sum);
      beyond[i] = left * left;
    }
    check.error = std::sqrt(mean(error, count));
    check.beyond = std::sqrt(mean(beyond, count));
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<EquationCheck> check_wall(const PdeSystem& conditions, const std::vector<double>& constants,
                                      const FieldsOverTime& fields, int axis, int end, int most_frames) {
  if (!can_be_checked(fields)) return {};
  const auto residuals = conditions.residuals(std::vector<std::vector<double>>{constants});
  const Thinned whole(*fields.grid, {1, 1});
  std::vector<WallSums> sums(conditions.n_equations(), {*fields.grid, axis, end});
  for (const int frame : chosen_frames(fields.times.size(), most_frames)) {
    const auto here = residuals_at(residuals, fields, whole, frame, 1);
    for (std::size_t e = 0; e < sums.size(); ++e) sums[e].add(here[e]);
  }
  std::vector<EquationCheck> checks;
  for (std::size_t e = 0; e < sums.size(); ++e) {
    const auto value = sums[e].result();
    EquationCheck check{conditions.equations()[e].name, {{"its deviation", value.scale}}, sums[e].rms()};
    check.error = value.error;
    check.beyond = std::max(0.0, check.residual - safety * check.error);
    checks.push_back(std::move(check));
  }
  return checks;
}

WallValue wall_value(const FieldsOverTime& fields, int field, int axis, int end) {
  WallSums sums(*fields.grid, axis, end);
  const std::size_t frame = fields.grid->size();
  for (const int t : chosen_frames(fields.times.size(), 16))
    sums.add(fields.values.subspan((field * fields.times.size() + t) * frame, frame));
  return sums.result();
}

}  // namespace quintet::flow
