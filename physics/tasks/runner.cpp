#include "physics/tasks/runner.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

#include <Kokkos_Core.hpp>

#include "io/log/error.hpp"
#include "physics/kernels/execution.hpp"

namespace quintet::tasks {
namespace {

constexpr int tag = 0;
constexpr int stamp_bytes = sizeof(Stamp);

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::span<const std::byte> bytes_of(const Stamp* from, std::size_t n) {
  return std::as_bytes(std::span(from, n));
}

bool follow_each_other(std::span<const int> points) {
  return std::adjacent_find(points.begin(), points.end(), [](int a, int b) { return b != a + 1; }) ==
         points.end();
}

}  // namespace

std::vector<std::pair<std::string, Damage::Kind>> damage_names() {
  return {{"missing", Damage::Kind::missing},
          {"surplus", Damage::Kind::surplus},
          {"step", Damage::Kind::wrong_step},
          {"byte", Damage::Kind::wrong_byte}};
}

/// One kind of step, ready to run: with pointers and messages for even and odd steps.
struct Runner::Step {
  StepPlan plan;
  std::vector<int> needed, first_needed;  ///< what the graph says, to compare with; as plan.inputs
  int wrong_input = -1;                   ///< of plan.inputs: taken from the wrong step on purpose
  struct Copy {
    int from, to;  ///< own point, slot of the outbox
  };
  std::vector<Copy> copies;                         ///< what cannot be sent from where it lies
  std::array<std::vector<const Stamp*>, 2> inputs;  ///< plan.inputs as pointers
  std::array<std::unique_ptr<RepeatedMessages>, 2> receives, sends;

  [[nodiscard]] std::span<const int> needed_by(int task) const { return part(needed, first_needed, task); }
  [[nodiscard]] std::span<const Stamp* const> inputs_of(int step, int task) const {
    return part(inputs[step & 1], plan.first_input, task);
  }

 private:
  template <class T>
  static std::span<const T> part(const std::vector<T>& all, const std::vector<int>& first, int task) {
    const std::size_t k = task;
    return {all.data() + first[k], static_cast<std::size_t>(first[k + 1] - first[k])};
  }
};

Runner::Runner(const Comm& comm, const Graph& graph, const RunnerOptions& options)
    : comm_(comm),
      graph_(graph),
      parts_{graph.width(), comm.size()},
      first_(parts_.first(comm.rank())),
      count_(parts_.count(comm.rank())),
      length_(options.output_bytes / stamp_bytes),
      kernel_(options.kernel),
      damage_(options.damage) {
  QUINTET_CHECK(options.output_bytes >= stamp_bytes && options.output_bytes % stamp_bytes == 0,
                "output_bytes: an output is full of stamps of {} bytes; expected a multiple of them, not {}",
                stamp_bytes, options.output_bytes);
  QUINTET_CHECK(std::int64_t{options.output_bytes} * graph.width() <=
                    static_cast<std::int64_t>(RepeatedMessages::max_bytes),
                "output_bytes: {} of {} points are more than a message can have ({} bytes)",
                options.output_bytes, graph.width(), RepeatedMessages::max_bytes);
  if (damage_)
    QUINTET_CHECK(0 < damage_->step && damage_->step < graph.steps() &&
                      graph.window(damage_->step).has(damage_->point) &&
                      !graph.inputs(damage_->step, damage_->point).empty(),
                  "damage: the task of step {} and point {} has no input to be damaged", damage_->step,
                  damage_->point);
  make_steps(options);
  make_buffers();
  for (const auto& step : steps_)
    for (const int parity : {0, 1}) connect(*step, parity);
}

Runner::~Runner() = default;

Stamp* Runner::output(int step, int point) {
  return outputs_[step & 1].data() + std::ptrdiff_t{point} * length_;
}

// ---- what is made before the loop ----

void Runner::make_steps(const RunnerOptions& options) {
  std::map<std::tuple<int, int, int, int, int>, Step*> known;
  for (int t = 0; t < graph_.steps(); ++t) {
    const Window before = graph_.window(t - 1), now = graph_.window(t);
    const bool is_damaged = damage_ && damage_->step == t;
    Step*& step = known[{graph_.set_of(t), before.first, before.count, now.first, now.count}];
    if (step && !is_damaged) {
      step_.push_back(step);
      continue;
    }
    auto made = std::make_unique<Step>();
    made->plan = plan_step(graph_, t, parts_, comm_.rank(), options.messages);
    made->first_needed.push_back(0);
    for (const int point : made->plan.tasks) {
      const auto needed = graph_.inputs(t, first_ + point);
      made->needed.insert(made->needed.end(), needed.begin(), needed.end());
      made->first_needed.push_back(made->needed.size());
    }
    if (is_damaged)
      spoil(*damage_, *made);
    else
      step = made.get();
    step_.push_back(made.get());
    steps_.push_back(std::move(made));
  }
}

void Runner::spoil(const Damage& damage, Step& step) const {
  auto& plan = step.plan;
  const auto task = std::find(plan.tasks.begin(), plan.tasks.end(), damage.point - first_);
  if (task == plan.tasks.end()) return;  // another rank's
  const auto k = task - plan.tasks.begin();
  const int at = plan.first_input[k];
  const auto move_later = [&](int by) {
    std::for_each(plan.first_input.begin() + k + 1, plan.first_input.end(),
                  [by](int& first) { first += by; });
  };
  if (damage.kind == Damage::Kind::missing) {
    plan.inputs.erase(plan.inputs.begin() + at);
    move_later(-1);
  } else if (damage.kind == Damage::Kind::surplus) {
    plan.inputs.insert(plan.inputs.begin() + at, plan.inputs[at]);
    move_later(1);
  } else if (damage.kind == Damage::Kind::wrong_step) {
    step.wrong_input = at;
  }
}

void Runner::make_buffers() {
  std::size_t n_inbox = 0, n_outbox = 0;
  for (const auto& step : steps_) {
    n_inbox = std::max<std::size_t>(n_inbox, step->plan.n_inbox);
    n_outbox = std::max(n_outbox, step->plan.outbox.size());
  }
  const std::size_t count = count_, length = length_;
  for (const std::size_t parity : {0, 1}) {
    outputs_[parity].resize(count * length);
    inbox_[parity].resize(n_inbox * length);
    outbox_[parity].resize(n_outbox * length);
  }
  if (kernel_.kernel != KernelKind::memory_bound) kernel_.scratch_bytes = 0;  // nobody else has one
  scratch_.resize(count * kernel_.scratch_bytes, std::byte{1});
  results_.resize(count);
}

/// Pointers and messages of a kind of step, where its number is even or odd.
void Runner::connect(Step& step, int parity) {
  const std::size_t here = parity;
  const std::size_t length = length_;
  const auto& plan = step.plan;
  for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
    const bool wrong = static_cast<int>(k) == step.wrong_input;
    const int where = plan.inputs[k];
    step.inputs[here].push_back(where >= 0 ? output(wrong ? parity : parity + 1, where)
                                           : inbox_[wrong ? 1 - here : here].data() +
                                                 std::ptrdiff_t{-1 - where} * length_);
  }
  auto& receives = step.receives[here] = std::make_unique<RepeatedMessages>(comm_);
  for (const auto& [partner, first, count] : plan.receives)
    receives->receive(std::as_writable_bytes(
                          std::span(inbox_[here].data() + std::ptrdiff_t{first} * length_, count * length)),
                      partner, tag);

  auto& sends = step.sends[here] = std::make_unique<RepeatedMessages>(comm_);
  step.copies.clear();
  for (const auto& [partner, first, count] : plan.sends) {
    const auto points = std::span(plan.outbox).subspan(first, count);
    const Stamp* from = output(parity + 1, points.front());
    if (!follow_each_other(points)) {
      from = outbox_[1 - here].data() + std::ptrdiff_t{first} * length_;
      for (int k = 0; k < count; ++k) step.copies.push_back({points[k], first + k});
    }
    sends->send(bytes_of(from, count * length), partner, tag);
  }
}

// ---- the loop ----

double Runner::run(std::int64_t iterations) {
  kernel_.iterations = iterations;
  const int n_steps = graph_.steps();
  const auto receives = [&](int t) -> RepeatedMessages& { return *step_[t]->receives[t & 1]; };
  const auto sends = [&](int t) -> RepeatedMessages& { return *step_[t]->sends[t & 1]; };
  comm_.barrier();
  const double start = seconds();
  if (n_steps > 1) receives(1).start();
  for (int t = 0; t < n_steps; ++t) {
    const StepPlan& plan = step_[t]->plan;
    if (t > 0) sends(t - 1).wait();  // their memory is written now: outputs of t - 2
    compute(t, 0, plan.n_interior);
    receives(t).wait();
    compute(t, plan.n_interior, plan.tasks.size());
    if (t + 1 < n_steps) send(t + 1);
    if (t + 2 < n_steps) receives(t + 2).start();
  }
  sends(n_steps - 1).wait();
  comm_.barrier();
  return comm_.maximum(seconds() - start);
}

/// Send what other ranks need for `step`: outputs of the step before.
void Runner::send(int step) {
  Step& plan = *step_[step];
  auto& outbox = outbox_[(step - 1) & 1];
  for (const auto& [from, to] : plan.copies)
    std::copy_n(output(step - 1, from), length_, outbox.data() + std::ptrdiff_t{to} * length_);
  plan.sends[step & 1]->start();
}

void Runner::compute(int step, int begin, int end) {
  if (begin == end) return;
  Step& plan = *step_[step];
  if (damage_ && damage_->step == step) flip_byte(plan, step, begin, end);
  if (Exec().concurrency() == 1) {  // the shortest tasks would feel a launch
    for (int task = begin; task < end; ++task)
      if (!compute_one(plan, step, task)) complain(plan, step, task);
    return;
  }
  Kokkos::parallel_for("tasks::compute", Kokkos::RangePolicy<Exec>(begin, end), [&](int task) {
    if (!compute_one(plan, step, task)) wrong_ = task;
  });
  Exec().fence();
  if (wrong_ >= 0) complain(plan, step, wrong_);
}

bool Runner::compute_one(const Step& plan, int step, int task) {
  if (!inputs_are_right(step, plan.needed_by(task), plan.inputs_of(step, task), length_)) return false;
  const int point = plan.plan.tasks[task];
  std::fill_n(output(step, point), length_, Stamp{step, first_ + point});
  const std::size_t bytes = kernel_.scratch_bytes, p = point;
  results_[p] = run_kernel(kernel_, step, first_ + point, std::span(scratch_).subspan(p * bytes, bytes));
  return true;
}

void Runner::complain(const Step& plan, int step, int task) const {
  throw InternalError(what_is_wrong(step, first_ + plan.plan.tasks[task], plan.needed_by(task),
                                    plan.inputs_of(step, task), length_));
}

/// Damage::Kind::wrong_byte: in the first input of its task, if that is one of these.
void Runner::flip_byte(const Step& plan, int step, int begin, int end) const {
  if (damage_->kind != Damage::Kind::wrong_byte) return;
  for (int task = begin; task < end; ++task) {
    if (plan.plan.tasks[task] != damage_->point - first_) continue;
    auto* bytes = reinterpret_cast<std::byte*>(const_cast<Stamp*>(plan.inputs_of(step, task).front()));
    bytes[length_ * stamp_bytes - 3] ^= std::byte{1};
  }
}

double Runner::work(std::int64_t iterations) const {
  KernelOptions kernel = kernel_;
  kernel.iterations = iterations;
  double sum = 0;
  for (int t = 0; t < graph_.steps(); ++t)
    for (const int point : step_[t]->plan.tasks) sum += work_of(kernel, t, first_ + point);
  return comm_.sum(sum);
}

}  // namespace quintet::tasks
