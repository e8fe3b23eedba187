#include "surrogates/environments/environment_pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::environments {

namespace {

/// An environment and where its episode stands; touched by the thread that has its task alone.
struct Seat {
  std::unique_ptr<Environment> environment;
  std::int64_t episode = -1;
  bool over = true;  ///< the next task resets
  double total = 0;
  int length = 0;
  std::vector<float> action;
};

/// Rows of one batch.
struct Block {
  std::vector<int> ids, episode_length;
  std::vector<float> observations, reward;
  std::vector<double> episode_return;
  std::vector<std::uint8_t> terminated, truncated;
  int ready = 0;  ///< rows written; guarded by the pool's mutex
};

struct Task {
  int id = 0;
  std::int64_t row = 0;  ///< counted over all batches; of an asynchronous pool claimed after the step
};

/// Tasks that a thread of a synchronous pool takes under one lock. Of an asynchronous one it takes one: what
/// is done would wait for the slowest of them.
constexpr std::size_t most_at_once = 16;

}  // namespace

struct EnvironmentPool::Implementation {
  Implementation(std::vector<std::unique_ptr<Environment>> environments, const EnvironmentPoolOptions& chosen)
      : options(chosen) {
    QUINTET_CHECK(!environments.empty(), "a pool of 0 environments; expected at least 1");
    const int n = environments.size();
    QUINTET_CHECK(options.batch >= 1 && options.batch <= n,
                  "batches of {} of {} environments; expected 1 to {}", options.batch, n, n);
    QUINTET_CHECK(options.threads >= 1 && options.threads <= 4096, "{} threads; expected 1 to 4096",
                  options.threads);
    if (options.comm) rank = options.comm->rank(), n_ranks = options.comm->size();
    QUINTET_CHECK(n_ranks == 1 || options.batch == n,
                  "batches of {} of {} environments on {} ranks; expected all at once, or one rank",
                  options.batch, n, n_ranks);
    for (int id = rank; id < n; id += n_ranks) ++n_own;
    n_observed = environments.front()->n_observed();
    n_actions = environments.front()->n_actions();
    for (auto& environment : environments) {
      QUINTET_CHECK(environment->n_observed() == n_observed && environment->n_actions() == n_actions,
                    "an environment with {} observations and {} actions among those with {} and {}",
                    environment->n_observed(), environment->n_actions(), n_observed, n_actions);
      seats.push_back(
          {std::move(environment), options.first_episode - 1, true, 0, 0, std::vector<float>(n_actions)});
    }
    under_way.assign(n, 0);
    queue.resize(n);
    // Rows claimed and not received are at most N; one more block is the caller's.
    const std::size_t m = options.batch, n_blocks = (n + m - 1) / m + 1;
    for (std::size_t k = 0; k < n_blocks; ++k) {
      Block block;
      block.ids.resize(m), block.episode_length.resize(m), block.reward.resize(m);
      block.observations.resize(m * n_observed), block.episode_return.resize(m);
      block.terminated.resize(m), block.truncated.resize(m);
      blocks.push_back(std::move(block));
    }
  }

  ~Implementation() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    task_ready.notify_all();
    for (auto& thread : threads) thread.join();
  }

  [[nodiscard]] bool synchronous() const { return options.batch == std::ssize(seats); }
  [[nodiscard]] bool owns(int id) const { return id % n_ranks == rank; }
  /// Rows of a batch that this rank writes.
  [[nodiscard]] int n_awaited() const { return n_ranks == 1 ? options.batch : n_own; }
  [[nodiscard]] Block& block_of(std::int64_t row) { return blocks[(row / options.batch) % blocks.size()]; }

  /// Step, or reset, what `task` names.
  static Outcome step(Seat& seat, int id, std::uint64_t seed) {
    if (seat.over) {
      seat.environment->reset({seed, id, ++seat.episode});
      seat.over = false;
      seat.total = 0;
      seat.length = 0;
      return {};
    }
    const Outcome outcome = seat.environment->step(seat.action);
    seat.total += outcome.reward;
    ++seat.length;
    seat.over = outcome.done();
    return outcome;
  }

  void write(const Task& task, const Outcome& outcome) {
    Block& block = block_of(task.row);
    const Seat& seat = seats[task.id];
    const std::size_t k = task.row % options.batch, o = n_observed;
    seat.environment->observe(std::span<float>(block.observations).subspan(k * o, o));
    block.ids[k] = task.id;
    block.reward[k] = static_cast<float>(outcome.reward);
    block.terminated[k] = outcome.terminated ? 1 : 0;
    block.truncated[k] = outcome.truncated ? 1 : 0;
    block.episode_return[k] = seat.total;
    block.episode_length[k] = seat.length;
  }

  /// Take some tasks, do them, tell of them. `lock` is held at the call and after it, not in between.
  void work(std::unique_lock<std::mutex>& lock) {
    const std::size_t share = synchronous() ? n_queued / (2 * options.threads) : 1;
    const std::size_t n = std::clamp(share, std::size_t{1}, most_at_once);
    Task tasks[most_at_once];
    Outcome outcomes[most_at_once];
    for (std::size_t k = 0; k < n; ++k) {
      tasks[k] = queue[first];
      first = (first + 1) % queue.size();
    }
    n_queued -= n;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      for (std::size_t k = 0; k < n; ++k) outcomes[k] = step(seats[tasks[k].id], tasks[k].id, options.seed);
      if (!synchronous()) {
        const std::int64_t row = claimed.fetch_add(static_cast<std::int64_t>(n));
        for (std::size_t k = 0; k < n; ++k) tasks[k].row = row + static_cast<std::int64_t>(k);
      }
      for (std::size_t k = 0; k < n; ++k) write(tasks[k], outcomes[k]);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown) {
      if (!error) error = thrown;
      batch_ready.notify_one();
      return;
    }
    bool complete = false;
    for (std::size_t k = 0; k < n; ++k) complete |= ++block_of(tasks[k].row).ready == n_awaited();
    if (complete) batch_ready.notify_one();
  }

  /// Give the rows of this rank to all, and take theirs. Collective.
  void share(Block& block) {
    std::vector<double> mine;
    const std::size_t o = n_observed;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (!owns(order[k])) continue;
      mine.insert(mine.end(),
                  {double(k), double(order[k]), block.reward[k], double(block.terminated[k]),
                   double(block.truncated[k]), block.episode_return[k], double(block.episode_length[k])});
      mine.insert(mine.end(), &block.observations[k * o], &block.observations[k * o] + o);
    }
    const auto all = options.comm->all_gather(std::span<const double>(mine));
    for (auto row = all.begin(); row != all.end(); row += 7 + n_observed) {
      const std::size_t k = row[0];
      block.ids[k] = row[1], block.reward[k] = row[2];
      block.terminated[k] = row[3], block.truncated[k] = row[4];
      block.episode_return[k] = row[5], block.episode_length[k] = row[6];
      std::copy_n(row + 7, o, &block.observations[k * o]);
    }
    order.clear();
  }

  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      ++n_idle;
      task_ready.wait(lock, [this] { return stopping || (n_queued > 0 && !error); });
      --n_idle;
      if (stopping) return;
      while (n_queued > 0 && !error && !stopping) work(lock);
    }
  }

  EnvironmentPoolOptions options;
  int n_observed = 0, n_actions = 0;
  int rank = 0, n_ranks = 1, n_own = 0;  ///< of the ranks that share the environments; those of this one
  std::vector<int> order;                ///< environments of the batch under way, as they were sent
  std::vector<Seat> seats;
  std::vector<Block> blocks;
  std::vector<std::uint8_t> under_way;                   ///< [N]: sent, not received; of the caller alone
  std::int64_t n_under_way = 0, sent = 0, received = 0;  ///< likewise; in environments
  std::atomic<std::int64_t> claimed{0};
  std::mutex mutex;
  std::condition_variable task_ready, batch_ready;
  std::vector<Task> queue;  ///< a ring of N; with what follows guarded by the mutex
  std::size_t first = 0, n_queued = 0;
  int n_idle = 0;
  bool stopping = false;
  std::exception_ptr error;
  std::vector<std::thread> threads;
};

EnvironmentPool::EnvironmentPool(std::vector<std::unique_ptr<Environment>> environments,
                                 const EnvironmentPoolOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(environments), options)) {
  Implementation& pool = *implementation_;
  const int n = pool.synchronous() ? options.threads - 1 : options.threads;
  for (int t = 0; t < n; ++t) try {
      pool.threads.emplace_back([&pool] { pool.serve(); });
    } catch (const std::system_error& error) {
      throw ResourceError(fmt::format("thread {} of {} cannot be made: {}", t + 1, n, error.what()));
    }
}

EnvironmentPool::~EnvironmentPool() = default;

int EnvironmentPool::size() const { return implementation_->seats.size(); }
int EnvironmentPool::n_observed() const { return implementation_->n_observed; }
int EnvironmentPool::n_actions() const { return implementation_->n_actions; }
bool EnvironmentPool::synchronous() const { return implementation_->synchronous(); }

void EnvironmentPool::send(std::span<const float> actions, std::span<const int> ids) {
  Implementation& pool = *implementation_;
  const std::size_t a = pool.n_actions;
  QUINTET_CHECK(actions.size() == ids.size() * a,
                "{} numbers as actions of {} environments; expected {} each", actions.size(), ids.size(), a);
  std::size_t n_marked = 0;
  try {
    for (const int id : ids) {
      QUINTET_CHECK(id >= 0 && id < size(), "environment {}: there is none; expected 0 to {}", id,
                    size() - 1);
      QUINTET_CHECK(pool.under_way[id] == 0,
                    "environment {} was sent twice; receive() its result before it is sent again", id);
      pool.under_way[id] = 1;
      ++n_marked;
    }
  } catch (...) {
    for (std::size_t k = 0; k < n_marked; ++k) pool.under_way[ids[k]] = 0;
    throw;
  }
  const std::unique_lock lock(pool.mutex);
  if (pool.error) std::rethrow_exception(pool.error);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    auto& seat = pool.seats[ids[k]];
    std::copy_n(actions.begin() + k * a, a, seat.action.begin());
    const std::int64_t row = pool.sent++;
    if (pool.n_ranks > 1) pool.order.push_back(ids[k]);
    if (pool.owns(ids[k])) pool.queue[(pool.first + pool.n_queued++) % pool.queue.size()] = {ids[k], row};
  }
  pool.n_under_way += ids.size();
  if (pool.n_idle > 0) pool.task_ready.notify_all();
}

void EnvironmentPool::start() {
  QUINTET_CHECK(implementation_->sent == 0, "a pool starts once; {} tasks were sent", implementation_->sent);
  std::vector<int> ids(size());
  std::iota(ids.begin(), ids.end(), 0);
  send(std::vector<float>(ids.size() * n_actions()), ids);
}

Batch EnvironmentPool::receive() {
  Implementation& pool = *implementation_;
  const int m = pool.options.batch;
  QUINTET_CHECK(pool.n_under_way >= m,
                "a batch of {} was asked for, with {} environments under way; send more", m,
                pool.n_under_way);
  Block& block = pool.block_of(pool.received);
  {
    std::unique_lock lock(pool.mutex);
    const auto over = [&] { return pool.error || block.ready == pool.n_awaited(); };
    if (pool.synchronous())
      while (pool.n_queued > 0 && !over()) pool.work(lock);
    pool.batch_ready.wait(lock, over);
    if (pool.error) std::rethrow_exception(pool.error);
    block.ready = 0;
  }
  if (pool.n_ranks > 1) pool.share(block);
  for (const int id : block.ids) pool.under_way[id] = 0;
  pool.received += m;
  pool.n_under_way -= m;
  return {block.ids,       block.observations,   block.reward,        block.terminated,
          block.truncated, block.episode_return, block.episode_length};
}

}  // namespace quintet::environments
