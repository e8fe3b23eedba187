#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/kernels/gemm.hpp"
#include "surrogates/flow/decoder/decoder_options.hpp"
#include "surrogates/flow/decoder/node_grid.hpp"
#include "surrogates/networks/description.hpp"

namespace quintet::flow {

/// Queries of a decoder: points, and operators to be applied there.
struct DecoderQueries {
  std::vector<NodeGrid> grids;  ///< one for all samples, or [sample]; all have the same numbers of nodes
  int n_points = 0;             ///< of each sample
  std::vector<double> points;   ///< [sample][point][axis] physical coordinates
  /// [sample][operator]; the same number for all samples, none for values alone. One for all samples, too.
  std::vector<std::vector<DifferentialOperator>> operators;
  int n_samples = 1;
  /// Round weights and activations of the products W_h h to bfloat16; sums, and all else, stay float. Many
  /// points of a cell share a series in place of the first product, exact to that rounding
  /// (place_series.hpp). For passes without a tape, after prepare_bf16().
  bool bf16 = false;
  Interrupt interrupt{};  ///< asked by the threads of a forward pass, which throws Interrupted

  /// The value and each operator.
  [[nodiscard]] int n_channels() const {
    return 1 + (operators.empty() ? 0 : static_cast<int>(operators.front().size()));
  }
  /// Coordinates [axis] of a point.
  [[nodiscard]] const double* point(int sample, int p) const {
    return points.data() + (std::int64_t{sample} * n_points + p) * n_axes;
  }
  [[nodiscard]] const NodeGrid& grid(int sample) const { return grids[grids.size() == 1 ? 0 : sample]; }
  [[nodiscard]] const std::vector<DifferentialOperator>& operators_of(int sample) const;
};

/// Tape that a forward pass leaves for its backward pass: pre-activations of the hidden layers after the
/// first, or nothing where they are made again.
template <class Real>
class DecoderTape;

/// The continuous decoder: fields, and differential operators applied to them, at any point; forward and
/// backward.
///
/// A point in a cell of the latent grid is seen from the 8 nodes of the cell: g_n = network(xi_n, q_n) with
/// xi_n = (x - x_n)/h the place relative to node n and q_n its latents; the field is f = sum_n w_n(x) g_n.
/// An operator D (first_i, second_ij) and tangents d_i (along xi_i) pass through the network as channels
/// beside the value h. With a = W_h h + W_xi xi + W_q q + c of a layer and y = phi(a),
///
///     a_i = W_h h_i + W_xi,i                          h_i = phi'(a) a_i
///     a_D = W_h h_D + sum_i first_i W_xi,i            h_D = phi'(a) a_D + phi''(a) sum_ij second_ij a_i a_j
///
/// (first and second scaled by the cell's spacings; W_xi and W_q in layers that read the input), and
///
///     D f = sum_n w D g + (sum_i first_i w_i + sum_ij second_ij w_ij) g
///               + sum_ij second_ij (w_i g_j + w_j g_i).
///
/// Where latents end with known fields, f_n (DecoderOptions::adds_known_fields), g_n = network(xi_n, q_n) +
/// f_n; q_n holds them, too.
///
/// Channels are stacked as rows, so that a layer is one product; W_q q is formed once a node. Tangents are
/// formed along axes that occur in second derivatives or alone; first-order operators made of them cost
/// nothing. Source: anchors of this project, verified against nested automatic differentiation.
///
/// Parameters lie in one flat array, layer by layer: weights [n_in, n_out] (inputs: hidden, then xi, then q),
/// bias [n_out]. Instantiated for float and double.
template <class Real>
class Decoder {
 public:
  using Tape = DecoderTape<Real>;

  /// Throws InputError for widths below 1.
  explicit Decoder(const DecoderOptions& options);
  ~Decoder();
  Decoder(Decoder&&) noexcept;

  [[nodiscard]] const DecoderOptions& options() const;
  [[nodiscard]] std::size_t n_parameters() const;
  /// Uniform in +-1/sqrt(n_in), weights and biases, by counter-based random numbers of the seed. A
  /// correction of known fields is 0: units of the last hidden layer come in pairs that cancel.
  [[nodiscard]] std::vector<double> initial_parameters(std::uint64_t seed) const;
  /// Describe its blocks and their costs; a row is a node's view of a point, for the value alone.
  [[nodiscard]] networks::ChainDescription describe() const;
  /// Take the parameters: before the first pass and after every change. Source float or double.
  template <class Source>
  void refresh(const Source* parameters);

  /// Take weights rounded to bfloat16 beside the others, for queries that ask for them. Float alone.
  /// @param parameters those of the last refresh(), after each of which this is to be called again
  void prepare_bf16(const float* parameters);

  /// Jets [sample][point][channel][field]: channel 0 the value, channel 1 + k operator k applied to it, in
  /// physical coordinates.
  ///
  /// Without a tape memory is bounded for any number of points, which are taken cell by cell.
  /// @param latents [sample][node_t][node_z][node_x][latent]
  /// Throws InputError for points outside the domain, bad grids, second-order operators with an
  /// activation that has no second derivative; Interrupted.
  void forward(const Real* latents, const DecoderQueries& queries, Real* jets, Tape* tape = nullptr) const;
  /// Bytes of a tape that is kept.
  [[nodiscard]] std::size_t tape_bytes(const DecoderQueries& queries) const;
  /// After a forward pass with the same latents, queries and tape: add dS/dparameters to `gradient`
  /// [n_parameters] and dS/dlatents to `latents_bar` (null: not wanted) for given dS/djets.
  void backward(const Real* latents, const DecoderQueries& queries, const Tape& tape, const Real* jets_bar,
                Real* gradient, Real* latents_bar) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <class Real>
class DecoderTape {
 public:
  /// @param made_again it keeps nothing: the backward pass makes the pre-activations of a block of rows anew,
  /// in the cache, before it needs them; gradients are the same to the last bit
  explicit DecoderTape(bool made_again = false);
  ~DecoderTape();
  DecoderTape(DecoderTape&&) noexcept;
  /// Bytes that it holds.
  [[nodiscard]] std::size_t bytes() const;

  struct State;
  std::unique_ptr<State> state;
};

}  // namespace quintet::flow
