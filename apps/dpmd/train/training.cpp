#include "apps/dpmd/train/training.hpp"

#include <algorithm>
#include <vector>

#include "apps/application/life/memory.hpp"
#include "apps/application/training/device_arrays.hpp"
#include "apps/dpmd/train/training_state.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
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
  return static_cast<std::size_t>(std::min(options.data.frame_memory * 1e9, 1e18));
}

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
  add(double(descriptor.axis_neurons) * double(descriptor.neurons.back()), options.model.fitting.neurons);
  const double number = options.model.single_precision ? sizeof(float) : sizeof(double);
  const bool is_elsewhere =
      device.device() == Device::gpu && kept_on_host(options.offload, {}, false).empty();
  const auto offload = options.offload.optimiser;
  const bool has_states = offload == OffloadKind::host || (offload == OffloadKind::none && !is_elsewhere);
  require_memory(comm, (sizeof(double) + ((is_elsewhere ? 1 : 2) + (has_states ? 2 : 0)) * number) * weights,
                 "the weights, gradients and moments of one type's networks (model.descriptor.neurons, "
                 "model.fitting.neurons)");
}

TrainingSetup set_up(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
                     const std::optional<std::string>& checkpoint) {
  if (!options.model.start) require_memory_of_one_type(comm, options, device);
  if (!checkpoint) return set_up_training(options);
  const hdf5::File file = hdf5::File::open(comm, *checkpoint);
  check_is_training(file);
  return set_up_training(options, read_known_model(file));
}

/// Estimate the memory of the neighbours of all frames (bytes).
double bytes_of_frames(const TrainingSetup& setup) {
  double bytes = 0;
  for (const auto& system : setup.data.training)
    bytes += static_cast<double>(potential::make_frame(system.frames.front(), setup.model.rcut).bytes()) *
             static_cast<double>(system.frames.size());
  return bytes;
}

/// What a rank needs beside the arrays that stages divide, roughly: neighbours of frames, the kernels' copy
/// of the weights, and a model or a checkpoint that is written (bytes).
double memory_besides(const TrainOptions& options, const TrainingSetup& setup) {
  const double copies =
      2.0 * sizeof(double) * static_cast<double>(potential::ParameterLayout(setup.model).size);
  return std::min(bytes_of_frames(setup), options.data.frame_memory * 1e9) + copies;
}

quintet::OptimiserOptions adam_of(const TrainOptions& options) {
  return {options.optimiser.beta1, options.optimiser.beta2, options.optimiser.epsilon};
}

std::size_t bytes_of_number(const potential::Model& model) {
  return model.single_precision ? sizeof(float) : sizeof(double);
}

PlannedArrays planned_arrays(const Comm& comm, const TrainOptions& options, const TrainingSetup& setup,
                             const ParallelOptions& parallel) {
  return {{double(potential::ParameterLayout(setup.model).size)},
          bytes_of_number(setup.model),
          adam_of(options),
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
      kept += potential::bytes_of_kept_frame(setup.model, system.n_atoms()) *
              static_cast<double>(system.frames.size());
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
  return potential::Trainer::create(setup.model, options.model.sel_rule, adam_of(options), comm, parallel,
                                    options.offload, {device, frame_budget(options)});
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

}  // namespace

planning::Division division_of(const TrainOptions& options, const potential::Model& model) {
  auto division =
      division_of(options.parallel, options.offload, {double(potential::ParameterLayout(model).size)},
                  bytes_of_number(model), n_states(adam_of(options)));
  division.most_stage = 2;  // potential::trainer_traits
  return division;
}

Training::Training(Comm comm, const TrainOptions& options, const DeviceSession& device,
                   const std::optional<std::string>& checkpoint)
    : comm_(std::move(comm)),
      resident_at_start_(1e6 * resident_memory_mb()),
      options_(options),
      device_(device),
      setup_(set_up(comm_, options_, device_, checkpoint)),
      schedule_(options_.learning_rate, options_.loss, options_.steps),
      watch_(options_.divergence),
      parallel_(parallel_in_force(comm_, options_, device_, setup_)),
      trainer_(make_trainer(comm_, options_, device_, setup_, parallel_.options)),
      sampler_(training_sampler(options_, setup_.data.training)),
      validation_sampler_(validation_sampler(options_, setup_.data)),
      frames_(setup_.data.training, setup_.model.rcut, frame_budget(options_)),
      validation_frames_(setup_.data.validation, setup_.model.rcut, frame_budget(options_)) {
  trainer_->cover(setup_.data.least_distance);
  if (checkpoint) load(*checkpoint);
  if (schedule_.decay_steps() != options_.learning_rate.decay_steps)
    log::info("learning_rate.decay_steps = {} is not below steps = {}; {} is taken",
              options_.learning_rate.decay_steps, options_.steps, schedule_.decay_steps());
}

Training::Frames Training::every_rankth(FrameStore& store, const Sampler::Batch& batch) const {
  std::vector<std::size_t> own;
  const auto stride = static_cast<std::size_t>(comm_.size());
  for (auto i = static_cast<std::size_t>(comm_.rank()); i < batch.frames.size(); i += stride)
    own.push_back(batch.frames[i]);
  return store.take(batch.system, own);
}

/// Choose this rank's of the frames that share out evenly.
Training::Frames Training::own_frames(const Sampler::Batch& batch) {
  Sampler::Batch even = batch;
  even.frames.resize(batch.frames.size() - batch.frames.size() % static_cast<std::size_t>(comm_.size()));
  return every_rankth(frames_, even);
}

/// What is left of a batch: all ranks work on each frame.
Training::Frames Training::shared_frames(const Sampler::Batch& batch) {
  const std::size_t left = batch.frames.size() % static_cast<std::size_t>(comm_.size());
  return frames_.take(batch.system, std::span(batch.frames).last(left));
}

double Training::learning_rate() const {
  return schedule_.learning_rate(std::max<std::int64_t>(step_ - 1, 0));
}

void Training::advance() {
  const Sampler::Batch batch = sampler_.batch(step_);
  const auto prefactors = schedule_.prefactors(step_);
  const auto n_frames = static_cast<std::int64_t>(batch.frames.size());
  const auto size = static_cast<int>(n_frames);
  trainer_->begin_update();
  try {
    Deviations deviations = trainer_->gradient(own_frames(batch), prefactors, size, Sharing::frames);
    deviations += trainer_->gradient(shared_frames(batch), prefactors, size, Sharing::atoms);
    batch_ = potential::sum(comm_, deviations);
    watch_.add(step_ + 1, batch_.loss / static_cast<double>(n_frames), prefactors, batch_);
    trainer_->update(schedule_.learning_rate(step_));
  } catch (const NumericalError&) {
    trainer_->settle();  // the update under way is a good one
    throw;
  }
  ++step_;
  frames_seen_ += n_frames;
  atoms_seen_ += n_frames * static_cast<std::int64_t>(setup_.data.training[batch.system].n_atoms());
}

Deviations Training::validate() {
  Deviations deviations;
  const auto prefactors = schedule_.prefactors(std::max<std::int64_t>(step_ - 1, 0));
  const int batches = options_.data.validation->batches;
  for (int i = 0; i < batches; ++i) {
    const auto batch = validation_sampler_->batch(step_ * batches + i);
    deviations += trainer_->evaluate(every_rankth(validation_frames_, batch), prefactors);
  }
  return potential::sum(comm_, deviations);
}

double Training::memory_needed() const {
  const bool is_on_host = device_.device() == Device::portable;
  return bytes_not_there_yet(static_cast<double>(trainer_->account().host_bytes), resident_at_start_) +
         memory_besides(options_, setup_) + (is_on_host ? device_bytes() : 0);
}

double Training::frame_bytes(double drawn) const {
  double all = 0;
  for (const auto& system : setup_.data.training) all += static_cast<double>(system.frames.size());
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
  hdf5::Group trainer = group.group("trainer");
  trainer_->save(trainer);
}

void Training::load(const std::string& checkpoint) {
  const hdf5::File file = hdf5::File::open(comm_, checkpoint);
  const hdf5::Group group = file.root().open_group("training");
  step_ = group.integer_attribute("step");
  watch_.restore(group.read<double>("loss_watch"));
  hdf5::Group trainer = group.open_group("trainer");
  trainer_->load(trainer);
}

}  // namespace quintet::dpmd
