#include "apps/meshfreeflow/train/training.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/training/device_arrays.hpp"
#include "apps/application/training/timed_threads.hpp"
#include "apps/meshfreeflow/train/frame_rates.hpp"
#include "io/config/suggest.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/runtime/runtime.hpp"
#include "io/tiers/page_arena.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/model/flow_inference.hpp"

namespace quintet::meshfreeflow {

namespace {

using flow::FlowLosses;
using flow::Split;

constexpr std::uint64_t validation_stream = 0x76616c6964;  ///< apart from the training's draws

/// Losses as numbers that add up, and back.
std::vector<double> numbers_of(const FlowLosses& losses) {
  std::vector<double> numbers{losses.total, losses.values, losses.residuals, losses.boundaries,
                              losses.spectra};
  numbers.insert(numbers.end(), losses.by_field.begin(), losses.by_field.end());
  numbers.insert(numbers.end(), losses.by_equation.begin(), losses.by_equation.end());
  return numbers;
}
FlowLosses losses_of(const std::vector<double>& numbers, double scale, std::size_t n_fields) {
  constexpr std::size_t first = 5;
  FlowLosses losses{scale * numbers[0],
                    scale * numbers[1],
                    scale * numbers[2],
                    scale * numbers[3],
                    scale * numbers[4],
                    {},
                    {}};
  for (std::size_t i = first; i < numbers.size(); ++i)
    (i < first + n_fields ? losses.by_field : losses.by_equation).push_back(scale * numbers[i]);
  return losses;
}
void add(std::vector<double>& sums, const std::vector<double>& numbers) {
  sums.resize(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) sums[i] += numbers[i];
}

std::vector<std::vector<double>> all_parameters(const flow::FlowDataset& data) {
  std::vector<std::vector<double>> all;
  for (const Split split : {Split::train, Split::validation, Split::test})
    for (std::int64_t i = 0; i < data.n_samples(split); ++i) all.push_back(data.parameters(split, i));
  return all;
}

/// An equation of a field whose mean was taken off speaks of another quantity than the model.
void refuse_values_without_mean(const flow::FlowModelHeader& header) {
  const auto equations = header.flow_equations();
  for (std::size_t f = 0; f < header.fields.size(); ++f) {
    if (header.fields[f].offset == 0) continue;
    const int field = f;
    bool used = equations.interior().uses_value(field);
    for (const auto& wall : equations.walls()) used = used || wall.system.uses_value(field);
    QUINTET_CHECK(!used,
                  "equations use the value of '{0}' itself, not only its derivatives. Its mean, {1:.9g}, is "
                  "too large for "
                  "single precision and is subtracted: store {0} - {1:.9g}, and write the equations for that",
                  header.fields[f].name, header.fields[f].offset);
  }
}

/// The weights to start from, or none.
flow::FlowModel starting_model(const Comm& comm, const TrainOptions& options, flow::FlowModelHeader header) {
  flow::FlowModel model{std::move(header), {}, {}};
  if (!options.start) return model;
  const flow::FlowModel given = flow::load_flow_model(comm, *options.start);
  QUINTET_CHECK(given.header.field_names() == model.header.field_names(),
                "start: {} is a model of fields {}; the data have {}", *options.start,
                name_list(given.header.field_names()), name_list(model.header.field_names()));
  const auto residuals_of = [](const flow::FlowModelHeader& header) {
    return residual_words(
        unet_options(header.options, header.fields.size(), header.block, header.refinement));
  };
  QUINTET_CHECK(
      residuals_of(given.header) == residuals_of(model.header),
      "start: {} has {}, but the model described here has {}; weights fit only the same blocks and masks",
      *options.start, residuals_of(given.header), residuals_of(model.header));
  const auto here = flow::flow_network_size(model.header);
  QUINTET_CHECK(given.parameters.size() == here.parameters && given.statistics.size() == here.statistics,
                "start: {} has {} parameters, the model described here {}; expected the same networks",
                *options.start, given.parameters.size(), here.parameters);
  for (auto member : {&flow::FlowModelHeader::trained_on, &flow::FlowModelHeader::chosen_by}) {
    auto& frames = model.header.*member;
    const auto& before = given.header.*member;
    frames.insert(frames.end(), before.begin(), before.end());
    std::sort(frames.begin(), frames.end());
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  }
  model.parameters = given.parameters;
  model.statistics = given.statistics;
  return model;
}

flow::FlowTrainerOptions trainer_options(const TrainOptions& options, const ParallelOptions& parallel,
                                         const DeviceSession& device) {
  return {options.loss,   options.optimiser,
          parallel,       options.offload,
          options.memory, options.precision,
          options.tile,   static_cast<std::uint64_t>(options.seed),
          options.batch,  options.data.reference_compatible,
          device};
}

flow::Range as_range(const flow::FlowDataset::Range& range) { return {range.least, range.most}; }

/// The model to start from, once there is room for what it is trained in.
flow::FlowModel model_with_room(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
                                const flow::FlowDataset& data, const ParallelOptions& parallel) {
  auto header = model_header(options, data);
  require_device_arrays(comm, device, planned_arrays(comm, options, parallel, header));
  return starting_model(comm, options, std::move(header));
}

}  // namespace

flow::FlowModelHeader model_header(const TrainOptions& options, const flow::FlowDataset& data) {
  flow::FlowModelHeader header;
  header.options = options.model;
  auto& encoder = header.options.encoder;
  if (encoder.block == flow::ResidualMiddle::perturb && !encoder.masks) encoder.masks.emplace();
  header.equations =
      options.data.of_volumes() ? apart(options.equations, options.data.fields).still : options.equations;
  header.reference_compatible = options.data.reference_compatible;
  const auto low = data.low(Split::train, 0).axes;
  const auto crop = data.batch(Split::train, 0, 0, 0, 1).axes[0];
  const auto spacing = data.low_spacing_ranges();
  const auto periodic = data.periodic();
  for (std::size_t i = 0; i < flow::n_axes; ++i) {
    const double extent = crop[i].upper - crop[i].lower;
    header.axes[i] = {data.axis_names()[i], "1",          periodic[i],
                      low[i].lower,         low[i].upper, as_range(spacing[i]),
                      {extent, extent}};
  }
  for (std::size_t f = 0; f < data.field_names().size(); ++f)
    header.fields.push_back({data.field_names()[f], data.field_units()[f], data.statistics().mean[f],
                             data.statistics().deviation[f], data.samples().offsets()[f]});
  header.trained_on = data.fingerprints(Split::train);
  header.chosen_by = data.fingerprints(Split::validation);
  const auto ranges = data.parameter_ranges();
  for (std::size_t p = 0; p < ranges.size(); ++p)
    header.parameters.push_back({data.parameter_names()[p], as_range(ranges[p])});
  header.block = data.low_shape();
  const auto& factor = options.data.low_resolution.factor;
  for (std::size_t i = 0; i < 3; ++i) header.refinement[i] = factor[i];
  for (const auto& name : options.model.conditioning) {
    const auto& known = data.parameter_names();
    QUINTET_CHECK(std::find(known.begin(), known.end(), name) != known.end(),
                  "model.conditioning: '{}' is no parameter of the data{}; expected one of {}", name,
                  did_you_mean(name, known), name_list(known));
  }
  refuse_values_without_mean(header);
  return header;
}

DeviceSession open_device(Context& context, const TrainOptions& options) {
  Device wanted = device_with_torch(options.device, torch_has_gpus());
  if (wanted == Device::automatic && options.memory.is_planned()) {
    log::info("device: cpu, since section memory plans for the host's memory");
    wanted = Device::cpu;
  }
  return context.open_device(wanted);
}

Training::Training(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
                   const std::optional<std::string>& checkpoint, const Interrupt& interrupt)
    : comm_(comm),
      resident_at_start_(1e6 * resident_memory_mb()),
      options_(options),
      data_(comm, options.data, interrupt),
      parallel_(parallel_in_force(comm, options, device, model_header(options, data_))),
      computes_here_(device.device() != Device::gpu),
      trainer_(comm, model_with_room(comm, options, device, data_, parallel_.options),
               trainer_options(options, parallel_.options, device), all_parameters(data_)),
      rate_(options.learning_rate),
      validates_(data_.n_crops(Split::validation) > 0),
      best_loss_(std::numeric_limits<double>::infinity()) {
  if (options_.loss.spectral > 0) static_cast<void>(data_.rows());  // refuse what has none before any step
  if (checkpoint) load(*checkpoint);
  if (!options_.memory.is_planned()) return;
  trainer_.plan_activations(draw(Split::train, 0));
  memory_predicted_ = predict_memory();
}

/// Measuring has met all but the plan's own tensors: programs, data, a batch, arrays, what convolutions are
/// compiled to. Tensors lie in a PageArena; without one, torch's allocator was seen to hold twice as much.
/// What an emulated link has taken is in memory all the same.
double Training::predict_memory() const {
  const PageArena& arena = PageArena::of_process();
  const auto use = arena.use();
  const double besides = 1e6 * std::max(peak_memory_mb(), resident_memory_mb()) - double(use.most_resident);
  const double tensors = trainer_.activations()->plan.cost.peak;
  const double spread = arena.has_addresses() ? 1 + 1.0 / PageArena::slack_share : 2;
  // The best model and the one that is written; HDF5 and the report.
  const double later = 4 * 4 * static_cast<double>(trainer_.n_parameters()) + bytes_of_files;
  return comm_.maximum(besides + std::max(double(use.most_resident), spread * tensors) + later +
                       trainer_.activations()->staged_bytes());
}

void Training::choose_threads(const Threads& threads) {
  const int before = std::exchange(threads_, threads.per_rank);
  if (!computes_here_) return;
  TimedWork work{"gradients", set_torch_threads, {}, before};
  // A plan of activations was made by what was measured with all threads.
  if (!options_.memory.is_planned() && before == 0) {
    const auto batch = draw(Split::train, 0);
    work.piece = [this, batch] { trainer_.rehearse(batch); };
  }
  threads_ = choose_timed_threads(comm_, threads, work);
}

flow::Batch Training::draw(Split split, std::int64_t step) const {
  const std::uint64_t seed = options_.seed, stream = split == Split::validation ? validation_stream : 0;
  const int n_rows = options_.loss.spectral > 0 ? static_cast<int>(options_.loss.spectral_rows) : 0;
  return data_.batch(split, seed ^ stream, step, trainer_.first_crop(), trainer_.n_crops(), n_rows);
}

void Training::advance() {
  const auto batch = draw(Split::train, step_);
  const double rate = rate_.rate(step_);
  last_ = trainer_.step(batch, step_, rate);
  auto numbers = numbers_of(last_);
  numbers.push_back(1);
  add(sums_, numbers);
  row_.learning_rate = rate;
  ++step_;
  if (step_ % options_.validation.interval == 0 || finished()) validate();
}

void Training::validate() {
  const auto n_fields = trainer_.header().fields.size();
  row_.step = step_;
  const double steps = sums_.back();
  sums_.pop_back();
  row_.training = losses_of(sums_, 1 / steps, n_fields);
  sums_.clear();
  if (!validates_) return rate_.observe(row_.training.total);
  std::vector<double> sums;
  for (int b = 0; b < options_.validation.batches; ++b) {
    add(sums, numbers_of(trainer_.evaluate(draw(Split::validation, b), b)));
  }
  row_.validation = losses_of(sums, 1.0 / options_.validation.batches, n_fields);
  rate_.observe(row_.validation.total);
  if (row_.validation.total < best_loss_) {
    best_loss_ = row_.validation.total;
    best_step_ = step_;
    auto model = trainer_.model();
    best_parameters_ = std::move(model.parameters);
    best_statistics_ = std::move(model.statistics);
  }
}

flow::FlowModel Training::best() const {
  auto model = trainer_.model();
  if (best_step_ > 0) {
    model.parameters = best_parameters_;
    model.statistics = best_statistics_;
  }
  return model;
}

double Training::memory_needed() const {
  // Where memory is limited, pages of libraries do not count: bytes_of_files has them, for plans.
  constexpr double pages_of_libraries = bytes_of_files - 8e6;
  if (memory_predicted_) return *memory_predicted_ - 1e6 * resident_memory_mb() - pages_of_libraries;
  const auto chain = trainer_.describe();
  return bytes_not_there_yet(trainer_.account().host_bytes, resident_at_start_) +
         memory_besides(chain,
                        computes_here_ ? activation_bytes(chain, options_, trainer_.n_crops(), true) : 0) +
         library_bytes;
}

double Training::device_memory_needed() const {
  const auto account = trainer_.account();
  const auto chain = trainer_.describe();
  return (account.is_resident ? 0 : static_cast<double>(account.held.total())) +
         memory_besides(chain, activation_bytes(chain, options_, trainer_.n_crops(), computes_here_));
}

void Training::save(hdf5::Group& root) const {
  hdf5::Group group = root.group("training");
  group.set_attribute("step", step_);
  group.set_attribute("best_step", best_step_);
  group.set_attribute("threads", std::int64_t{threads_});
  const auto write = [&](const char* name, const auto& values, const char* text) {
    using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
    group.write<Value>(name, values, {values.size()}, {"1", {"value"}, text});
  };
  write("learning_rate", rate_.state(), "Reduction, least loss, validations waited");
  write("best_loss", std::vector<double>{best_loss_}, "Least validation loss");
  if (!sums_.empty()) write("sums", sums_, "Losses of the steps since the last validation, and their number");
  if (best_step_ > 0) {
    group.write<float>("best_parameters", best_parameters_, {trainer_.n_parameters()},
                       {"1", {"value"}, "Weights of the best model"});
    write("best_statistics", best_statistics_, "Statistics of the best model");
  }
  hdf5::Group trainer = group.group("trainer");
  trainer_.save(trainer);
}

void Training::load(const std::string& checkpoint) {
  const hdf5::File file = hdf5::File::open(comm_, checkpoint);
  QUINTET_CHECK(file.root().has("training"), "{}: is no checkpoint of 'meshfreeflow train'", checkpoint);
  const hdf5::Group group = file.root().open_group("training");
  step_ = group.integer_attribute("step");
  best_step_ = group.integer_attribute("best_step");
  if (group.has_attribute("threads")) threads_ = group.integer_attribute("threads");
  rate_.restore(group.read<double>("learning_rate"));
  best_loss_ = group.read<double>("best_loss", {1})[0];
  if (group.has("sums")) sums_ = group.read<double>("sums");
  // Checkpoints of before losses had spectra lack their sum.
  const auto& header = trainer_.header();
  if (sums_.size() == 4 + header.fields.size() + header.equations.interior.size() + 1)
    sums_.insert(sums_.begin() + 4, 0);
  trainer_.restore(group.open_group("trainer"));
  if (group.has("best_parameters")) {
    const auto size = flow::flow_network_size(trainer_.header());
    best_parameters_ = group.read<float>("best_parameters", {size.parameters});
    best_statistics_ = group.read<double>("best_statistics", {size.statistics});
    if (!comm_.is_root()) best_parameters_ = {};
  }
}

}  // namespace quintet::meshfreeflow
