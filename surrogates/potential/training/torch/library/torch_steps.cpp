#include "surrogates/potential/training/torch/library/torch_steps.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/torch_recording.hpp"
#include "surrogates/potential/training/torch/library/torch_batch.hpp"
#include "surrogates/potential/training/torch/library/torch_networks.hpp"

// A step, of rows R [centre, slot, 4] of some frames as one, centres ordered by type (TorchBatch):
//
//   predict()        G = embedding nets of R_0;  T = 1/n_slots sum_slots R G;  D = T^T T[:, :M2];  E =
//   fitting nets of D
//                    dE/dR by a backward pass, whose own graph is kept;  F, V = -dE/dR dR/dd, summed by frame
//   differentiate()  Rdot = dR/dd ddot of displacements -gF and strains -gV
//                    the gradient of sum_frames ge E + sum_rows dE/dR Rdot by a backward pass through both
//
// Sums of forces, energies and virials gather by lists rather than scatter, so that a GPU adds in one order
// always.
//
// A step is hundreds of small operators, which take longer to be asked for than to be computed. When a shape
// of batches comes again both halves are recorded, on tensors of their own, and replayed from then on.
namespace quintet::potential {

namespace {

using at::Tensor;

/// What predict() leaves.
struct Passed {
  Tensor numbers;              ///< float64: [frame, 10] energy and virial, then [atom, 3] forces
  std::vector<Tensor> energy;  ///< [type] [centre, 1], of types that are there
  std::vector<Tensor>
      slope;  ///< dE/d of each tensor that networks(...) take of TorchBatch::row, see leaves_of()
  /// Let the graph go, and what it keeps.
  void forget_graph() {
    energy.clear();
    slope.clear();
  }
};

/// A shape's steps. Its batch and adjoints are where recordings read.
struct StepsOfShape {
  TorchBatch batch;
  Tensor adjoints;
  Passed passed;
  std::unique_ptr<TorchRecording> predict, differentiate;  ///< none where the shape came once
};

template <class Real>
class TorchStepsOn final : public TorchSteps<Real> {
 public:
  TorchStepsOn(const NetworkShapes& shapes, c10::Device device, Real* values, Real* gradient)
      : shapes_(shapes),
        n_slots_(std::accumulate(shapes.sel.begin(), shapes.sel.end(), std::int64_t{0})),
        device_(device),
        real_(std::is_same_v<Real, float> ? at::kFloat : at::kDouble),
        values_(array(values)),
        gradient_(array(gradient)),
        one_(at::ones({1, 1}, values_.options())),
        recorder_(device) {
    for (const auto& layers : shapes.embedding) embedding_.push_back(network_of(layers));
    for (const auto& layers : shapes.fitting) fitting_.push_back(network_of(layers));
  }

  void refresh(const Real* parameters) override {
    values_.copy_(here(parameters, {shapes_.n_parameters}, real_));
  }

  [[nodiscard]] std::shared_ptr<const KeptRows> keep(const FrameRows<Real>& rows) override {
    return rows_on(device_, rows, shapes_);
  }

  void predict(std::span<const std::shared_ptr<const KeptRows>> frames, std::span<Prediction> predictions,
               bool is_differentiated) override {
    std::vector<std::shared_ptr<const TorchRows>> rows;
    for (const auto& frame : frames) rows.push_back(std::static_pointer_cast<const TorchRows>(frame));
    now_ = nullptr;
    if (is_differentiated) now_ = recorded(rows);
    if (now_) {
      now_->predict->replay();
    } else {
      eager_.batch = batch_of(rows, shapes_);
      eager_.passed = predicted(eager_.batch, is_differentiated);
      now_ = &eager_;
    }
    give_back(now_->passed.numbers.to(at::kCPU), rows, predictions);
    if (!is_differentiated) eager_ = {};
  }

  void differentiate(std::span<const Adjoint> adjoints) override {
    const auto numbers = numbers_of(adjoints);
    const Tensor on_host = here(numbers.data(), {std::ssize(numbers)}, at::kDouble);
    if (now_->differentiate) {
      now_->adjoints.copy_(on_host);
      now_->differentiate->replay();
    } else {
      add_gradient(now_->batch, now_->passed, on_host.to(device_, at::kDouble, false, /*copy=*/true));
    }
    now_->passed.forget_graph();
    eager_.batch = {};
  }

  void collect(Real* gradient) override {
    const Tensor numbers = gradient_.to(at::kCPU);
    const Real* from = numbers.template data_ptr<Real>();
    for (std::int64_t i = 0; i < shapes_.n_parameters; ++i) gradient[i] += from[i];
    gradient_.zero_();
  }

  [[nodiscard]] std::string take_notice() override { return std::exchange(notice_, {}); }

 private:
  /// An array of all parameters on the device: the caller's, or one of zeros.
  [[nodiscard]] Tensor array(Real* place) const {
    const auto options = at::TensorOptions(device_).dtype(real_);
    return place ? at::from_blob(place, {shapes_.n_parameters}, options)
                 : at::zeros({shapes_.n_parameters}, options);
  }
  /// Numbers of the host under a tensor's name.
  template <class T>
  [[nodiscard]] static Tensor here(const T* numbers, at::IntArrayRef shape, at::ScalarType type) {
    return at::from_blob(const_cast<T*>(numbers), shape, type);
  }
  /// ge [frame], gF [atom, 3] and gV [frame, 3, 3], one after the other.
  [[nodiscard]] static std::vector<double> numbers_of(std::span<const Adjoint> adjoints) {
    std::vector<double> numbers;
    for (const auto& adjoint : adjoints) numbers.push_back(adjoint.energy);
    for (const auto& adjoint : adjoints)
      numbers.insert(numbers.end(), adjoint.force.begin(), adjoint.force.end());
    for (const auto& adjoint : adjoints)
      numbers.insert(numbers.end(), adjoint.virial.begin(), adjoint.virial.end());
    return numbers;
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

  /// Steps of the frames' shape with the frames in them, recorded where the shape came before; else none.
  [[nodiscard]] StepsOfShape* recorded(FramesOfBatch frames) {
    const BatchShape shape = shape_of(frames);
    if (!records_ || shape.n_centres() == 0 || shape.n_centres() > most_atoms_at_once) return nullptr;
    const auto found = std::find_if(steps_.begin(), steps_.end(),
                                    [&](const auto& steps) { return steps->batch.shape == shape; });
    if (found == steps_.end()) {
      if (steps_.size() == most_recorded_shapes) steps_.pop_back();
      steps_.insert(steps_.begin(), std::make_unique<StepsOfShape>())->get()->batch.shape = shape;
      return nullptr;
    }
    std::rotate(steps_.begin(), found, found + 1);  // the latest first
    StepsOfShape& steps = *steps_.front();
    if (steps.predict) {
      refill(steps.batch, frames, shapes_);
      return &steps;
    }
    return record(steps, frames) ? &steps : nullptr;
  }
  [[nodiscard]] bool record(StepsOfShape& steps, FramesOfBatch frames) {
    try {
      steps.batch = copy_of(batch_of(frames, shapes_));
      const BatchShape& shape = steps.batch.shape;
      steps.adjoints =
          at::zeros({10 * shape.n_frames + 3 * shape.n_atoms}, at::TensorOptions(device_).dtype(at::kDouble));
      auto predict = recorder_.record([this, &steps] { steps.passed = predicted(steps.batch, true); });
      steps.differentiate =
          recorder_.record([this, &steps] { add_gradient(steps.batch, steps.passed, steps.adjoints); });
      steps.passed.forget_graph();
      steps.predict = std::move(predict);
      return true;
    } catch (const c10::Error& error) {
      notice_ = error.what_without_backtrace();
      records_ = false;
      steps_.clear();
      recorder_.give_back_memory();
      return false;
    }
  }

  /// Networks that see the same neighbours: those of all centres, or of the centres of one type.
  struct Sight {
    std::int64_t n_centres = 0;
    int centre = -1;                ///< their type; below 0: all
    std::vector<Tensor> row, zero;  ///< [type of neighbours] R [centre, slot, 4], and R_0 [centre * slot, 1]
  };
  [[nodiscard]] std::vector<Sight> sights_of(const TorchBatch& batch) const {
    std::vector<Sight> sights;
    const int n_types = shapes_.n_types();
    for (int s = 0; s < (shapes_.type_one_side ? 1 : n_types); ++s) {
      const auto& first = batch.shape.first;
      Sight sight{shapes_.type_one_side ? batch.shape.n_centres() : first[s + 1] - first[s],
                  shapes_.type_one_side ? -1 : s,
                  {},
                  {}};
      if (sight.n_centres == 0) continue;
      for (int type = 0; type < n_types; ++type) {
        const Tensor row = batch.row[s * n_types + type].detach();
        sight.zero.push_back(row.select(2, 0).reshape({-1, 1}).requires_grad_());
        sight.row.push_back(row.requires_grad_());
      }
      sights.push_back(std::move(sight));
    }
    return sights;
  }

  /// T [centre, 4, channel].
  [[nodiscard]] Tensor embed(const Sight& sight) const {
    Tensor t;
    for (int type = 0; type < shapes_.n_types(); ++type) {
      const int network = sight.centre < 0 ? type : type * shapes_.n_types() + sight.centre;
      const Tensor g =
          run(embedding_[network], sight.zero[type]).view({sight.n_centres, shapes_.sel[type], -1});
      const Tensor row = sight.row[type].transpose(1, 2);
      t = t.defined() ? at::baddbmm(t, row, g) : at::bmm(row, g);
    }
    return t * (1.0 / n_slots_);
  }

  /// Energies of the centres of each type that is there.
  [[nodiscard]] std::vector<Tensor> energies_of(const TorchBatch& batch,
                                                const std::vector<Sight>& sights) const {
    std::vector<Tensor> t, energies;
    std::vector<std::int64_t> counts;
    std::vector<int> types;
    for (int type = 0; type < shapes_.n_types(); ++type)
      if (const std::int64_t n = batch.shape.first[type + 1] - batch.shape.first[type]; n > 0) {
        counts.push_back(n);
        types.push_back(type);
      }
    for (const Sight& sight : sights) t.push_back(embed(sight));
    if (shapes_.type_one_side && types.size() > 1) t = t.front().split_with_sizes(counts);
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Tensor d = at::bmm(t[i].transpose(1, 2), t[i].narrow(2, 0, shapes_.axis_neuron));
      energies.push_back(run(fitting_[types[i]], d.flatten(1)));
    }
    return energies;
  }

  [[nodiscard]] Passed predicted(const TorchBatch& batch, bool is_differentiated) const {
    Passed passed;
    const auto sights = sights_of(batch);
    if (sights.empty()) {  // a sharer without atoms
      passed.numbers = at::zeros({10 * batch.shape.n_frames + 3 * batch.shape.n_atoms},
                                 at::TensorOptions(device_).dtype(at::kDouble));
      return passed;
    }
    passed.energy = energies_of(batch, sights);
    std::vector<Tensor> inputs, ones;
    for (const Sight& sight : sights) {
      inputs.insert(inputs.end(), sight.row.begin(), sight.row.end());
      inputs.insert(inputs.end(), sight.zero.begin(), sight.zero.end());
    }
    for (const Tensor& energy : passed.energy) ones.push_back(one_.expand_as(energy));
    passed.slope = torch::autograd::grad(passed.energy, inputs, ones, is_differentiated, is_differentiated);
    passed.numbers = numbers_of(batch, sights, passed);
    if (!is_differentiated) passed.forget_graph();
    return passed;
  }

  /// dE/dR [centre, slot, 4] of what the networks' inputs have.
  [[nodiscard]] Tensor slope_of(const std::vector<Sight>& sights, const Passed& passed) const {
    std::vector<Tensor> of_sights;
    auto next = passed.slope.begin();
    for (const Sight& sight : sights) {
      std::vector<Tensor> zero;
      const Tensor slope = at::cat(std::vector<Tensor>(next, next + shapes_.n_types()), 1);
      next += shapes_.n_types();
      for (int type = 0; type < shapes_.n_types(); ++type)
        zero.push_back((next++)->view({sight.n_centres, shapes_.sel[type]}));
      slope.select(2, 0).add_(at::cat(zero, 1));
      of_sights.push_back(slope);
    }
    return of_sights.size() == 1 ? of_sights.front() : at::cat(of_sights);
  }

  /// Energies, virials and forces of all frames:
  ///     dE/dd_l = sum_a dE/dR_a dR_a/dd_l;  F_i = sum_own dE/dd - sum_seen_by dE/dd;  V_lk = -sum dE/dd_l
  ///     d_k.
  [[nodiscard]] Tensor numbers_of(const TorchBatch& batch, const std::vector<Sight>& sights,
                                  const Passed& passed) const {
    const c10::NoGradGuard no_graph;
    const auto& shape = batch.shape;
    const std::int64_t n = shape.n_centres();
    const Tensor along = (slope_of(sights, passed).to(at::kDouble).unsqueeze(3) * batch.slope).sum(2);
    const Tensor virial = at::bmm(along.transpose(1, 2), batch.separation).neg().view({n, 9});
    const Tensor energy = at::cat(passed.energy).to(at::kDouble);
    const Tensor of_centres = with_zero(at::cat({energy, virial}, 1));
    const Tensor of_frames =
        of_centres.index_select(0, batch.of_frame()).view({shape.n_frames, shape.n_of_frame, 10}).sum(1);

    Tensor force = at::zeros({shape.n_atoms, 3}, along.options());
    force.index_copy_(0, batch.centre(), along.sum(1));
    const Tensor by_frame = shape.n_frames == 1 ? along : along.index_select(0, batch.by_frame());
    const Tensor seen_by =
        (batch.seen_by + batch.first_row().unsqueeze(1)).clamp_max(n * n_slots_).view({-1});
    force.sub_(with_zero(by_frame.view({n * n_slots_, 3}))
                   .index_select(0, seen_by)
                   .view({shape.n_atoms, shape.n_seen_by, 3})
                   .sum(1));
    return at::cat({of_frames.view({-1}), force.view({-1})});
  }
  /// And a row of zeros, where lists end.
  [[nodiscard]] static Tensor with_zero(const Tensor& rows) {
    return at::constant_pad_nd(rows, {0, 0, 0, 1});
  }

  /// Rdot = dR/dd ddot,  ddot = gF_centre - gF_neighbour - gV d.
  [[nodiscard]] Tensor tangent(const TorchBatch& batch, const Tensor& force, const Tensor& virial) const {
    const Tensor neighbour = (batch.neighbour + batch.first_atom().unsqueeze(1)).view({-1});
    const Tensor moved = force.index_select(0, batch.centre()).unsqueeze(1) -
                         force.index_select(0, neighbour).view({batch.shape.n_centres(), n_slots_, 3});
    const Tensor strain = virial.index_select(0, batch.frame()).transpose(1, 2);
    const Tensor d_dot = at::baddbmm(moved, batch.separation, strain, 1, -1);
    return (batch.slope * d_dot.unsqueeze(2)).sum(3).to(real_);
  }

  /// Add to the gradient that of sum_frames ge E + sum_rows dE/dR Rdot: both sums are products with what the
  /// backward pass begins with.
  void add_gradient(const TorchBatch& batch, const Passed& passed, const Tensor& adjoints) const {
    if (passed.energy.empty()) return;
    const auto& shape = batch.shape;
    std::vector<Tensor> outputs = passed.energy, weights;
    const Tensor energy =
        adjoints.narrow(0, 0, shape.n_frames).index_select(0, batch.frame()).to(real_).unsqueeze(1);
    for (int type = 0; type < shapes_.n_types(); ++type)
      if (const std::int64_t first = shape.first[type], n = shape.first[type + 1] - first; n > 0)
        weights.push_back(energy.narrow(0, first, n));

    const Tensor r_dot = tangent(batch, adjoints.narrow(0, shape.n_frames, 3 * shape.n_atoms).view({-1, 3}),
                                 adjoints.narrow(0, shape.n_frames + 3 * shape.n_atoms, 9 * shape.n_frames)
                                     .view({shape.n_frames, 3, 3}));
    outputs.insert(outputs.end(), passed.slope.begin(), passed.slope.end());
    for (int s = 0; s < (shapes_.type_one_side ? 1 : shapes_.n_types()); ++s) {
      const std::int64_t first = shapes_.type_one_side ? 0 : shape.first[s],
                         n = (shapes_.type_one_side ? shape.n_centres() : shape.first[s + 1]) - first;
      if (n == 0) continue;
      std::vector<Tensor> zero;
      std::int64_t slot = 0;
      for (const int sel : shapes_.sel) {
        weights.push_back(r_dot.narrow(0, first, n).narrow(1, slot, sel));
        zero.push_back(weights.back().select(2, 0).reshape({-1, 1}));
        slot += sel;
      }
      weights.insert(weights.end(), zero.begin(), zero.end());
    }
    const auto found = torch::autograd::grad(outputs, leaves_, weights, false, false, /*allow_unused=*/true);
    std::vector<Tensor> sums, terms;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      if (found[i].defined()) {
        sums.push_back(gradients_[i]);
        terms.push_back(found[i]);
      }
    at::_foreach_add_(sums, terms);
  }

  static void give_back(const Tensor& numbers, FramesOfBatch frames, std::span<Prediction> predictions) {
    const double *of_frame = numbers.template data_ptr<double>(), *force = of_frame + 10 * frames.size();
    for (std::size_t f = 0; f < frames.size(); ++f, of_frame += 10) {
      predictions[f].energy = of_frame[0];
      std::copy_n(of_frame + 1, 9, predictions[f].virial.begin());
      predictions[f].force.assign(force, force + 3 * frames[f]->n_atoms);
      force += 3 * frames[f]->n_atoms;
    }
  }

  NetworkShapes shapes_;
  std::int64_t n_slots_;
  c10::Device device_;
  at::ScalarType real_;
  Tensor values_, gradient_;                ///< [n_parameters]
  std::vector<Tensor> leaves_, gradients_;  ///< [weight, bias or time step] their parts
  std::vector<TorchNetwork> embedding_, fitting_;
  Tensor one_;
  TorchRecorder recorder_;
  bool records_ = true;
  std::string notice_;
  std::vector<std::unique_ptr<StepsOfShape>> steps_;  ///< of the latest shapes
  StepsOfShape eager_;                                ///< of a shape that is not recorded
  StepsOfShape* now_ = nullptr;                       ///< whose differentiate() is next
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
