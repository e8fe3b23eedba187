#include "surrogates/flow/decoder/jet_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet::flow {

const std::vector<DifferentialOperator>& DecoderQueries::operators_of(int sample) const {
  static const std::vector<DifferentialOperator> none;
  if (operators.empty()) return none;
  return operators[operators.size() == 1 ? 0 : sample];
}

JetPlan make_plan(const DecoderQueries& queries) {
  JetPlan plan;
  plan.n_operators = queries.n_channels() - 1;
  plan.channel.assign(plan.n_operators, -1);
  std::vector<std::array<bool, n_axes>> first(plan.n_operators);  // axes of each operator, over all samples
  std::vector<bool> second(plan.n_operators);
  std::array<bool, n_axes> tangent{};
  for (const auto& operators : queries.operators)
    for (int k = 0; k < plan.n_operators; ++k) {
      for (int i = 0; i < n_axes; ++i) first[k][i] = first[k][i] || operators[k].first[i] != 0;
      for (int pair = 0; pair < n_second; ++pair) {
        if (operators[k].second[pair] == 0) continue;
        second[k] = plan.second_order = true;
        for (const int axis : second_axes[pair]) tangent[axis] = true;
      }
    }
  for (int k = 0; k < plan.n_operators; ++k)
    if (!second[k] && std::count(first[k].begin(), first[k].end(), true) == 1)
      tangent[std::find(first[k].begin(), first[k].end(), true) - first[k].begin()] = true;
  for (int i = 0; i < n_axes; ++i)
    if (tangent[i]) plan.tangents.push_back(i);
  for (int k = 0; k < plan.n_operators; ++k) {
    bool made_of_tangents = !second[k];
    for (int i = 0; i < n_axes; ++i) made_of_tangents = made_of_tangents && (!first[k][i] || tangent[i]);
    if (made_of_tangents) continue;
    plan.channel[k] = 1 + plan.n_tangents() + plan.n_inner();
    plan.inner.push_back(k);
  }
  return plan;
}

void check_queries(const DecoderQueries& queries, const JetPlan& plan, Activation activation) {
  const auto fits = [&](std::size_t n) { return n == 1 || n == static_cast<std::size_t>(queries.n_samples); };
  bool right = fits(queries.grids.size()) && (queries.operators.empty() || fits(queries.operators.size())) &&
               queries.points.size() == std::size_t{n_axes} * queries.n_samples * queries.n_points;
  for (const auto& operators : queries.operators)
    right = right && operators.size() == queries.operators.front().size();
  for (const auto& grid : queries.grids) {
    check_grid(grid);
    for (int i = 0; i < n_axes; ++i) right = right && grid[i].size() == queries.grids.front()[i].size();
  }
  if (!right) throw InternalError("grids, points and operators of a decoder's queries do not fit each other");
  QUINTET_CHECK(!plan.second_order || has_curvature(activation),
                "The decoder's activation has no second derivative, which the equations need; take another "
                "activation, such as softplus.");
}

namespace {

/// s(r), s'(r), s''(r) of the upper node's weight.
std::array<double, 3> upper_weight(Blend blend, double r) {
  if (blend == Blend::linear) return {r, 1, 0};
  if (r <= 0) return {0, 0, 0};
  if (r >= 1) return {1, 0, 0};
  if (blend == Blend::cubic) return {r * r * (3 - 2 * r), 6 * r * (1 - r), 6 - 12 * r};
  if (blend == Blend::quintic)
    return {r * r * r * (10 - 15 * r + 6 * r * r), 30 * r * r * (1 - r) * (1 - r),
            60 * r * (1 - r) * (1 - 2 * r)};
  throw InternalError("a blend without weights");
}

/// A node's weight at a point: W, its gradient and second derivatives along r.
struct Weight {
  double value, first[n_axes], second[n_second];
};
Weight product(const std::array<std::array<double, 3>, n_axes>& w) {
  Weight weight;
  weight.value = w[0][0] * w[1][0] * w[2][0];
  for (int i = 0; i < n_axes; ++i) weight.first[i] = w[i][1] * w[(i + 1) % 3][0] * w[(i + 2) % 3][0];
  for (int pair = 0; pair < n_second; ++pair) {
    const auto [i, j] = second_axes[pair];
    const int k = 3 - i - j;  // the third one, for i != j
    weight.second[pair] =
        i == j ? w[i][2] * w[(i + 1) % 3][0] * w[(i + 2) % 3][0] : w[i][1] * w[j][1] * w[k][0];
  }
  return weight;
}

/// The operator at relative coordinates of a cell.
DifferentialOperator scaled(const DifferentialOperator& physical, const std::array<AxisCell, n_axes>& cell) {
  DifferentialOperator relative = physical;
  for (int i = 0; i < n_axes; ++i) relative.first[i] /= cell[i].spacing;
  for (int pair = 0; pair < n_second; ++pair)
    relative.second[pair] /= cell[second_axes[pair][0]].spacing * cell[second_axes[pair][1]].spacing;
  return relative;
}

/// Weights [channel] with which a row's channels enter D f.
template <class Real>
void mix_operator(const JetPlan& plan, int k, const DifferentialOperator& relative, const Weight& weight,
                  const std::array<int, n_axes>& tangent_channel, std::vector<double>& sum, Real* mix) {
  sum.assign(plan.n_channels(), 0.0);
  for (int i = 0; i < n_axes; ++i) {
    sum[0] += relative.first[i] * weight.first[i];
    if (plan.channel[k] < 0 && relative.first[i] != 0)
      sum[tangent_channel[i]] += weight.value * relative.first[i];
  }
  for (int pair = 0; pair < n_second; ++pair) {
    if (relative.second[pair] == 0) continue;
    const auto [i, j] = second_axes[pair];
    sum[0] += relative.second[pair] * weight.second[pair];
    sum[tangent_channel[j]] += relative.second[pair] * weight.first[i];
    sum[tangent_channel[i]] += relative.second[pair] * weight.first[j];
  }
  if (plan.channel[k] >= 0) sum[plan.channel[k]] += weight.value;
  for (int c = 0; c < plan.n_channels(); ++c) mix[c] = static_cast<Real>(sum[c]);
}

/// first [axis], then second [pair of tangents].
template <class Real>
void store_coefficients(const JetPlan& plan, const DifferentialOperator& relative, Real* to) {
  for (int i = 0; i < n_axes; ++i) to[i] = static_cast<Real>(relative.first[i]);
  int place = n_axes;
  for (int pair = 0; pair < n_second; ++pair) {
    const auto [i, j] = second_axes[pair];
    const auto has = [&](int axis) {
      return std::find(plan.tangents.begin(), plan.tangents.end(), axis) != plan.tangents.end();
    };
    if (has(i) && has(j)) to[place++] = static_cast<Real>(relative.second[pair]);
  }
}

}  // namespace

template <class Real>
void RowBlock<Real>::prepare(const JetPlan& plan, const DecoderQueries& queries, Blend blend, int sample,
                             const int* points, int n_points) {
  const NodeGrid& grid = queries.grid(sample);
  const auto& operators = queries.operators_of(sample);
  const int channels = plan.n_channels(), outputs = plan.n_outputs();
  std::array<int, n_axes> tangent_channel{};
  for (int t = 0; t < plan.n_tangents(); ++t) tangent_channel[plan.tangents[t]] = 1 + t;
  n_rows = n_points * n_corners;
  node.resize(n_rows);
  local.resize(n_rows);
  place.resize(std::size_t{n_axes} * n_rows);
  coefficients.resize(std::int64_t{n_rows} * plan.n_inner() * row_coefficients);
  mix.resize(std::int64_t{n_rows} * outputs * channels);

  std::vector<DifferentialOperator> relative(plan.n_operators);
  std::vector<double> sum;
  for (int p = 0; p < n_points; ++p) {
    const double* x = queries.point(sample, points[p]);
    const auto cell = locate(grid, x);
    for (int k = 0; k < plan.n_operators; ++k) relative[k] = scaled(operators[k], cell);
    std::array<std::array<double, 3>, n_axes> upper;
    for (int i = 0; i < n_axes; ++i) upper[i] = upper_weight(blend, cell[i].r);
    for (int corner = 0; corner < n_corners; ++corner) {
      const int row = p * n_corners + corner;
      std::array<std::array<double, 3>, n_axes> w;
      int at[n_axes];
      for (int i = 0; i < n_axes; ++i) {
        const int side = corner >> (n_axes - 1 - i) & 1;
        at[i] = cell[i].node[side];
        place[row * n_axes + i] = static_cast<Real>(cell[i].r - side);
        w[i] = side ? upper[i] : std::array{1 - upper[i][0], -upper[i][1], -upper[i][2]};
      }
      node[row] = (at[0] * grid[1].size() + at[1]) * grid[2].size() + at[2];
      const Weight weight = product(w);
      Real* row_mix = mix.data() + std::int64_t{row} * outputs * channels;
      std::fill_n(row_mix, channels, Real(0));
      row_mix[0] = static_cast<Real>(weight.value);
      for (int k = 0; k < plan.n_operators; ++k)
        mix_operator(plan, k, relative[k], weight, tangent_channel, sum, row_mix + (1 + k) * channels);
      for (int o = 0; o < plan.n_inner(); ++o)
        store_coefficients(plan, relative[plan.inner[o]],
                           coefficients.data() + (std::int64_t{row} * plan.n_inner() + o) * row_coefficients);
    }
  }
}

std::vector<int> order_by_cell(const DecoderQueries& queries, int sample) {
  const NodeGrid& grid = queries.grid(sample);
  std::vector<int> cells(queries.n_points), order(queries.n_points);
  for (int p = 0; p < queries.n_points; ++p) {
    const auto cell = locate(grid, queries.point(sample, p));
    cells[p] = (cell[0].node[0] * grid[1].size() + cell[1].node[0]) * grid[2].size() + cell[2].node[0];
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return cells[a] < cells[b]; });
  return order;
}

template struct RowBlock<float>;
template struct RowBlock<double>;

}  // namespace quintet::flow
