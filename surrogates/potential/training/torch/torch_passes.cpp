#include "surrogates/potential/training/torch/torch_passes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/training/torch/frame_rows.hpp"

#ifdef LATE_QUINTET_POTENTIAL_TORCH_LIBRARY
#include "io/runtime/late_library.hpp"
#include "io/runtime/library_threads.hpp"
#include "surrogates/potential/training/torch/library/torch_library.hpp"
#else
#include <fmt/format.h>

#include "io/runtime/with_torch.hpp"
#endif

namespace quintet::potential {

namespace {

#ifdef LATE_QUINTET_POTENTIAL_TORCH_LIBRARY

template <class Function>
Function* of_library(const char* name) {
  return reinterpret_cast<Function*>(late_function(LATE_QUINTET_POTENTIAL_TORCH_LIBRARY, name));
}

template <class Real>
std::unique_ptr<TorchSteps<Real>> make_steps(const NetworkShapes& shapes, const DeviceSession& session,
                                             Real* values, Real* gradient) {
  constexpr bool is_float = std::is_same_v<Real, float>;
  auto* const make =
      of_library<TorchSteps<Real>*(const NetworkShapes&, const DeviceSession&, Real*, Real*, int)>(
          is_float ? "quintet_torch_steps_float" : "quintet_torch_steps_double");
  return std::unique_ptr<TorchSteps<Real>>(make(shapes, session, values, gradient, library_threads()));
}

#else

template <class Real>
std::unique_ptr<TorchSteps<Real>> make_steps(const NetworkShapes& /*shapes*/,
                                             const DeviceSession& /*session*/, Real* /*values*/,
                                             Real* /*gradient*/) {
  throw InputError(fmt::format(
      "device: trainings run on a device by LibTorch; expected cpu, or a build with {}", with_torch));
}

#endif

template <class Real>
class TorchPasses final : public Passes<Real> {
 public:
  TorchPasses(const Model& start, const ParameterLayout& places, SelRule rule, const TrainingDevice& device,
              Real* values, Real* gradient)
      : session_(device.session),
        budget_(device.kept_bytes),
        start_(start),
        environment_(start, rule),
        is_resident_(values != nullptr),
        steps_(make_steps<Real>(shapes_of(start, places), session_, values, gradient)) {}

  void cover(double /*closest*/) override {}  // networks are evaluated wherever neighbours are
  void refresh(std::span<const TrainingFrame* const> /*frames*/, const Real* parameters,
               bool changed) override {
    if (changed && !is_resident_) steps_->refresh(parameters);
  }

  [[nodiscard]] std::size_t frames_at_once(std::span<const TrainingFrame* const> frames) const override {
    std::size_t n = 0;
    for (int atoms = 0; n < frames.size(); ++n)
      if (atoms += frames[n]->n_atoms; atoms > most_atoms_at_once) break;
    return std::max<std::size_t>(n, 1);
  }

  void predict(std::span<const TrainingFrame* const> frames, Sharer sharer, std::span<Prediction> predictions,
               bool is_differentiated) override {
    std::vector<std::shared_ptr<const KeptRows>> rows;
    std::vector<double> energies;
    for (const TrainingFrame* frame : frames) {
      const Frame kept = rows_of(*frame, sharer);
      rows.push_back(kept.rows);
      energies.push_back(kept.energy);
      overflowing_ += kept.overflowing;
    }
    steps_->predict(rows, predictions, is_differentiated);
    if (const std::string notice = steps_->take_notice(); !notice.empty())
      log::warning("steps of shapes that come again are not recorded, which takes a training longer: {}",
                   notice);
    for (std::size_t i = 0; i < frames.size(); ++i) predictions[i].energy += energies[i];
  }
  void differentiate(std::span<const TrainingFrame* const> /*frames*/, std::span<const Adjoint> adjoints,
                     Real* /*gradient*/) override {
    steps_->differentiate(adjoints);
  }
  void collect(Real* gradient) override {
    if (!is_resident_) steps_->collect(gradient);
  }
  [[nodiscard]] int take_overflowing() override { return std::exchange(overflowing_, 0); }
  void save(hdf5::Group& /*group*/) const override {}
  void load(hdf5::Group& /*group*/, const Model& /*now*/) override {}

 private:
  /// A sharer's part of a frame.
  struct Frame {
    std::weak_ptr<const int> identity;
    std::shared_ptr<const KeptRows> rows;
    double energy = 0;  ///< of biases (eV)
    int overflowing = 0;
    double bytes = 0;
  };

  /// Made once, and kept as long as the frame lives and there is room.
  [[nodiscard]] Frame rows_of(const TrainingFrame& frame, Sharer sharer) {
    const std::pair key(frame.identity.get(), sharer.size);
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
    const AtomShare share = share_of(frame, start_, sharer);
    scratch_.overflowing = 0;
    const auto rows = make_rows<Real>(frame, share, start_, environment_, scratch_);
    const Frame made{frame.identity, steps_->keep(rows), share.energy, scratch_.overflowing,
                     bytes_of_centre<Real>(start_) * rows.n_centres()};
    if (held_ + made.bytes > budget_) forget_the_dead();
    if (held_ + made.bytes <= budget_) {
      held_ += made.bytes;
      kept_.emplace(key, made);
    }
    return made;
  }
  void forget_the_dead() {
    std::erase_if(kept_, [&](const auto& entry) {
      const bool dead = entry.second.identity.expired();
      if (dead) held_ -= entry.second.bytes;
      return dead;
    });
  }

  DeviceSession session_;  ///< first: it outlives what lies on its device
  double budget_, held_ = 0;
  Model start_;
  Environment environment_;
  Environment::Scratch scratch_;
  bool is_resident_;
  std::unique_ptr<TorchSteps<Real>> steps_;
  std::map<std::pair<const int*, int>, Frame> kept_;
  int overflowing_ = 0;
};

std::vector<LayerShape> shapes_of(const Network& network, const std::vector<LayerPlace>& places) {
  std::vector<LayerShape> shapes;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const auto& layer = network.layers[l];
    const auto& place = places[l];
    shapes.push_back({layer.n_in, layer.n_out, layer.activation, layer.skip != DenseLayer::Skip::none,
                      static_cast<std::int64_t>(place.weight), static_cast<std::int64_t>(place.bias),
                      place.has_timestep ? static_cast<std::int64_t>(place.timestep) : -1});
  }
  return shapes;
}

double sum_of_widths(const Network& network) {
  double sum = 0;
  for (const auto& layer : network.layers) sum += layer.n_out;
  return sum;
}

double atoms_of_step(int n_frames, std::size_t atoms_a_frame) {
  const double frame = atoms_a_frame;
  return std::min(n_frames * frame, std::max(frame, double{most_atoms_at_once}));
}

/// Bytes of a step's arrays, which lie apart from rows and parameters.
double bytes_of_arrays(const Model& model, double atoms) {
  double embedding = 0, fitting = 0;
  for (const auto& network : model.embedding) embedding = std::max(embedding, sum_of_widths(network));
  for (const auto& network : model.fitting) fitting = std::max(fitting, sum_of_widths(network));
  const double descriptor = double(model.n_channels()) * (4 + model.axis_neuron);
  // Arrays that live at the same time, of each output of a layer; measured (tests/verification/potential).
  constexpr double arrays = 7;
  return (model.single_precision ? sizeof(float) : sizeof(double)) * arrays * atoms *
         (model.n_slots() * embedding + fitting + descriptor);
}

}  // namespace

NetworkShapes shapes_of(const Model& model, const ParameterLayout& places) {
  NetworkShapes shapes;
  shapes.type_one_side = model.type_one_side;
  shapes.sel = model.sel;
  shapes.axis_neuron = model.axis_neuron;
  for (std::size_t i = 0; i < model.embedding.size(); ++i)
    shapes.embedding.push_back(shapes_of(model.embedding[i], places.embedding[i]));
  for (std::size_t i = 0; i < model.fitting.size(); ++i)
    shapes.fitting.push_back(shapes_of(model.fitting[i], places.fitting[i]));
  shapes.n_parameters = places.size;
  return shapes;
}

double bytes_of_torch_step(const Model& model, int n_frames, std::size_t atoms_a_frame, bool is_resident) {
  const double number = model.single_precision ? sizeof(float) : sizeof(double);
  const double atoms = atoms_of_step(n_frames, atoms_a_frame);
  // What a backward pass forms before it is added up; values and the gradient.
  const double of_parameters = (is_resident ? 1 : 3) * number * double(ParameterLayout(model).size);
  return of_parameters + bytes_of_kept_frame(model, atoms) + bytes_of_arrays(model, atoms);
}

double bytes_of_recordings(const Model& model, int n_frames, std::size_t atoms_a_frame, int n_sharers,
                           Device device) {
  const double atoms = std::ceil(atoms_of_step(n_frames, atoms_a_frame) / n_sharers);
  if (atoms > most_atoms_at_once) return 0;
  return most_recorded_shapes * bytes_of_kept_frame(model, atoms) +
         (device == Device::gpu ? bytes_of_arrays(model, atoms) : 0);
}

double bytes_of_kept_frame(const Model& model, std::size_t atoms) {
  return atoms * (model.single_precision ? bytes_of_centre<float>(model) : bytes_of_centre<double>(model));
}

template <class Real>
std::unique_ptr<Passes<Real>> make_torch_passes(const Model& start, const ParameterLayout& places,
                                                SelRule rule, const TrainingDevice& device, Real* values,
                                                Real* gradient) {
  return std::make_unique<TorchPasses<Real>>(start, places, rule, device, values, gradient);
}

#ifdef LATE_QUINTET_POTENTIAL_TORCH_LIBRARY

Device device_for_training(Device wanted) {
  // What needs no GPU does not ask, and so does not load, LibTorch.
  const bool asks = wanted == Device::gpu || wanted == Device::automatic;
  return device_with_torch(wanted, asks && of_library<bool()>("quintet_potential_torch_has_gpus")());
}

#else

Device device_for_training(Device wanted) {
  QUINTET_CHECK(wanted == Device::cpu || wanted == Device::automatic,
                "device: trainings run on a device by LibTorch, without which this program was built; "
                "expected cpu, or a build with {}",
                with_torch);
  return Device::cpu;
}

#endif

template std::unique_ptr<Passes<float>> make_torch_passes(const Model&, const ParameterLayout&, SelRule,
                                                          const TrainingDevice&, float*, float*);
template std::unique_ptr<Passes<double>> make_torch_passes(const Model&, const ParameterLayout&, SelRule,
                                                           const TrainingDevice&, double*, double*);

}  // namespace quintet::potential
