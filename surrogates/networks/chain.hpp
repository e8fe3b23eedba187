#pragma once

#include <functional>
#include <string>
#include <vector>

#include "surrogates/networks/description.hpp"
#include "surrogates/networks/layer.hpp"
#include "surrogates/networks/rounded_layer.hpp"

namespace quintet::networks {

/// Tape that passes leave for each other: arrays by layer, [rows, stride]. One for each thread that runs a
/// chain.
template <class Real>
struct Tape {
  struct Layer {
    AlignedVector<Real> y, phi, slope, curvature;  ///< values: outputs, phi(z), phi'(z), phi''(z)
    AlignedVector<Real> a, alpha;                  ///< adjoint: dE/dy, a phi'(z) idt
    AlignedVector<Real> z_dot, y_dot;              ///< tangent
    AlignedVector<Real> y_bar, z_bar;              ///< gradient
  };
  std::vector<Layer> layers;
  std::vector<double> sum;  ///< [rows] of a chain that ends in one
  int n = 0;                ///< rows of the last forward pass
  Keep keep = Keep::adjoint;
  AlignedVector<Real> product, weight_bar;  ///< work space
  AlignedVector<std::uint32_t> words;       ///< of rounded products
};

/// A network of named dense layers, each reading and adding tensors by name, and all passes through it.
///
/// With z = x W + b, y = phi(z) idt + s of each layer (see LayerSpec) and E the number that a row ends in,
///
///     values     z, y
///     adjoint    a = dE/dy, alpha = a phi'(z) idt, dE/dx = alpha W^T, dE/ds = a
///     tangent    zdot = xdot W, ydot = phi'(z) idt zdot + sdot
///     gradient   z_bar = (y_bar phi'(z) + a phi''(z) zdot) idt, x_bar = z_bar W^T, s_bar = y_bar,
///                W_bar = x^T z_bar + xdot^T alpha, b_bar = sum z_bar,
///                idt_bar = sum y_bar phi(z) + a phi'(z) zdot
///
/// of S = ge E + Edot for a given number ge (dS/dydot = dE/dy: the adjoint of the tangent is that of the
/// values, and is kept). Without tangents what carries a dot is 0. Inference uses the first two passes,
/// training all four: six products a layer.
///
/// Layers run in the order given; a tensor may be read by any later layer, as its input or as its skip. Rows
/// do not depend on each other, nor on how many run together.
///
/// A chain in float that ends in a sum may round its products to bfloat16 (round_about()), and then takes
/// them about a reference row x*, of whose z*, alpha* it knows the exact values: with d = x - x*, r =
/// round(d) and V = round(W),
///
///     z = z* + r V,   dE/dx = alpha* W^T + round(alpha - alpha*) V^T,   E += alpha* . (d W - r V),
///
/// the last for each layer. So E and dE/dx are exact to first order in d, dE/dx is the gradient of E but for
/// the steps of the rounding, and what is rounded is only how far a row is from the reference. The idea of
/// half the bits for products and all of them for sums: Jia et al. (2020), SC20, 2005.00223, section V-B3.
template <class Real>
class Chain {
 public:
  using Tape = networks::Tape<Real>;
  /// Output of the last layer: rows of numbers, or one number a row, added up in float64 (an energy).
  enum class Output { rows, sum };

  /// Throws InternalError for names that are not known, twice there or not used, and widths that do not meet.
  /// @param tied place of each of the network's inputs among the chain's, where several inputs of the network
  ///        are the same number (empty: each is its own): rows of weights that meet in one place are added
  ///        up, and share a gradient
  Chain(std::string input, int n_in, const std::vector<LayerSpec>& layers, Output output = Output::rows,
        std::vector<int> tied = {});
  /// Take weights, biases and time steps from the flat parameters; float or double.
  template <class Source>
  void refresh(const Source* parameters);

  [[nodiscard]] int n_in() const { return n_in_; }
  /// Outputs of the last layer before the sum.
  [[nodiscard]] int n_out() const { return layers_.back().spec.n_out; }
  [[nodiscard]] int stride() const { return layers_.back().stride; }
  [[nodiscard]] bool output_has_timestep() const { return sum_.place.has_timestep; }

  /// Make forward_and_adjoint(Keep::adjoint), until refresh(), form its products of numbers rounded to
  /// bfloat16, about the reference x* [n_in]. Only for chains in float that end in a sum.
  void round_about(const double* reference);
  [[nodiscard]] bool rounds() const { return !rounded_.empty(); }

  /// Values of n rows of x: tape.layers.back().y, or tape.sum.
  void forward(Rows<const Real> x, int n, Keep keep, Tape& tape) const;
  /// Values and tangents, in one product a layer: x [2n, n_in] is n rows of values, then of their tangents;
  /// so is tape.layers.back().y.
  void forward_with_tangent(Rows<const Real> x, int n, Tape& tape) const;
  /// Function that the caller applies to rows first .. first + n while they are in the cache.
  using OnRows = std::function<void(int first, int n)>;
  /// Values and adjoint of a chain that ends in a sum: tape.sum, and dx = dE/dx. dx may be x, its rows have
  /// room for whole packs.
  /// @param make x of some rows, before they are read @param take what was made of them
  void forward_and_adjoint(Rows<const Real> x, int n, Keep keep, Rows<Real> dx, Tape& tape,
                           const OnRows& make = {}, const OnRows& take = {}) const;
  /// After forward(Keep::gradient): add to the gradient of the parameters what follows from
  /// tape.layers.back().y_bar [n, stride], whose padding is 0; and write x_bar = dS/dx where it has memory,
  /// in rows with room for whole packs.
  template <class Parameter>
  void gradient(Rows<const Real> x, Tape& tape, Parameter* gradient, Rows<Real> x_bar = {}) const;
  /// After forward_and_adjoint(Keep::tangent): tangent and gradient of S = ge E + Edot; writes x_bar = dS/dx,
  /// adds to the gradient of the parameters.
  /// @param make x_dot of some rows, before they are read @param take x_bar
  void differentiate(Rows<const Real> x, Rows<const Real> x_dot, Real ge, Rows<Real> x_bar, Tape& tape,
                     Real* gradient, const OnRows& make = {}, const OnRows& take = {}) const;
  /// After the last differentiate() or gradient() before an update: tied inputs get the same gradient.
  template <class Parameter>
  void share_gradient(Parameter* gradient) const;

  /// Call visit(data, bytes) for the arrays of its weights and of a tape.
  template <class Visit>
  void visit_arrays(const Tape& tape, const Visit& visit) const {
    for (const auto& layer : layers_)
      for (const auto& matrix : {&layer.weight, &layer.transposed})
        visit(matrix->memory().data(), matrix->memory().size_bytes());
    for (const auto& t : tape.layers)
      for (const auto* array :
           {&t.y, &t.phi, &t.slope, &t.curvature, &t.a, &t.alpha, &t.z_dot, &t.y_dot, &t.y_bar, &t.z_bar})
        visit(array->data(), array->size() * sizeof(Real));
  }
  /// Describe its blocks and their costs.
  [[nodiscard]] ChainDescription describe(Keep keep) const;

 private:
  using Array = AlignedVector<Real> Tape::Layer::*;
  /// Rows that go through all layers together: they and a panel of weights fit the second-level cache.
  static constexpr int block_rows = sizeof(Real) == 8 ? 32 : 64;
  /// An array of a tensor; `outside` is that of the chain's input.
  [[nodiscard]] Rows<const Real> read(const Tape& tape, int tensor, Array array,
                                      Rows<const Real> outside) const {
    if (tensor < 0) return outside;
    return {(tape.layers[tensor].*array).data(), layers_[tensor].stride};
  }
  [[nodiscard]] Rows<Real> write(Tape& tape, int tensor, Array array, Rows<Real> outside) const {
    if (tensor < 0) return outside;
    return {(tape.layers[tensor].*array).data(), layers_[tensor].stride};
  }
  void prepare(Tape& tape, int n, Keep keep, int copies = 1) const;
  template <class Source>
  void refresh_weights(Layer<Real>& layer, const Source* weight);
  [[nodiscard]] std::vector<const Real*> fold(const Real* weight, int n_out);

  void values(Rows<const Real> x, int first, int n, Tape& tape) const;
  void adjoint(Rows<Real> dx, int first, int n, Tape& tape) const;
  void tangent(Rows<const Real> x_dot, int first, int n, Tape& tape) const;
  template <bool with_tangent, class Parameter>
  void bars(Rows<Real> x_bar, int first, int n, Tape& tape, Parameter* gradient) const;
  template <bool with_tangent, class Parameter>
  void bar_layer(const Layer<Real>& layer, typename Tape::Layer& tape, int first, int n,
                 Parameter* gradient) const;
  template <class Parameter>
  void add_weights(const Layer<Real>& layer, std::initializer_list<TransposedFactors<Real>> pairs, int n,
                   Tape& tape, Parameter* gradient) const;
  void exact_values(int l, Rows<const Real> in, int first, int n, Tape& tape) const;
  void rounded_values(int l, Rows<const Real> in, int first, int n, Tape& tape) const;
  void rounded_back(int l, Rows<const Real> a, int first, int n, Rows<Real> to_input, Tape& tape) const;
  void back(const Layer<Real>& layer, const Real* z_bar, const Real* y_bar, int first, int n,
            Rows<Real> to_input, Rows<Real> to_skip, AlignedVector<Real>& product) const;

  std::string input_;
  int n_in_;
  std::vector<LayerSpec> specs_;
  std::vector<Layer<Real>> layers_;    ///< without the sum
  std::vector<RoundedLayer> rounded_;  ///< of all layers, or none
  Output output_;
  LayerSpec sum_;
  AlignedVector<Real> sum_weight_;  ///< [stride]
  double sum_bias_ = 0;

  std::vector<int> tied_;
  std::vector<std::vector<int>>
      members_;               ///< [n_in] the network's inputs that meet there, the last one first
  std::vector<Real> folded_;  ///< rows of weights that are sums
};

}  // namespace quintet::networks
