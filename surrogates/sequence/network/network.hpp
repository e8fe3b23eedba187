#pragma once

#include <variant>
#include <vector>

#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/network/coded_matrices.hpp"
#include "surrogates/sequence/network/dense_layer.hpp"
#include "surrogates/sequence/network/lstm_layer.hpp"
#include "surrogates/sequence/network/passes.hpp"

namespace quintet::sequence {

/// A recurrent network by our own kernels: forward, and backward through time by hand.
///
/// Windows run in blocks of at most 32, for gradients of 16 (what they keep fits the second-level cache), all
/// steps of a block through one operation after the other; a window's outputs do not depend, not by a bit, on
/// which others run beside it. Parameters lie in the order of the graph (Operation::first): of an LSTM W
/// [n_in, 4 units], U [units, 4 units], b [4 units] with gates i, f, g, o; of a dense layer W [n_in, n_out],
/// b [n_out]. Memory is allocated once.
template <class Real>
class Network : public Passes<Real> {
 public:
  /// @param architecture as validate() leaves it
  /// @param steps of a window. Throws InputError where the head gives as many steps as it reads and they
  ///        differ from architecture.steps_out
  /// @param products in double they are exact. Throws InternalError for others
  Network(const Architecture& architecture, int steps, Products products = Products::exact);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] int n_outputs() const { return n_outputs_; }  ///< of a window, all steps together
  [[nodiscard]] std::size_t n_parameters() const override { return graph_.n_parameters; }
  void refresh(const Real* parameters) override;
  /// Forward passes take the matrices by their codes (encode_matrices()) until the next refresh(); biases
  /// stay. They then have no gradient. Float alone.
  void take_codes(const std::vector<NamedCodes>& codes, CodeKernel kernel);
  void forward(const Real* windows, int n, Real* outputs) override;
  using Passes<Real>::loss_and_gradient;
  double loss_and_gradient(const Real* windows, const Real* targets, int n, Real* gradient,
                           int batch) override;

 private:
  static constexpr int block = 32;
  /// Windows of a gradient at a time; products of bf16 are made for 32 rows at once.
  [[nodiscard]] int gradient_block() const { return products_ == Products::exact ? 16 : block; }
  struct Merge {};
  struct Tensor {
    int width = 0, stride = 0;
    AlignedVector<Real> values, bar;  ///< [steps block, stride]; bar = dL/dvalues
    bool has_bar = false;             ///< on the way back: a later operation has left its share
  };
  void run(const Real* windows, int n, bool keep);
  void run_back(int n, Real* gradient);
  void run_operation(std::size_t i, int n, bool keep);
  void run_operation_back(std::size_t i, int n, Real* gradient);
  void merge(const Operation& operation, int n);
  void merge_back(const Operation& operation, int n);
  /// Where an operation leaves dL/d of the tensor it has read, and what adds it to what is there already.
  Real* begin_bar(int tensor);
  void end_bar(int tensor, int n);
  /// Call visit(place in a window's outputs, row and number in the last tensor) for n windows.
  template <class Visit>
  void visit_outputs(int n, Visit&& visit) const;

  Graph graph_;
  int steps_, n_outputs_;
  Products products_;
  bool coded_ = false;
  std::vector<std::variant<Merge, LstmLayer<Real>, DenseLayer<Real>>> layers_;  ///< by operation
  std::vector<Tensor> tensors_;
  AlignedVector<Real> share_;  ///< [steps block, widest stride]: a second share of a bar
};

}  // namespace quintet::sequence
