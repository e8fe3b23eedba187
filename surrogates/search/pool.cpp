#include "surrogates/search/pool.hpp"

#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <thread>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/mailbox.hpp"
#include "io/parallel/together.hpp"

namespace quintet::search {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double look_every_s = 0.05;  ///< for a reason to stop
constexpr double nap_s = 0.0005;  ///< between looks into the mailbox: MPI can wait only by burning a core

/// The head of a letter between rank 0 and another.
struct Head {
  enum class Kind : int { task, release, ended, must_stop, failed };
  Kind kind = Kind::task;
  int worker = 0;  ///< of the rank
  TaskEnd end = TaskEnd::done;
  std::uint32_t message_bytes = 0;
  std::int64_t id = 0;
  double busy_s = 0, cpu_s = 0;
};

std::vector<std::byte> letter(Head head, const std::string& message, std::span<const std::byte> payload) {
  head.message_bytes = message.size();
  std::vector<std::byte> bytes(sizeof head + message.size() + payload.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, message.data(), message.size());
  std::copy(payload.begin(), payload.end(), bytes.begin() + (sizeof head + message.size()));
  return bytes;
}

Head head_of(std::span<const std::byte> bytes) {
  Head head;
  if (bytes.size() < sizeof head) throw InternalError(fmt::format("a letter of {} bytes", bytes.size()));
  std::memcpy(&head, bytes.data(), sizeof head);
  if (bytes.size() - sizeof head < head.message_bytes) throw InternalError("a letter that was cut");
  return head;
}
std::string message_of(std::span<const std::byte> bytes, const Head& head) {
  return {reinterpret_cast<const char*>(bytes.data()) + sizeof head, head.message_bytes};
}
std::span<const std::byte> payload_of(std::span<const std::byte> bytes, const Head& head) {
  return bytes.subspan(sizeof head + head.message_bytes);
}

/// Asks a question only now and then.
class Occasionally {
 public:
  explicit Occasionally(const std::function<bool()>& question) : question_(question) {}
  bool operator()() {
    const auto now = Clock::now();
    if (!question_ || std::chrono::duration<double>(now - asked_).count() < look_every_s) return false;
    asked_ = now;
    return question_();
  }

 private:
  const std::function<bool()>& question_;
  Clock::time_point asked_ = Clock::now();
};

}  // namespace

struct Pool::Implementation {
  Implementation(const Comm& comm, const PoolOptions& options, const Work& work)
      : comm(comm), options(options), mailbox(comm) {
    const bool in_place = options.kind == WorkerKind::in_place;
    per_rank = in_place ? 1 : options.workers_per_rank;
    first_rank = in_place && comm.size() > 1 ? 1 : 0;
    together(comm, [&] {
      QUINTET_CHECK(per_rank >= 1, "{} workers on a rank; expected at least 1", per_rank);
      if (comm.rank() >= first_rank)
        local = row_of(worker_kinds, options.kind)
                    .make({per_rank, options.task_bytes, options.result_bytes, options.time_limit_s}, work);
    });
    if (!comm.is_root()) return;
    const std::size_t n = n_workers();
    jobs.resize(n);
    slots.resize(2 * n);  // those given away, and those being filled meanwhile
    for (auto& slot : slots) slot.bytes.resize(options.result_bytes);
    for (std::size_t s = slots.size(); s-- > 0;) free_slots.push_back(s);
    for (int w = 0; w < n_workers(); ++w) free_workers.push_back(w);
  }

  [[nodiscard]] int n_workers() const { return per_rank * (comm.size() - first_rank); }
  [[nodiscard]] int rank_of(int worker) const { return first_rank + worker / per_rank; }
  [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }

  /// Give waiting tasks to free workers, as long as there is a slot for what comes of them.
  void dispatch() {
    while (!waiting.empty() && !free_workers.empty() && !free_slots.empty()) {
      const int worker = free_workers.front();
      free_workers.pop_front();
      auto [id, task] = std::move(waiting.front());
      waiting.pop_front();
      jobs[worker] = Job{id, now(), free_slots.back()};
      free_slots.pop_back();
      const int rank = rank_of(worker);
      if (rank == 0) {
        local->start(worker, task);
      } else {
        Head head;
        head.worker = worker % per_rank;
        head.id = id;
        mailbox.send(letter(head, "", task), rank);
      }
    }
  }

  /// A worker's task has ended: its result goes to its slot.
  void arrived(int worker, TaskEnd end, std::span<const std::byte> result, std::string message, double busy_s,
               double cpu_s) {
    auto& job = jobs[worker];
    if (!job) throw InternalError(fmt::format("a result of worker {}, which had no task", worker));
    auto& slot = slots[job->slot];
    if (result.size() > slot.bytes.size())
      throw InternalError(
          fmt::format("a result of {} bytes; {} were asked for", result.size(), slot.bytes.size()));
    std::copy(result.begin(), result.end(), slot.bytes.begin());
    const std::span<const std::byte> kept(slot.bytes.data(), result.size());
    slot.ready = {job->id, worker, end, kept, std::move(message), job->start_s, job->start_s + busy_s,
                  busy_s,  cpu_s};
    ready.push_back(job->slot);
    busy_s_ += busy_s;
    job.reset();
    free_workers.push_back(worker);
  }

  void read_letters() {
    while (const auto mail = mailbox.receive()) {
      const Head head = head_of(mail->bytes);
      const std::string message = message_of(mail->bytes, head);
      switch (head.kind) {
        case Head::Kind::ended:
          arrived((mail->source - first_rank) * per_rank + head.worker, head.end,
                  payload_of(mail->bytes, head), message, head.busy_s, head.cpu_s);
          continue;
        case Head::Kind::must_stop:
          must_stop = true;
          continue;
        case Head::Kind::failed:
          throw InternalError(fmt::format("rank {} gave up: {}", mail->source, message));
        case Head::Kind::task:
        case Head::Kind::release:
          break;
      }
      throw InternalError("a letter that is none for rank 0");
    }
  }

  /// Tasks of this rank's own workers that have ended.
  template <class Tell>
  void wait_for_local(double timeout_s, const Tell& tell) {
    if (!local) return std::this_thread::sleep_for(std::chrono::duration<double>(timeout_s));
    for (auto& ended : local->wait(timeout_s)) tell(ended);
  }

  Comm comm;
  PoolOptions options;
  Mailbox mailbox;
  std::unique_ptr<LocalWorkers> local;
  int per_rank = 1, first_rank = 0;
  Clock::time_point begin = Clock::now();

  // Rank 0:
  struct Job {
    std::int64_t id;
    double start_s;
    std::size_t slot;
  };
  struct Slot {
    std::vector<std::byte> bytes;
    Ready ready;
  };
  std::vector<std::optional<Job>> jobs;  ///< by worker
  std::vector<Slot> slots;
  std::vector<std::size_t> free_slots;
  std::deque<std::size_t> ready;    ///< slots, in order of arrival
  std::vector<std::size_t> handed;  ///< slots that the last receive() gave away
  std::vector<Ready> block;
  std::deque<int> free_workers;
  std::deque<std::pair<std::int64_t, std::vector<std::byte>>> waiting;
  double busy_s_ = 0;
  bool must_stop = false;

  // The others:
  std::vector<std::int64_t> tasks;  ///< id by worker of this rank
  bool has_asked_to_stop = false;
};

Pool::Pool(const Comm& comm, const PoolOptions& options, const Work& work)
    : implementation_(std::make_unique<Implementation>(comm, options, work)) {}
Pool::~Pool() = default;

int Pool::n_workers() const { return implementation_->n_workers(); }
double Pool::now() const { return implementation_->now(); }

int Pool::n_free() const {
  const auto& it = *implementation_;
  return static_cast<int>(it.free_workers.size()) - static_cast<int>(it.waiting.size());
}

int Pool::n_outstanding() const {
  const auto& it = *implementation_;
  return static_cast<int>(it.waiting.size() + it.ready.size()) + n_workers() -
         static_cast<int>(it.free_workers.size());
}

void Pool::send(std::int64_t id, std::span<const std::byte> task) {
  auto& it = *implementation_;
  if (task.size() > it.options.task_bytes)
    throw InternalError(
        fmt::format("a task of {} bytes; {} were asked for", task.size(), it.options.task_bytes));
  it.waiting.emplace_back(id, std::vector<std::byte>(task.begin(), task.end()));
  it.dispatch();
}

std::span<const Ready> Pool::receive(int m, const std::function<bool()>& give_up) {
  auto& it = *implementation_;
  if (m < 1 || m > n_outstanding() || m > n_workers())
    throw InternalError(fmt::format("{} results asked for; {} tasks are outstanding, {} fit", m,
                                    n_outstanding(), n_workers()));
  for (const std::size_t slot : it.handed) it.free_slots.push_back(slot);
  it.handed.clear();
  it.block.clear();
  Occasionally must_stop(give_up);
  const auto tell = [&](LocalWorkers::Ended& ended) {
    it.arrived(ended.worker, ended.end, ended.result, std::move(ended.message), ended.seconds,
               ended.cpu_seconds);
  };
  for (;;) {
    it.dispatch();
    it.read_letters();
    if (std::ssize(it.ready) >= m || it.must_stop || must_stop()) break;
    try {
      it.wait_for_local(it.comm.size() > 1 ? nap_s : look_every_s, tell);
    } catch (const Interrupted&) {  // in place: the task was left
      it.must_stop = true;
    }
  }
  while (!it.ready.empty() && std::ssize(it.handed) < m) {
    it.handed.push_back(it.ready.front());
    it.block.push_back(it.slots[it.ready.front()].ready);
    it.ready.pop_front();
  }
  it.dispatch();
  return it.block;
}

void Pool::release() {
  auto& it = *implementation_;
  Head head;
  head.kind = Head::Kind::release;
  for (int rank = 1; rank < it.comm.size(); ++rank) it.mailbox.send(letter(head, "", {}), rank);
}

void Pool::serve(const std::function<bool()>& give_up) {
  auto& it = *implementation_;
  it.tasks.resize(it.per_rank);
  Occasionally must_stop(give_up);
  const auto say_stop = [&] {
    Head head;
    head.kind = Head::Kind::must_stop;
    if (!std::exchange(it.has_asked_to_stop, true)) it.mailbox.send(letter(head, "", {}), 0);
  };
  const auto tell = [&](LocalWorkers::Ended& ended) {
    Head head;
    head.kind = Head::Kind::ended;
    head.worker = ended.worker;
    head.end = ended.end;
    head.id = it.tasks[ended.worker];
    head.busy_s = ended.seconds;
    head.cpu_s = ended.cpu_seconds;
    it.mailbox.send(letter(head, ended.message, ended.result), 0);
  };
  try {
    for (;;) {
      while (const auto mail = it.mailbox.receive()) {
        const Head head = head_of(mail->bytes);
        if (head.kind == Head::Kind::release) return;
        it.tasks[head.worker] = head.id;
        it.local->start(head.worker, payload_of(mail->bytes, head));
      }
      if (must_stop()) say_stop();
      try {
        it.wait_for_local(nap_s, tell);
      } catch (const Interrupted&) {
        say_stop();
      }
    }
  } catch (const std::exception& error) {
    Head head;
    head.kind = Head::Kind::failed;
    it.mailbox.send(letter(head, error.what(), {}), 0);
    throw;
  }
}

double Pool::busy_seconds() const {
  const auto& it = *implementation_;
  double seconds = it.busy_s_;
  for (const auto& job : it.jobs)
    if (job) seconds += it.now() - job->start_s;
  return seconds;
}

Comm::Counter Pool::traffic() const { return implementation_->mailbox.sent(); }

}  // namespace quintet::search
