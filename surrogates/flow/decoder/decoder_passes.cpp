#include <algorithm>
#include <memory>

#include <Kokkos_Core.hpp>

#include "io/log/error.hpp"
#include "physics/kernels/execution.hpp"
#include "surrogates/flow/decoder/decoder_pass.hpp"
#include "surrogates/flow/decoder/row_scatter.hpp"

/// Forward and backward pass. Points of a sample, sorted by cell, are cut into tasks, which threads share.
namespace quintet::flow {

template <class Real>
struct DecoderTape<Real>::State {
  bool made_again = false;
  JetPlan plan;
  std::vector<std::vector<int>> order;  ///< [sample][point]
  std::vector<DecoderTask> tasks;
  std::vector<DecoderScratch<Real>> a;  ///< [task] pre-activations, block after block, layer after layer
};

template <class Real>
DecoderTape<Real>::DecoderTape(bool made_again) : state(std::make_unique<State>()) {
  state->made_again = made_again;
}
template <class Real>
DecoderTape<Real>::~DecoderTape() = default;
template <class Real>
DecoderTape<Real>::DecoderTape(DecoderTape&&) noexcept = default;
template <class Real>
std::size_t DecoderTape<Real>::bytes() const {
  std::size_t n = 0;
  for (const auto& a : state->a) n += a.size() * sizeof(Real);
  return n;
}

namespace {

std::vector<DecoderTask> make_tasks(const DecoderQueries& queries) {
  std::vector<DecoderTask> tasks;
  for (int sample = 0; sample < queries.n_samples; ++sample)
    for (int first = 0; first < queries.n_points; first += task_points)
      tasks.push_back({sample, first, std::min(task_points, queries.n_points - first)});
  return tasks;
}

/// Call body(thread, task) for all tasks; a thread's come one after the other.
template <class Body>
void for_tasks(int n_threads, std::size_t n_tasks, const Body& body) {
  Kokkos::parallel_for("decoder", Kokkos::RangePolicy<Exec>(0, n_threads), [&](int thread) {
    const std::size_t first = n_tasks * thread / n_threads, last = n_tasks * (thread + 1) / n_threads;
    for (std::size_t task = first; task < last; ++task) body(thread, task);
  });
  Exec().fence();
}
/// Pre-activations of the hidden layers after the first, of so many points.
template <class Real>
std::size_t kept_numbers(const std::vector<DecoderLayer<Real>>& layers, const JetPlan& plan,
                         std::size_t n_points) {
  std::size_t row = 0;
  for (std::size_t l = 1; l + 1 < layers.size(); ++l) row += static_cast<std::size_t>(layers[l].stride);
  return row * plan.n_channels() * n_corners * n_points;
}
int n_threads_for(std::size_t n_tasks) { return std::max(1, std::min<int>(Exec().concurrency(), n_tasks)); }

}  // namespace

template <class Real>
void Decoder<Real>::forward(const Real* latents, const DecoderQueries& queries, Real* jets,
                            Tape* tape) const {
  JetPlan plan = make_plan(queries);
  check_queries(queries, plan, state_->options.activation);
  if (queries.bf16 && (tape != nullptr || !state_->has_bf16))
    throw InternalError(
        "a decoder is asked for products in bfloat16 that it has no weights or no way back for");
  std::vector<std::vector<int>> order(queries.n_samples);
  for (int sample = 0; sample < queries.n_samples; ++sample) order[sample] = order_by_cell(queries, sample);
  const auto tasks = make_tasks(queries);
  const bool keeps = tape != nullptr && !tape->state->made_again;
  if (tape != nullptr) tape->state->a.resize(tasks.size());
  for (std::size_t i = 0; keeps && i < tasks.size(); ++i)
    tape->state->a[i].get(kept_numbers(state_->layers, plan, tasks[i].n_points));
  const int n_threads = n_threads_for(tasks.size());
  std::vector<DecoderPass<Real>> passes;
  for (int thread = 0; thread < n_threads; ++thread)
    passes.emplace_back(state_->options, state_->layers, latents, queries, plan, order);
  for_tasks(n_threads, tasks.size(), [&](int thread, std::size_t task) {
    if (queries.interrupt && queries.interrupt()) return;
    passes[thread].forward(tasks[task], jets, keeps ? tape->state->a[task].get(0) : nullptr);
  });
  give_up_if_asked(queries.interrupt);
  if (tape == nullptr) return;
  tape->state->plan = std::move(plan);
  tape->state->order = std::move(order);
  tape->state->tasks = tasks;
}

template <class Real>
std::size_t Decoder<Real>::tape_bytes(const DecoderQueries& queries) const {
  const std::size_t n_points = std::int64_t{queries.n_samples} * queries.n_points;
  return sizeof(Real) * kept_numbers(state_->layers, make_plan(queries), n_points);
}

template <class Real>
void Decoder<Real>::backward(const Real* latents, const DecoderQueries& queries, const Tape& tape,
                             const Real* jets_bar, Real* gradient, Real* latents_bar) const {
  const auto& kept = *tape.state;
  if (kept.order.size() != static_cast<std::size_t>(queries.n_samples))
    throw InternalError("a decoder's backward pass without its forward pass");
  const int n_threads = n_threads_for(kept.tasks.size());
  std::vector<DecoderPass<Real>> passes;
  for (int thread = 0; thread < n_threads; ++thread) {
    passes.emplace_back(state_->options, state_->layers, latents, queries, kept.plan, kept.order);
    passes.back().start_gradient();
  }
  std::vector<std::vector<int>> touched(kept.tasks.size());
  std::vector<std::vector<Real>> bars(kept.tasks.size());
  for_tasks(n_threads, kept.tasks.size(), [&](int thread, std::size_t task) {
    passes[thread].backward(kept.tasks[task], jets_bar, kept.a[task].data(), touched[task], bars[task]);
  });
  for (const auto& pass : passes) pass.add_gradient(gradient);
  if (latents_bar == nullptr) return;
  const std::int64_t nodes = n_nodes(queries.grids.front());
  std::vector<RowPiece<Real>> pieces;
  for (std::size_t task = 0; task < kept.tasks.size(); ++task)
    pieces.push_back({kept.tasks[task].sample * nodes, touched[task], bars[task].data()});
  add_rows<Real>(pieces, state_->options.n_latent, latents_bar);
}

template class DecoderTape<float>;
template class DecoderTape<double>;
template void Decoder<float>::forward(const float*, const DecoderQueries&, float*, Tape*) const;
template void Decoder<double>::forward(const double*, const DecoderQueries&, double*, Tape*) const;
template std::size_t Decoder<float>::tape_bytes(const DecoderQueries&) const;
template std::size_t Decoder<double>::tape_bytes(const DecoderQueries&) const;
template void Decoder<float>::backward(const float*, const DecoderQueries&, const Tape&, const float*, float*,
                                       float*) const;
template void Decoder<double>::backward(const double*, const DecoderQueries&, const Tape&, const double*,
                                        double*, double*) const;

}  // namespace quintet::flow
