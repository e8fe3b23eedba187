#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "physics/codes/coded_matrix.hpp"
#include "physics/codes/codes_file.hpp"
#include "surrogates/sequence/network/architecture.hpp"

namespace quintet::sequence {

/// A matrix of a network in its flat parameters: [inputs, outputs] from `first` on.
struct MatrixPlace {
  std::string name;  ///< "node_1.W", "node_1.U"
  std::size_t first = 0;
  int inputs = 0, outputs = 0;
  [[nodiscard]] std::size_t size() const { return std::int64_t{inputs} * outputs; }
};
/// W and U of each LSTM, W of each dense layer, in the order of the graph. All other parameters are biases.
[[nodiscard]] std::vector<MatrixPlace> matrices_of(const Graph& graph);

/// The codes of all matrices, transposed: rows are outputs, groups are of inputs. Throws InputError for
/// parameters that are not finite.
[[nodiscard]] std::vector<NamedCodes> encode_matrices(const Graph& graph, std::span<const double> parameters,
                                                      const CodeOptions& options);
/// Parameters whose matrices are what the codes stand for.
[[nodiscard]] std::vector<double> decode_matrices(const Graph& graph, std::span<const double> parameters,
                                                  const std::vector<NamedCodes>& codes);
/// Throws InputError, beginning with `what`, unless these are the codes of the graph's matrices.
void check_matrices(const Graph& graph, const std::vector<NamedCodes>& codes, const std::string& what);

/// The biases, in the order of the parameters; and parameters that hold them, matrices 0.
[[nodiscard]] std::vector<double> biases_of(const Graph& graph, std::span<const double> parameters);
[[nodiscard]] std::vector<double> with_biases(const Graph& graph, std::span<const double> biases);

/// Outputs [n, steps_out, n_outputs] of windows [n, steps, n_inputs] by codes, in float.
[[nodiscard]] std::vector<double> predict_coded(const Architecture& architecture, int steps,
                                                std::span<const double> parameters,
                                                const std::vector<NamedCodes>& codes, CodeKernel kernel,
                                                std::span<const double> windows);

}  // namespace quintet::sequence
