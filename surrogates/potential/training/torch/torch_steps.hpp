#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "physics/kernels/activation_kind.hpp"
#include "surrogates/potential/training/prediction.hpp"

namespace quintet::potential {

/// Input of the networks for a sharer's atoms of a frame, and its derivatives by displacements of atoms: all
/// constant during a training.
///
/// A centre has n_slots = sum(sel) rows, sel[t] for neighbours of type t: those that are there, then empty
/// ones (R = -mean/deviation, a constant), then those that exclusions drop (R = 0).
template <class Real>
struct FrameRows {
  int n_atoms = 0;                 ///< of the frame
  int n_slots = 0;                 ///< rows of a centre
  std::vector<int> centre;         ///< [n_centres] atoms, ordered by type
  std::vector<int> first;          ///< [n_types + 1] first centre of each type
  std::vector<Real> row;           ///< [n_centres, n_slots, 4] R
  std::vector<double> slope;       ///< [n_centres, n_slots, 4, 3] dR/dd (1/angstrom); 0 without a neighbour
  std::vector<double> separation;  ///< [n_centres, n_slots, 3] d = x_neighbour - x_centre (angstrom)
  std::vector<int> neighbour;      ///< [n_centres, n_slots] atom; 0 without a neighbour
  int n_seen_by = 0;               ///< most rows that have one atom as neighbour
  std::vector<int> seen_by;        ///< [n_atoms, n_seen_by] these rows of each atom; then n_centres n_slots
  [[nodiscard]] int n_centres() const { return centre.size(); }
};

/// A dense layer y = phi(x W + b) idt (+ x, repeated until it fills the outputs), and where its numbers lie
/// among all parameters.
struct LayerShape {
  std::int64_t n_in = 0, n_out = 0;
  Activation activation = Activation::tanh;
  bool adds_input = false;
  std::int64_t weight = 0, bias = 0;  ///< first of [n_in, n_out] and [n_out]
  std::int64_t timestep = -1;         ///< first of [n_out]; below 0: idt is 1
};

/// A model's networks without their weights.
struct NetworkShapes {
  bool type_one_side = true;
  std::vector<int> sel;
  int axis_neuron = 0;
  std::vector<std::vector<LayerShape>>
      embedding;                                 ///< [n_types] one-sided, else [neighbour * n_types + centre]
  std::vector<std::vector<LayerShape>> fitting;  ///< [type of the centre]
  std::int64_t n_parameters = 0;
  [[nodiscard]] int n_types() const { return sel.size(); }
};

/// Frames of a batch pass through the networks together up to so many atoms: enough for a GPU, and a bound of
/// what a step keeps for its backward passes.
inline constexpr int most_atoms_at_once = 2048;
/// Greatest number of shapes of batches of up to most_atoms_at_once recorded at a time: each keeps a batch's
/// rows.
inline constexpr int most_recorded_shapes = 8;

/// Rows of a frame where LibTorch computes.
class KeptRows {
 public:
  virtual ~KeptRows() = default;
};

/// Predictions and gradients of a training by LibTorch's operators and automatic differentiation: of several
/// frames' rows together, whose energies need no biases here.
template <class Real>
class TorchSteps {
 public:
  virtual ~TorchSteps() = default;
  /// Take the parameters [n_parameters] of now, of a training that has them on the host.
  virtual void refresh(const Real* parameters) = 0;
  [[nodiscard]] virtual std::shared_ptr<const KeptRows> keep(const FrameRows<Real>& rows) = 0;
  virtual void predict(std::span<const std::shared_ptr<const KeptRows>> frames,
                       std::span<Prediction> predictions, bool is_differentiated) = 0;
  /// Gather the gradient of sum_frames ge E + Edot along displacements -gF and strains -gV; after predict()
  /// of the same frames, once.
  virtual void differentiate(std::span<const Adjoint> adjoints) = 0;
  /// Add what was gathered to the gradient [n_parameters] of a training that has it on the host, and start
  /// anew.
  virtual void collect(Real* gradient) = 0;
  /// Why steps take longer than they should, told once; else empty.
  [[nodiscard]] virtual std::string take_notice() = 0;
};

}  // namespace quintet::potential
