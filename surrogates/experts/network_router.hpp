#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/file_fwd.hpp"

/// A small network that says which expert is likely the best.
namespace quintet::experts {

/// Probabilities of experts for values of keys:
///
///     p = softmax(W2 tanh(W1 z + b1) + b2),    z_k = (x_k - mean_k)/scale_k,
///
/// x_k the value of key k, or its logarithm. Shapes: W1 [hidden, keys], W2 [experts, hidden].
struct NetworkRouter {
  std::string app;
  std::vector<std::string> by, ids;
  std::vector<bool> logarithms;     ///< [keys]
  std::vector<double> mean, scale;  ///< [keys]
  int hidden = 0;
  std::vector<double> weights;  ///< W1, b1, W2, b2

  [[nodiscard]] std::size_t n_weights() const {
    const std::size_t h = hidden;
    return h * (by.size() + 1) + ids.size() * (h + 1);
  }
  /// [experts] @param values of all keys; those of logarithms above 0
  [[nodiscard]] std::vector<double> probabilities(const std::map<std::string, double>& values) const;
};

/// Requests and who answered them best: rows [n, keys], labels [n] numbers of experts.
struct RouterExamples {
  std::vector<std::string> by, ids;
  std::vector<double> rows;
  std::vector<int> labels;
};

/// Mean of -log p(label) over the examples plus 1e-4/2 |W|^2, and its gradient by the weights.
[[nodiscard]] std::pair<double, std::vector<double>> loss_and_gradient(const NetworkRouter& network,
                                                                       const RouterExamples& examples);
/// Train one: full batches, Adam, the same result each time. Keys that are positive and span a factor of 100
/// are taken in logarithms. Throws InputError: no examples, values that are not finite, fewer than two
/// experts.
[[nodiscard]] NetworkRouter train_router(const std::string& app, const RouterExamples& examples);
/// Share of the examples whose expert it finds most likely.
[[nodiscard]] double accuracy(const NetworkRouter& network, const RouterExamples& examples);

/// Put it into a registry as /router, in place of one that is there (as add_expert() does it).
void write_router(const std::string& registry, const NetworkRouter& network);
/// The router in the root of a registry. Throws InputError: shapes that do not go together, no finite
/// numbers.
[[nodiscard]] NetworkRouter read_router(const hdf5::Group& root, const std::string& path);

}  // namespace quintet::experts
