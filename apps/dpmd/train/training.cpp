#include "apps/dpmd/train/training.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "apps/application/life/memory.hpp"
#include "apps/application/training/device_arrays.hpp"
#include "apps/dpmd/train/training_state.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/potential/model/parameters.hpp"
#include "surrogates/potential/training/torch/torch_passes.hpp"

namespace quintet::dpmd {

namespace {

using potential::Deviations;
using potential::Sampler;
using potential::Sharing;

constexpr std::uint64_t validation_stream = 0x76616c6964;  ///< apart from the training's draws

std::optional<Sampler> validation_sampler(const TrainOptions& options, const TrainingData& data) {
  if (data.validation.empty()) return std::nullopt;
  const BatchSize size = parse_batch_size(options.data.validation->batch_size);
  return Sampler(data.validation, size.frames, size.atoms, {},
                 static_cast<std::uint64_t>(options.seed) ^ validation_stream);
}

std::size_t frame_budget(const TrainOptions& options) {
  return std::min(options.data.frame_memory * 1e9, 1e18);
}

}  // namespace

Device device_of(const TrainOptions& options) {
  const bool has_kernels_alone = options.model.descriptor.kind != potential::DescriptorKind::se_e2_a;
  const bool is_free = options.device == Device::automatic;
  return potential::device_for_training(has_kernels_alone && is_free ? Device::cpu : options.device);
}

namespace {

/// Weights alone can be more than there is: what the networks of one type take at least, a copy to start from
/// and the arrays of a training (on a GPU values on their way), is looked at before they are drawn;
/// stage_in_force() counts the rest.
void require_memory_of_one_type(const Comm& comm, const TrainOptions& options, const DeviceSession& device) {
  const auto& descriptor = options.model.descriptor;
  double weights = 0;
  const auto add = [&](double n_in, const std::vector<std::int64_t>& neurons) {
    for (const std::int64_t n : neurons) {
      weights += n_in * double(n);
      n_in = double(n);
    }
  };
  add(1, descriptor.neurons);
  add((has_axis(descriptor.kind) ? double(descriptor.axis_neurons) : 1.0) * double(descriptor.neurons.back()),
      options.model.fitting.neurons);
  const double number = options.model.single_precision ? sizeof(float) : sizeof(double);
  const bool is_elsewhere = device.device() == Device::gpu &&
                            kept_on_host(options.optimiser.adam(), options.offload, {}, false).empty();
  const auto offload = options.offload.optimiser;
  const bool has_states = offload == OffloadKind::host || (offload == OffloadKind::none && !is_elsewhere);
  require_memory(comm, (sizeof(double) + ((is_elsewhere ? 1 : 2) + (has_states ? 2 : 0)) * number) * weights,
                 "the weights, gradients and moments of one type's networks (model.descriptor.neurons, "
                 "model.fitting.neurons)");
}

TrainingSetup set_up(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
                     const std::optional<std::string>& checkpoint, const Interrupt& interrupt) {
  if (!options.model.start && !options.model.initial_model) require_memory_of_one_type(comm, options, device);
  std::optional<KnownModel> known;
  if (checkpoint) {
    const hdf5::File file = hdf5::File::open(comm, *checkpoint);
    check_is_training(file);
    known = read_known_model(file);
  }
  TrainingSetup setup;
  together(comm, [&] { setup = set_up_training(options, known, interrupt); });
  return setup;
}

/// Estimate the memory of the neighbours of all frames (bytes).
double bytes_of_frames(const TrainingSetup& setup) {
  double bytes = 0;
  for (const auto& system : setup.data.training)
    bytes += static_cast<double>(potential::make_frame(system.frames.front(), setup.model.rcut).bytes()) *
             system.frames.size();
  return bytes;
}

/// What a rank needs beside the arrays that stages divide, roughly: neighbours of frames, the kernels' copy
/// of the weights, and a model or a checkpoint that is written (bytes).
double memory_besides(const TrainOptions& options, const TrainingSetup& setup) {
  const double copies = (2.0 + (options.weight_average > 0 ? 1 : 0) + (options.early_stopping ? 1 : 0)) *
                        sizeof(double) * potential::ParameterLayout(setup.model).size;
  return std::min(bytes_of_frames(setup), options.data.frame_memory * 1e9) + copies;
}

std::size_t bytes_of_number(const potential::Model& model) {
  return model.single_precision ? sizeof(float) : sizeof(double);
}

PlannedArrays planned_arrays(const Comm& comm, const TrainOptions& options, const TrainingSetup& setup,
                             const ParallelOptions& parallel) {
  return {{double(potential::ParameterLayout(setup.model).size)},
          bytes_of_number(setup.model),
          options.optimiser.adam(),
          comm.size(),
          parallel,
          options.offload};
}

/// A step of LibTorch and frames that stay there.
double bytes_there(const Comm& comm, const TrainOptions& options, const TrainingSetup& setup,
                   const Sampler& sampler, Device device, bool is_resident) {
  double kept = 0, step = 0;
  for (const auto* systems : {&setup.data.training, &setup.data.validation})
    for (const auto& system : *systems)
      kept += potential::bytes_of_kept_frame(setup.model, system.n_atoms()) * system.frames.size();
  for (std::size_t s = 0; s < setup.data.training.size(); ++s) {
    const int batch = sampler.batch_size(s), n_frames = (batch + comm.size() - 1) / comm.size();
    const int n_sharers = std::max(1, comm.size() / batch);
    const std::size_t atoms = setup.data.training[s].n_atoms();
    step =
        std::max(step, potential::bytes_of_torch_step(setup.model, n_frames, atoms, is_resident) +
                           potential::bytes_of_recordings(setup.model, n_frames, atoms, n_sharers, device));
  }
  return step + std::min(kept, options.data.frame_memory * 1e9);
}

std::unique_ptr<potential::Trainer> make_trainer(const Comm& comm, const TrainOptions& options,
                                                 const DeviceSession& device, const TrainingSetup& setup,
                                                 const ParallelOptions& parallel) {
  require_device_arrays(comm, device, planned_arrays(comm, options, setup, parallel));
  return potential::Trainer::create(setup.model, options.model.sel_rule, options.optimiser.adam(), comm,
                                    parallel, options.offload, {device, frame_budget(options)});
}

ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
                                  const TrainingSetup& setup) {
  return stage_in_force(comm, options.parallel, [&]() -> StageNeeds {
    StageNeeds needs{division_of(options, setup.model), memory_besides(options, setup),
                     "a smaller data.frame_memory"};
    if (device.is_cpu()) return needs;
    needs.less = "fewer frames a batch, " + needs.less;
    const Sampler sampler = training_sampler(options, setup.data.training);
    needs.there = {device, planned_arrays(comm, options, setup, options.parallel),
                   bytes_there(comm, options, setup, sampler, device.device(), true)};
    return needs;
  });
}

/// Steps of the training: given, or so many epochs.
std::int64_t steps_of(const TrainOptions& options, const Sampler& sampler) {
  if (!options.epochs) return *options.steps;
  const double steps = std::ceil(*options.epochs * sampler.batches_an_epoch());
  QUINTET_CHECK(steps < 1e15, "epochs = {:g} are {:g} steps; expected fewer than 1e15", *options.epochs,
                steps);
  log::info("{:g} epochs of {:.6g} batches: {:.0f} steps", *options.epochs, sampler.batches_an_epoch(),
            steps);
  return steps;
}

}  // namespace

planning::Division division_of(const TrainOptions& options, const potential::Model& model) {
  auto division =
      division_of(options.parallel, options.offload, {double(potential::ParameterLayout(model).size)},
                  bytes_of_number(model), n_states(options.optimiser.adam()));
  division.most_stage = 2;  // potential::trainer_traits
  return division;
}

Training::Training(Comm comm, const TrainOptions& options, const DeviceSession& device,
                   const std::optional<std::string>& checkpoint, const Interrupt& interrupt)
    : comm_(std::move(comm)),
      resident_at_start_(1e6 * resident_memory_mb()),
      options_(options),
      device_(device),
      setup_(set_up(comm_, options_, device_, checkpoint, interrupt)),
      sampler_(training_sampler(options_, setup_.data.training)),
      last_step_(steps_of(options_, sampler_)),
      schedule_(options_.learning_rate, options_.loss, last_step_),
      watch_(options_.divergence),
      parallel_(parallel_in_force(comm_, options_, device_, setup_)),
      trainer_(make_trainer(comm_, options_, device_, setup_, parallel_.options)),
      validation_sampler_(validation_sampler(options_, setup_.data)),
      frames_(setup_.data.training, setup_.model.rcut, frame_budget(options_)),
      validation_frames_(setup_.data.validation, setup_.model.rcut, frame_budget(options_)) {
  trainer_->cover(setup_.data.least_distance);
  if (options_.weight_average > 0) average_.emplace(options_.weight_average);
  if (options_.early_stopping) best_.emplace(*options_.early_stopping);
  if (checkpoint) load(*checkpoint);
  if (schedule_.decay_steps() != options_.learning_rate.decay_steps)
    log::info("learning_rate.decay_steps = {} is not below the {} after the warm-up; {} is taken",
              options_.learning_rate.decay_steps,
              counted(last_step_ - options_.learning_rate.warmup_steps, "step"), schedule_.decay_steps());
}

Training::Frames Training::every_rankth(FrameStore& store, const Sampler::Batch& batch) const {
  std::vector<std::size_t> own;
  const std::size_t stride = comm_.size();
  for (std::size_t i = comm_.rank(); i < batch.frames.size(); i += stride) own.push_back(batch.frames[i]);
  return store.take(batch.system, own);
}

/// Choose this rank's of the frames that share out evenly.
Training::Frames Training::own_frames(const Sampler::Batch& batch) {
  Sampler::Batch even = batch;
  even.frames.resize(batch.frames.size() - batch.frames.size() % comm_.size());
  return every_rankth(frames_, even);
}

/// What is left of a batch: all ranks work on each frame.
Training::Frames Training::shared_frames(const Sampler::Batch& batch) {
  const std::size_t left = batch.frames.size() % comm_.size();
  return frames_.take(batch.system, std::span(batch.frames).last(left));
}

double Training::learning_rate() const {
  return schedule_.learning_rate(std::max<std::int64_t>(step_ - 1, 0));
}

void Training::advance() {
  const Sampler::Batch batch = sampler_.batch(step_);
  const auto prefactors = schedule_.prefactors(step_);
  const std::int64_t n_frames = batch.frames.size();
  const int size = n_frames;
  trainer_->begin_update();
  try {
    Deviations deviations = trainer_->gradient(own_frames(batch), prefactors, size, Sharing::frames);
    deviations += trainer_->gradient(shared_frames(batch), prefactors, size, Sharing::atoms);
    batch_ = potential::sum(comm_, deviations);
    watch_.add(step_ + 1, batch_.loss / n_frames, prefactors, batch_);
    trainer_->update(schedule_.learning_rate(step_));
  } catch (const NumericalError&) {
    trainer_->settle();  // the update under way is a good one
    throw;
  }
  ++step_;
  frames_seen_ += n_frames;
  atoms_seen_ += n_frames * setup_.data.training[batch.system].n_atoms();
  if (average_) trainer_->add_to(*average_);
  if (best_ && (best_->due(step_) || step_ == last_step_)) look_at_frames_held_out();
}

std::vector<double> Training::weights() const {
  return average_ && average_->additions() > 0 ? average_->mean() : trainer_->parameters();
}

potential::Model Training::model() const {
  potential::Model model = trainer_->model();
  const bool is_found = best_ && !best_->weights().empty();
  const auto values = is_found ? best_->weights() : weights();
  potential::set_parameters(model, potential::ParameterLayout(model), values.data());
  return model;
}

Deviations Training::evaluate(Frames frames, const potential::LossPrefactors& prefactors) {
  if (!average_ || average_->additions() == 0) return trainer_->evaluate(frames, prefactors);
  return trainer_->evaluate_at(average_->mean(), frames, prefactors);
}

/// All of them, each time: batches scatter by more than a training gains late on.
void Training::look_at_frames_held_out() {
  Deviations found;
  const auto prefactors = schedule_.last_prefactors();
  for (std::size_t s = 0; s < setup_.data.validation.size(); ++s) {
    Sampler::Batch all{s, std::vector<std::size_t>(setup_.data.validation[s].frames.size())};
    std::iota(all.frames.begin(), all.frames.end(), std::size_t{0});
    found += evaluate(every_rankth(validation_frames_, all), prefactors);
  }
  found = potential::sum(comm_, found);
  QUINTET_CHECK(
      (prefactors.energy > 0 && found.with_energy > 0) || (prefactors.force > 0 && found.with_force > 0) ||
          (prefactors.virial > 0 && found.with_virial > 0),
      "early_stopping: no frame of data.validation has a label that the loss asks for; label them, or "
      "leave early_stopping out");
  best_->observe(step_, found.loss / found.frames, [&] { return weights(); });
  if (best_->exhausted())
    log::info(
        "Step {}: the loss of frames held out has not fallen since step {}; the training ends, with the "
        "weights of then",
        step_, best_->step());
}

Deviations Training::validate() {
  Deviations deviations;
  const auto prefactors = schedule_.prefactors(std::max<std::int64_t>(step_ - 1, 0));
  const int batches = options_.data.validation->batches;
  for (int i = 0; i < batches; ++i) {
    const auto batch = validation_sampler_->batch(step_ * batches + i);
    deviations += evaluate(every_rankth(validation_frames_, batch), prefactors);
  }
  return potential::sum(comm_, deviations);
}

double Training::memory_needed() const {
  const bool is_on_host = device_.device() == Device::portable;
  return bytes_not_there_yet(trainer_->account().host_bytes, resident_at_start_) +
         memory_besides(options_, setup_) + (is_on_host ? device_bytes() : 0);
}

double Training::frame_bytes(double drawn) const {
  double all = 0;
  for (const auto& system : setup_.data.training) all += system.frames.size();
  return std::min(bytes_of_frames(setup_) * std::min(1.0, drawn / all), options_.data.frame_memory * 1e9);
}

double Training::device_bytes() const {
  if (device_.is_cpu()) return 0;
  return bytes_there(comm_, options_, setup_, sampler_, device_.device(), trainer_->account().is_resident);
}

void Training::save(hdf5::Group& root) const {
  hdf5::Group group = root.group("training");
  group.set_attribute("step", step_);
  group.write<double>("loss_watch", watch_.state(), {watch_.state().size()},
                      {"1", {"value"}, "Mean of the loss, its least, losses seen, steps above the bound"});
  write_known_model(group, setup_.model);
  if (average_ && average_->additions() > 0) {
    const auto& mean = average_->mean();
    group.write<double>("average_weights", mean, {mean.size()}, {"1", {"parameter"}, "Mean of the weights"});
    group.set_attribute("averaged_steps", average_->additions());
  }
  if (best_) best_->save(group);
  hdf5::Group trainer = group.group("trainer");
  trainer_->save(trainer);
}

void Training::load(const std::string& checkpoint) {
  const hdf5::File file = hdf5::File::open(comm_, checkpoint);
  const hdf5::Group group = file.root().open_group("training");
  step_ = group.integer_attribute("step");
  watch_.restore(group.read<double>("loss_watch"));
  // A checkpoint of before these were asked for has none: they begin here.
  const std::uint64_t n_weights = potential::ParameterLayout(setup_.model).size;
  if (average_ && group.has("average_weights"))
    average_->restore(group.read<double>("average_weights", {n_weights}),
                      group.integer_attribute("averaged_steps"));
  if (best_ && group.has("least_loss")) best_->load(group, n_weights);
  hdf5::Group trainer = group.open_group("trainer");
  trainer_->load(trainer);
}

}  // namespace quintet::dpmd
