#include "surrogates/flow/training/flow_trainer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/flow/equations/operator_basis.hpp"
#include "surrogates/flow/training/trainer_state.hpp"
#include "surrogates/resident/device_parameters.hpp"
#include "surrogates/training/flat_checkpoint.hpp"

namespace quintet::flow {

template <class T>
at::Tensor tensor_on(std::span<T> values, c10::Device device) {
  return at::from_blob(values.data(), {std::ssize(values)},
                       at::TensorOptions(bridge::scalar_type<T>()).device(device));
}
template at::Tensor tensor_on(std::span<float>, c10::Device);
template at::Tensor tensor_on(std::span<double>, c10::Device);

namespace {

/// The header with x and z exchanged where equations are as the reference has them.
FlowEquations equations_of(const FlowModelHeader& header, bool as_reference) {
  if (!as_reference) return header.flow_equations();
  QUINTET_CHECK(header.equations.boundaries.empty(),
                "equations.boundaries: the reference has none; leave them out with reference_compatible");
  auto names = header.axis_names();
  std::swap(names[1], names[2]);
  return {header.equations, header.field_names(), names, header.axis_periods(), header.parameter_names()};
}

std::vector<double> start_of(const FlowModel& model, const std::vector<double>& initial) {
  if (model.parameters.empty()) return initial;
  return {model.parameters.begin(), model.parameters.end()};
}

}  // namespace

// Everything that depends on options, ranks and device is made here once; what cannot work together is
// refused.
template <class Real>
FlowTrainer<Real>::State::State(const Comm& comm_, const FlowModel& model, const FlowTrainerOptions& options_,
                                const std::vector<std::vector<double>>& parameters)
    : comm(comm_),
      header(model.header),
      options(options_),
      device(options.device),
      equations(equations_of(header, options.reference_compatible)),
      network(header, options.tile, device.is_used() ? Engine::torch : Engine::host),
      shared(comm, network.tensors(), start_of(model, network.initial_parameters(options.seed)),
             options.optimiser, options.parallel, options.offload, options.precision,
             device.is_used() ? device_parameters<Real>(device) : ResidentMaker<Real>()),
      statistics(model.statistics.empty() ? network.initial_statistics() : model.statistics),
      interior(equations.interior().residuals({})),
      // Normalisation sums over ranks in the middle of a pass, by way of the host.
      recorder(device.place(), shared.is_resident() && comm.size() == 1) {
  for (const auto& field : header.fields) {
    fields.mean.push_back(field.mean);
    fields.deviation.push_back(field.deviation);
  }
  QUINTET_CHECK(options.batch >= comm.size(),
                "batches of {} crops cannot be shared out over {} ranks; expected at "
                "least as many crops",
                options.batch, comm.size());
  QUINTET_CHECK(!device.is_used() || !options.memory.is_planned(),
                "memory: what is kept, made again or swapped is planned for the host's memory; leave it out, "
                "or take device: cpu");
  QUINTET_CHECK(options.loss.gamma == 0 || equations.interior().n_equations() > 0,
                "loss.gamma is {}, but there are no equations; give equations.interior, or gamma 0",
                options.loss.gamma);
  QUINTET_CHECK(options.loss.boundary == 0 || !equations.walls().empty(),
                "loss.boundary is {}, but there are no boundary conditions; give equations.boundaries, or 0",
                options.loss.boundary);
  QUINTET_CHECK(network.is_continuous() || options.loss.gamma == 0,
                "loss.gamma is {}, but a convolutional decoder has no derivatives; set it to 0",
                options.loss.gamma);
  std::vector<std::vector<double>> constants;
  for (const auto& of_sample : parameters) {
    if (!constants_of.emplace(of_sample, static_cast<int>(constants.size())).second) continue;
    std::map<std::string, double> named;
    for (std::size_t i = 0; i < of_sample.size(); ++i) named[header.parameters[i].name] = of_sample[i];
    constants.push_back(equations.constants(named));
  }
  interior = equations.interior().residuals(constants);
  for (const auto& wall : equations.walls()) walls.push_back(wall.system.residuals(constants));
  for (const auto& wall : walls)
    QUINTET_CHECK(
        network.is_continuous() || wall.n_operators() == 0,
        "equations.boundaries: a convolutional decoder has no derivatives; give conditions of values");
  const bool is_copied = device.is_used() && !shared.is_resident();
  for (int block = 0; block < std::ssize(shared.layout().blocks()); ++block) {
    const at::Tensor own =
        tensor_on(shared.values(block), is_copied ? c10::Device(at::kCPU) : device.place());
    weights.push_back((is_copied ? at::empty_like(own, own.options().device(device.place())) : own)
                          .set_requires_grad(true));
  }
  gradients.resize(weights.size());
  running = tensor_on(std::span<double>(statistics));
  if (device.is_used()) {
    running = at::empty_like(running, running.options().device(device.place()));
    const auto there = [&](std::vector<double>& numbers) {
      return tensor_on(std::span<double>(numbers)).to(device.place());
    };
    scales = {there(fields.mean), there(fields.deviation)};
  }
  put_statistics();
}
template <class Real>
void FlowTrainer<Real>::State::fetch_statistics() const {
  if (device.is_used()) tensor_on(std::span<double>(statistics)).copy_(running);
}
template <class Real>
void FlowTrainer<Real>::State::put_statistics() {
  if (device.is_used()) running.copy_(tensor_on(std::span<double>(statistics)));
}
template <class Real>
FlowTrainer<Real>::FlowTrainer(const Comm& comm, const FlowModel& model, const FlowTrainerOptions& options,
                               const std::vector<std::vector<double>>& parameters)
    : state_(translate_torch_errors(
          "Making the networks", [&] { return std::make_unique<State>(comm, model, options, parameters); })) {
}
template <class Real>
FlowTrainer<Real>::~FlowTrainer() = default;
template <class Real>
FlowTrainer<Real>::FlowTrainer(FlowTrainer&&) noexcept = default;

template <class Real>
int FlowTrainer<Real>::first_crop() const {
  return state_->crop_of(state_->comm.rank());
}
template <class Real>
int FlowTrainer<Real>::n_crops() const {
  return state_->crop_of(state_->comm.rank() + 1) - first_crop();
}

template <class Real>
FlowLosses FlowTrainer<Real>::step(const Batch& batch, std::int64_t step, double learning_rate) {
  auto& shared = state_->shared;
  shared.begin_step();
  try {
    const auto begin = std::chrono::steady_clock::now();
    const FlowLosses losses =
        translate_torch_errors("A step of training", [&] { return state_->run(batch, step, true); });
    if (auto& activations = state_->activations) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      activations->seconds = activations->n_steps++ == 0 ? seconds : std::min(activations->seconds, seconds);
      if (state_->swaps) {
        const auto traffic = state_->swaps->traffic();
        activations->bytes_swapped = traffic.bytes;
        activations->swap_seconds = traffic.link;
        activations->swap_seconds_waited = traffic.waited;
      }
    }
    shared.step(step + 1, learning_rate);
    return losses;
  } catch (const NumericalError&) {
    shared.settle();  // the update under way is a good one
    throw;
  }
}

template <class Real>
FlowLosses FlowTrainer<Real>::evaluate(const Batch& batch, std::int64_t step) {
  return translate_torch_errors("A validation", [&] { return state_->run(batch, step, false); });
}

template <class Real>
std::vector<double> FlowTrainer<Real>::gradient(const Batch& batch, std::int64_t step, FlowLosses* losses) {
  const auto found = translate_torch_errors("A gradient", [&] { return state_->run(batch, step, true); });
  if (losses) *losses = found;
  auto total = state_->shared.total_gradient();
  state_->shared.clear_gradient();
  return total;
}

template <class Real>
void FlowTrainer<Real>::rehearse(const Batch& batch) {
  auto& state = *state_;
  const std::vector<double> statistics = state.statistics;
  static_cast<void>(gradient(batch, 0));
  state.shared.reset_traffic();
  std::copy(statistics.begin(), statistics.end(), state.statistics.begin());
}

template <class Real>
void FlowTrainer<Real>::plan_activations(const Batch& batch) {
  auto& state = *state_;
  if (!state.options.memory.is_planned()) return;
  const SwapTarget target(state.comm, state.options.memory);
  const auto& blocks = state.network.encoder().blocks();
  const auto first = unet_segments(blocks);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t last = (i + 1 < first.size() ? first[i + 1] : blocks.size()) - 1;
    names.push_back(first[i] == last ? blocks[last].name
                                     : fmt::format("{} .. {}", blocks[first[i]].name, blocks[last].name));
  }
  names.emplace_back("decoder and losses");
  MeasuredChain measured(std::move(names));
  const std::vector<double> statistics = state.statistics;
  state.measured = &measured;
  for (int pass = 0; pass < 3; ++pass)  // the first one makes what torch makes once
    static_cast<void>(gradient(batch, 0));
  state.measured = nullptr;
  state.shared.reset_traffic();
  std::copy(statistics.begin(), statistics.end(), state.statistics.begin());
  auto chain = measured.blocks(state.comm);
  std::int64_t swapped = 0;  // at most
  for (const auto& block : chain) swapped += block.stays ? 0 : block.swapped_bytes();
  const auto disk = target.prepare(state.comm, swapped);
  state.activations =
      chosen_activations(state.options.memory, std::move(chain), measured.tape(state.comm), disk);
  const auto& plan = state.activations->plan;
  if (std::count(plan.policies.begin(), plan.policies.end(), planning::BlockPolicy::swap) > 0)
    state.swaps = std::make_unique<PlannedSwaps>(*state.activations, target.space(state.shared.ledger()));
}

template <class Real>
const std::optional<ActivationsInForce>& FlowTrainer<Real>::activations() const {
  return state_->activations;
}

template <class Real>
const FlowModelHeader& FlowTrainer<Real>::header() const {
  return state_->header;
}

template <class Real>
FlowModel FlowTrainer<Real>::model() const {
  const auto values = state_->shared.all_computed_values();
  state_->fetch_statistics();
  return {state_->header, {values.begin(), values.end()}, state_->statistics};
}

template <class Real>
networks::ChainDescription FlowTrainer<Real>::describe() const {
  return state_->network.describe(state_->header.block);
}

template <class Real>
FlatAccount FlowTrainer<Real>::account() const {
  return state_->shared.account();
}

template <class Real>
std::size_t FlowTrainer<Real>::n_parameters() const {
  return state_->shared.size();
}

template <class Real>
const FlatLayout& FlowTrainer<Real>::layout() const {
  return state_->shared.layout();
}

template <class Real>
std::vector<std::string> FlowTrainer<Real>::operator_texts() const {
  std::vector<std::string> texts;
  if (state_->interior.n_operators() == 0) return texts;
  const auto operators = operators_of(state_->interior, {0}, state_->options.reference_compatible);
  for (const auto& operation : operators.front())
    texts.push_back(operator_text(operation, state_->header.axis_names()));
  return texts;
}

template <class Real>
void FlowTrainer<Real>::save(hdf5::Group& group) const {
  quintet::save(group, state_->shared, "encoder's, then decoder's");
  state_->fetch_statistics();
  const auto& statistics = state_->statistics;
  group.write<double>("statistics", statistics, {statistics.size()},
                      {"1", {"parameter"}, "running means and variances"});
}

template <class Real>
void FlowTrainer<Real>::restore(const hdf5::Group& group) {
  quintet::restore(group, state_->shared);
  const auto statistics = group.read<double>("statistics", {state_->statistics.size()});
  std::copy(statistics.begin(), statistics.end(), state_->statistics.begin());
  state_->put_statistics();
}

template class FlowTrainer<float>;
template class FlowTrainer<double>;

}  // namespace quintet::flow
