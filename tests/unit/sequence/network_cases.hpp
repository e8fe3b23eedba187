#pragma once

#include <cmath>
#include <vector>

#include "surrogates/sequence/network/architecture.hpp"

/// Small networks with all that a network can have, and a plain twin of them.
namespace quintet::sequence::test {

inline Architecture network_of(std::vector<Node> nodes, std::vector<Skip> skips, Head head, int n_inputs = 5,
                               int n_outputs = 5, int steps_out = 8) {
  Architecture a{n_inputs, std::move(nodes), std::move(skips), head, n_outputs, steps_out};
  validate(a);
  return a;
}

inline std::vector<Architecture> some_networks() {
  const Node identity{NodeKind::identity, 0}, wide{NodeKind::lstm, 16}, narrow{NodeKind::lstm, 11},
      five{NodeKind::lstm, 5}, dense{NodeKind::dense, 7};
  return {network_of({wide}, {}, Head::lstm),
          network_of({}, {}, Head::dense),
          network_of({narrow}, {}, Head::last_state, 3, 4, 6),
          network_of({wide, wide, narrow}, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}, Head::lstm),
          network_of({five, identity, five}, {{0, 1}, {1, 2}, {0, 3}}, Head::last_state, 5, 5, 2),
          network_of({identity, dense, wide, identity}, {{0, 2}, {2, 3}, {2, 4}, {3, 4}}, Head::dense)};
}

/// n numbers that follow no pattern, about -1 .. 1.
template <class Real>
std::vector<Real> numbers(std::size_t n, double phase, double size = 1) {
  std::vector<Real> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<Real>(size * std::sin(phase + 1.7 * i * (1 + 0.01 * (i % 17))));
  return values;
}

/// The outputs of one window, by plain loops over the graph.
inline std::vector<double> plain_outputs(const Architecture& architecture, int steps,
                                         const std::vector<double>& parameters, const double* window) {
  const Graph graph = graph_of(architecture);
  std::vector<std::vector<double>> tensors = {{window, window + steps * graph.n_inputs}};
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (const Operation& operation : graph.operations) {
    const auto& x = tensors[operation.inputs.front()];
    const double* p = parameters.data() + operation.first;
    const int in = operation.n_in, out = operation.n_out;
    std::vector<double> y(static_cast<std::size_t>(operation.last_step ? 1 : steps) * out, 0.0), c(out, 0.0);
    for (int t = operation.last_step ? steps - 1 : 0, row = 0; t < steps; ++t, ++row) {
      if (operation.kind == Operation::Kind::merge) {
        for (int j = 0; j < out; ++j) {
          double sum = 0;
          for (const int from : operation.inputs) sum += tensors[from][t * out + j];
          y[row * out + j] = std::max(sum, 0.0);
        }
        continue;
      }
      const bool lstm = operation.kind == Operation::Kind::lstm;
      const int n = lstm ? 4 * out : out, n_rows = lstm ? in + out : in;
      std::vector<double> z(p + n_rows * n, p + n_rows * n + n);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < in; ++i) z[j] += x[t * in + i] * p[i * n + j];
        for (int i = 0; lstm && t > 0 && i < out; ++i) z[j] += y[(t - 1) * out + i] * p[(in + i) * n + j];
      }
      for (int j = 0; j < out; ++j) {
        if (!lstm) {
          y[row * out + j] = operation.relu ? std::max(z[j], 0.0) : z[j];
          continue;
        }
        c[j] = logistic(z[out + j]) * c[j] + logistic(z[j]) * std::tanh(z[2 * out + j]);
        y[row * out + j] = logistic(z[3 * out + j]) * std::tanh(c[j]);
      }
    }
    tensors.push_back(std::move(y));
  }
  return tensors.back();
}

}  // namespace quintet::sequence::test
