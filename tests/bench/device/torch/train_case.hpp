#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/potential/training/torch/torch_steps.hpp"
#include "tests/bench/device/archive.hpp"

/// What device_train starts from, and what our kernels find for it: one binary file, since that program knows
/// LibTorch alone.
namespace train_case {

using namespace quintet::potential;

template <class Real>
struct Step {
  std::vector<Real> parameters;  ///< [n_parameters]
  FrameRows<Real> rows;
  Prediction prediction;  ///< of the networks, without biases
  Adjoint adjoint;        ///< derivatives of some loss
  std::vector<Real> gradient;
};

struct Case {
  NetworkShapes shapes;
  Step<double> in_double;
  Step<float> in_single;
};

template <class A, class Real>
void visit(A& archive, Step<Real>& s) {
  auto& r = s.rows;
  archive.all(s.parameters, r.n_atoms, r.n_slots, r.centre, r.first, r.row, r.slope, r.separation,
              r.neighbour, r.n_seen_by, r.seen_by);
  archive.all(s.prediction.energy, s.prediction.force, s.prediction.virial);
  archive.all(s.adjoint.energy, s.adjoint.force, s.adjoint.virial, s.gradient);
}

template <class A>
void visit(A& archive, Case& c) {
  archive.all(c.shapes.type_one_side, c.shapes.sel, c.shapes.axis_neuron, c.shapes.n_parameters,
              c.shapes.embedding, c.shapes.fitting, c.in_double, c.in_single);
}

}  // namespace train_case
