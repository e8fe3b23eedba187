#include "surrogates/potential/training/torch/library/torch_steps.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

// A step, of rows R [centre, slot, 4] of some frames one after the other:
//
//   predict()        G = embedding nets of R_0;  T = 1/n_slots sum_slots R G;  D = T^T T[:, :M2];  E =
//   fitting nets of D
//                    dE/dR by a backward pass, whose own graph is kept;  F, V = -dE/dR dR/dd, summed by frame
//   differentiate()  Rdot = dR/dd ddot of displacements -gF and strains -gV
//                    the gradient of sum_frames ge E + sum_rows dE/dR Rdot by a backward pass through both
//
// Sums of forces gather by a transposed list rather than scatter, so that a GPU adds in one order always.
namespace quintet::potential {

namespace {

using at::Tensor;

Tensor activated(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::linear:
      return x;
    case Activation::tanh:
      return at::tanh(x);
    case Activation::relu:
      return at::relu(x);
    case Activation::relu6:
      return at::hardtanh(x, 0, 6);
    case Activation::softplus:
      return at::softplus(x, 1, 40);  // beyond 40 it is x, to the last bit
    case Activation::sigmoid:
      return at::sigmoid(x);
    case Activation::silu:
      return at::silu(x);
    case Activation::gelu:
      return at::gelu(x, "tanh");
  }
  throw std::logic_error("an activation without a kind");
}

/// A layer's weights: leaves of the graph, in the memory of all parameters.
struct TorchLayer {
  LayerShape shape;
  Tensor weight, bias, timestep;
  [[nodiscard]] Tensor operator()(const Tensor& x) const {
    Tensor y = activated(shape.activation, at::addmm(bias, x, weight));
    if (timestep.defined()) y = y * timestep;
    if (!shape.adds_input) return y;
    return y + (shape.n_out == shape.n_in ? x : x.repeat({1, shape.n_out / shape.n_in}));
  }
};
using TorchNetwork = std::vector<TorchLayer>;

Tensor run(const TorchNetwork& network, Tensor x) {
  for (const auto& layer : network) x = layer(x);
  return x;
}

struct TorchRows final : KeptRows {
  std::int64_t n_atoms = 0, n_centres = 0;
  std::vector<std::int64_t> first;
  Tensor row, slope, separation, centre, neighbour, seen_by;
};

/// One tensor of several, without a copy where there is one.
Tensor joined(const std::vector<Tensor>& parts) { return parts.size() == 1 ? parts.front() : at::cat(parts); }

template <class Real>
class TorchStepsOn final : public TorchSteps<Real> {
 public:
  TorchStepsOn(const NetworkShapes& shapes, c10::Device device, Real* values, Real* gradient)
      : shapes_(shapes),
        n_slots_(std::accumulate(shapes.sel.begin(), shapes.sel.end(), std::int64_t{0})),
        device_(device),
        real_(std::is_same_v<Real, float> ? at::kFloat : at::kDouble),
        values_(array(values)),
        gradient_(array(gradient)) {
    for (const auto& layers : shapes.embedding) embedding_.push_back(network_of(layers));
    for (const auto& layers : shapes.fitting) fitting_.push_back(network_of(layers));
  }

  void refresh(const Real* parameters) override {
    values_.copy_(here(parameters, {shapes_.n_parameters}, real_));
  }

  [[nodiscard]] std::shared_ptr<const KeptRows> keep(const FrameRows<Real>& rows) override {
    auto kept = std::make_shared<TorchRows>();
    kept->n_atoms = rows.n_atoms;
    kept->n_centres = rows.n_centres();
    kept->first.assign(rows.first.begin(), rows.first.end());
    const std::int64_t n = kept->n_centres;
    kept->row = there(rows.row.data(), {n, n_slots_, 4}, real_);
    kept->slope = there(rows.slope.data(), {n, n_slots_, 4, 3}, at::kDouble);
    kept->separation = there(rows.separation.data(), {n, n_slots_, 3}, at::kDouble);
    kept->centre = there(rows.centre.data(), {n}, at::kInt);
    kept->neighbour = there(rows.neighbour.data(), {n * n_slots_}, at::kInt);
    kept->seen_by = there(rows.seen_by.data(), {rows.n_atoms * std::int64_t{rows.n_seen_by}}, at::kInt);
    return kept;
  }

  void predict(std::span<const std::shared_ptr<const KeptRows>> frames, std::span<Prediction> predictions,
               bool is_differentiated) override {
    frames_.clear();
    for (const auto& frame : frames) frames_.push_back(static_cast<const TorchRows*>(frame.get()));
    kept_.assign(frames.begin(), frames.end());
    std::vector<Tensor> rows;
    for (const auto* frame : frames_) rows.push_back(frame->row);
    const Tensor row = joined(rows).detach().requires_grad_();
    energies_ = energies_of(row);
    const Tensor energy = at::stack(energies_).sum();
    slope_ = energy.requires_grad()
                 ? torch::autograd::grad({energy}, {row}, {}, is_differentiated, is_differentiated).front()
                 : Tensor();
    const Tensor slopes = slope_.defined() ? slope_.detach() : at::zeros_like(row).detach();
    std::vector<Tensor> numbers;
    std::int64_t at = 0;
    for (std::size_t f = 0; f < frames_.size(); ++f) {
      numbers.push_back(energies_[f].detach().view({1}));
      add_forces(*frames_[f], slopes.narrow(0, at, frames_[f]->n_centres), numbers);
      at += frames_[f]->n_centres;
    }
    give_back(at::cat(numbers).to(at::kCPU), predictions);
  }

  void differentiate(std::span<const Adjoint> adjoints) override {
    if (!slope_.defined()) return;
    const Tensor numbers = there_of(adjoints);
    std::vector<Tensor> tangents;
    Tensor sum = at::zeros({}, numbers.options());
    std::int64_t at = 0;
    for (std::size_t f = 0; f < frames_.size(); ++f) {
      const std::int64_t n = 3 * frames_[f]->n_atoms;
      sum = sum + numbers.select(0, at) * energies_[f];
      tangents.push_back(tangent(*frames_[f], numbers.narrow(0, at + 1, n).view({-1, 3}),
                                 numbers.narrow(0, at + 1 + n, 9).view({3, 3})));
      at += n + 10;
    }
    sum = sum + (slope_ * joined(tangents)).sum();
    const auto gradients = torch::autograd::grad({sum}, leaves_, {}, false, false, /*allow_unused=*/true);
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      if (gradients[i].defined()) gradients_[i].add_(gradients[i]);
    energies_.clear();
    slope_ = Tensor();
    frames_.clear();
    kept_.clear();
  }

  void collect(Real* gradient) override {
    const Tensor numbers = gradient_.to(at::kCPU);
    const Real* from = numbers.template data_ptr<Real>();
    for (std::int64_t i = 0; i < shapes_.n_parameters; ++i) gradient[i] += from[i];
    gradient_.zero_();
  }

 private:
  /// An array of all parameters on the device: the caller's, or one of zeros.
  [[nodiscard]] Tensor array(Real* place) const {
    const auto options = at::TensorOptions(device_).dtype(real_);
    return place ? at::from_blob(place, {shapes_.n_parameters}, options)
                 : at::zeros({shapes_.n_parameters}, options);
  }
  /// Numbers of the host under a tensor's name; and a copy of them on the device.
  template <class T>
  [[nodiscard]] static Tensor here(const T* numbers, at::IntArrayRef shape, at::ScalarType type) {
    return at::from_blob(const_cast<T*>(numbers), shape, type);
  }
  template <class T>
  [[nodiscard]] Tensor there(const T* numbers, at::IntArrayRef shape, at::ScalarType type) const {
    return here(numbers, shape, type).to(at::TensorOptions(device_), /*non_blocking=*/false, /*copy=*/true);
  }
  /// ge, gF and gV of all frames, one after the other.
  [[nodiscard]] Tensor there_of(std::span<const Adjoint> adjoints) const {
    std::vector<double> numbers;
    for (const auto& adjoint : adjoints) {
      numbers.push_back(static_cast<Real>(adjoint.energy));
      numbers.insert(numbers.end(), adjoint.force.begin(), adjoint.force.end());
      numbers.insert(numbers.end(), adjoint.virial.begin(), adjoint.virial.end());
    }
    return there(numbers.data(), {static_cast<std::int64_t>(numbers.size())}, at::kDouble);
  }

  Tensor leaf(std::int64_t first, at::IntArrayRef shape) {
    const std::int64_t n = c10::multiply_integers(shape);
    leaves_.push_back(values_.narrow(0, first, n).view(shape).detach().requires_grad_());
    gradients_.push_back(gradient_.narrow(0, first, n).view(shape));
    return leaves_.back();
  }
  [[nodiscard]] TorchNetwork network_of(const std::vector<LayerShape>& layers) {
    TorchNetwork network;
    for (const auto& shape : layers) {
      TorchLayer layer{
          shape, leaf(shape.weight, {shape.n_in, shape.n_out}), leaf(shape.bias, {shape.n_out}), {}};
      if (shape.timestep >= 0) layer.timestep = leaf(shape.timestep, {shape.n_out});
      network.push_back(std::move(layer));
    }
    return network;
  }

  /// Centres of a type of all frames, in the order of the frames.
  [[nodiscard]] Tensor of_type(const Tensor& all, int type) const {
    std::vector<Tensor> parts;
    std::int64_t at = 0;
    for (const auto* frame : frames_) {
      parts.push_back(all.narrow(0, at + frame->first[type], frame->first[type + 1] - frame->first[type]));
      at += frame->n_centres;
    }
    return joined(parts);
  }

  /// T [centre, 4, channel] of centres whose neighbours of type t are seen by the network network(t).
  template <class Choose>
  [[nodiscard]] Tensor embed(const Tensor& row, Choose&& network) const {
    Tensor t;
    std::int64_t at = 0;
    for (int type = 0; type < shapes_.n_types(); ++type) {
      const std::int64_t n = shapes_.sel[type];
      const Tensor block = row.narrow(1, at, n);
      const Tensor g = run(embedding_[network(type)], block.select(2, 0).reshape({-1, 1}));
      const Tensor part = at::bmm(block.transpose(1, 2), g.view({row.size(0), n, g.size(1)}));
      t = t.defined() ? t + part : part;
      at += n;
    }
    return t * (1.0 / static_cast<double>(n_slots_));
  }

  /// Energy of each frame's centres, a float64 number each.
  [[nodiscard]] std::vector<Tensor> energies_of(const Tensor& row) const {
    std::vector<Tensor> sums(frames_.size(), at::zeros({}, at::TensorOptions(device_).dtype(at::kDouble)));
    Tensor all;
    if (shapes_.type_one_side) all = embed(row, [](int type) { return type; });
    for (int centre = 0; centre < shapes_.n_types(); ++centre) {
      Tensor t;
      if (shapes_.type_one_side) {
        t = of_type(all, centre);
        if (t.size(0) == 0) continue;
      } else {
        const Tensor own = of_type(row, centre);
        if (own.size(0) == 0) continue;
        t = embed(own, [&](int type) { return type * shapes_.n_types() + centre; });
      }
      const Tensor d = at::bmm(t.transpose(1, 2), t.narrow(2, 0, shapes_.axis_neuron));
      const Tensor e = run(fitting_[centre], d.flatten(1)).to(at::kDouble);
      std::int64_t at = 0;
      for (std::size_t f = 0; f < frames_.size(); ++f) {
        const std::int64_t n = frames_[f]->first[centre + 1] - frames_[f]->first[centre];
        sums[f] = sums[f] + e.narrow(0, at, n).sum();
        at += n;
      }
    }
    return sums;
  }

  /// Forces and virial of a frame from dE/dR:
  ///     dE/dd_l = sum_a dE/dR_a dR_a/dd_l;  F_i = sum_own dE/dd - sum_seen_by dE/dd;  V_lk = -sum dE/dd_l
  ///     d_k.
  void add_forces(const TorchRows& frame, const Tensor& slope, std::vector<Tensor>& numbers) const {
    const Tensor along = (slope.to(at::kDouble).unsqueeze(3) * frame.slope).sum(2);
    Tensor force = at::zeros({frame.n_atoms, 3}, along.options());
    force.index_copy_(0, frame.centre.to(at::kLong), along.sum(1));
    const Tensor flat = along.view({frame.n_centres * n_slots_, 3});
    const Tensor padded = at::cat({flat, at::zeros({1, 3}, along.options())});
    const std::int64_t width = frame.seen_by.size(0) / std::max<std::int64_t>(1, frame.n_atoms);
    force.sub_(padded.index_select(0, frame.seen_by).view({frame.n_atoms, width, 3}).sum(1));
    const Tensor virial = at::matmul(flat.t(), frame.separation.view({frame.n_centres * n_slots_, 3})).neg();
    numbers.push_back(force.view({3 * frame.n_atoms}));
    numbers.push_back(virial.view({9}));
  }

  /// Rdot = dR/dd ddot,  ddot = gF_centre - gF_neighbour - gV d.
  [[nodiscard]] Tensor tangent(const TorchRows& frame, const Tensor& force, const Tensor& virial) const {
    const std::int64_t n = frame.n_centres;
    const Tensor d_dot = force.index_select(0, frame.centre).unsqueeze(1) -
                         force.index_select(0, frame.neighbour).view({n, n_slots_, 3}) -
                         at::matmul(frame.separation, virial.t());
    return (frame.slope * d_dot.unsqueeze(2)).sum(3).to(real_);
  }

  void give_back(const Tensor& numbers, std::span<Prediction> predictions) const {
    const double* from = numbers.template data_ptr<double>();
    for (std::size_t f = 0; f < frames_.size(); ++f) {
      const std::int64_t n = 3 * frames_[f]->n_atoms;
      predictions[f].energy = *from++;
      predictions[f].force.assign(from, from + n);
      std::copy_n(from + n, 9, predictions[f].virial.begin());
      from += n + 9;
    }
  }

  NetworkShapes shapes_;
  std::int64_t n_slots_;
  c10::Device device_;
  at::ScalarType real_;
  Tensor values_, gradient_;                ///< [n_parameters]
  std::vector<Tensor> leaves_, gradients_;  ///< [weight, bias or time step] their parts
  std::vector<TorchNetwork> embedding_, fitting_;
  // What predict() leaves for differentiate():
  std::vector<std::shared_ptr<const KeptRows>> kept_;
  std::vector<const TorchRows*> frames_;
  std::vector<Tensor> energies_;
  Tensor slope_;  ///< dE/dR [centre, slot, 4]; undefined without centres
};

}  // namespace

template <class Real>
std::unique_ptr<TorchSteps<Real>> make_torch_steps(const NetworkShapes& shapes, c10::Device device,
                                                   Real* values, Real* gradient) {
  return std::make_unique<TorchStepsOn<Real>>(shapes, device, values, gradient);
}

template std::unique_ptr<TorchSteps<float>> make_torch_steps<float>(const NetworkShapes&, c10::Device, float*,
                                                                    float*);
template std::unique_ptr<TorchSteps<double>> make_torch_steps<double>(const NetworkShapes&, c10::Device,
                                                                      double*, double*);

}  // namespace quintet::potential
