#include "surrogates/bridge/swap_space.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "io/log/error.hpp"

namespace quintet {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Zeros without memory, as far as whole pages go.
void drop(std::byte* place, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(place), end = address + bytes,
             first = (address + page - 1) / page * page, last = end / page * page;
  if (first >= last) {
    std::memset(place, 0, bytes);
    return;
  }
  std::memset(place, 0, first - address);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(last), 0, end - last);
}

}  // namespace

struct SwapSpace::State {
  /// An allocation of torch's.
  struct Part {
    std::byte* place = nullptr;
    std::size_t bytes = 0;
    std::vector<std::byte> far{};  ///< while it is away
    bool is_counted = true;        ///< as memory of torch's
  };
  struct Bundle {
    std::vector<std::unique_ptr<Part>> parts{};
    int n_under_way = 0;  ///< copies asked for and not ended
    bool leaves = false;
    bool is_copied = false;  ///< at this moment: no part may go
  };

  State(Ledger& ledger_, double bandwidth_) : ledger(ledger_), bandwidth(bandwidth_) {}

  void copy(Part& part, bool leaves) const {
    const auto bytes = static_cast<std::int64_t>(part.bytes);
    if (leaves) {
      ledger.note(Tier::host, ByteCategory::staging, bytes);
      part.far.assign(part.place, part.place + part.bytes);
      drop(part.place, part.bytes);
    } else {
      std::memcpy(part.place, part.far.data(), part.bytes);
      part.far = {};
      ledger.note(Tier::host, ByteCategory::staging, -bytes);
    }
  }

  /// The link's thread.
  void copy_bundles() {
    std::unique_lock lock(mutex);
    Clock::time_point end = Clock::now();
    while (true) {
      changed.wait(lock, [this] { return ends || !queue.empty(); });
      if (queue.empty()) return;
      const auto [number, leaves] = queue.front();
      Bundle& bundle = bundles[static_cast<std::size_t>(number)];
      bundle.is_copied = true;
      lock.unlock();
      const auto begin = std::max(end, Clock::now());
      std::size_t bytes = 0;
      for (const auto& part : bundle.parts) {
        copy(*part, leaves);
        bytes += part->bytes;
      }
      end = begin + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(static_cast<double>(bytes) / bandwidth));
      std::this_thread::sleep_until(end);
      end = std::max(end, Clock::now() - std::chrono::milliseconds(1));  // a late waking is not the link's
      lock.lock();
      bundle.is_copied = false;
      --bundle.n_under_way;
      traffic.bytes += static_cast<std::int64_t>(bytes);
      traffic.link += std::chrono::duration<double>(end - begin).count();
      queue.pop_front();
      changed.notify_all();
    }
  }

  void ask(int number, bool leaves) {
    const std::lock_guard lock(mutex);
    Bundle& bundle = bundles[static_cast<std::size_t>(number)];
    ++bundle.n_under_way;
    bundle.leaves = leaves;
    queue.emplace_back(number, leaves);
    changed.notify_all();
  }

  void count(Part& part, bool counted) const {
    if (std::exchange(part.is_counted, counted) == counted) return;
    memory->count(counted ? static_cast<std::int64_t>(part.bytes) : -static_cast<std::int64_t>(part.bytes));
  }

  Ledger& ledger;
  double bandwidth;
  TorchMemory* memory = nullptr;
  bool is_open = false;
  std::map<const void*, std::size_t> open{};  ///< bytes of what was allocated since begin()
  std::map<const void*, int> bundle_of{};     ///< by place
  std::deque<Bundle> bundles{};
  mutable std::mutex mutex{};  ///< of what follows, and of bundles but for a part's is_counted
  std::condition_variable changed{};
  std::deque<std::pair<int, bool>> queue{};  ///< bundle, whether it leaves; the first one is at work
  bool ends = false;
  Traffic traffic{};
  std::thread link{};
};

SwapSpace::SwapSpace(Ledger& ledger, double bandwidth) : state_(std::make_unique<State>(ledger, bandwidth)) {
  state_->link = std::thread([state = state_.get()] { state->copy_bundles(); });
}

SwapSpace::~SwapSpace() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->changed.notify_all();
  state_->link.join();
}

void SwapSpace::start(TorchMemory& memory) {
  auto& state = *state_;
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.queue.empty(); });
  if (!state.bundle_of.empty()) throw InternalError("a pass begins while tensors of another one are away");
  state.bundles.clear();
  state.open.clear();
  state.is_open = false;
  state.memory = &memory;
  memory.observe(this);
}

void SwapSpace::begin() {
  state_->open.clear();
  state_->is_open = true;
}

int SwapSpace::end(const std::vector<at::Tensor>& stay) {
  auto& state = *state_;
  state.is_open = false;
  for (const auto& tensor : stay) state.open.erase(tensor.storage().data());
  const std::lock_guard lock(state.mutex);
  const int number = static_cast<int>(state.bundles.size());
  auto& bundle = state.bundles.emplace_back();
  for (const auto& [place, bytes] : state.open) {
    auto* const bytes_there = static_cast<std::byte*>(const_cast<void*>(place));
    bundle.parts.push_back(std::make_unique<State::Part>(State::Part{bytes_there, bytes}));
    state.bundle_of[place] = number;
  }
  state.open.clear();
  return number;
}

void SwapSpace::allocated(void* place, std::size_t bytes) {
  if (state_->is_open) state_->open[place] = bytes;
}

void SwapSpace::freed(void* place) {
  auto& state = *state_;
  state.open.erase(place);
  const auto found = state.bundle_of.find(place);
  if (found == state.bundle_of.end()) return;
  std::unique_lock lock(state.mutex);
  State::Bundle& bundle = state.bundles[static_cast<std::size_t>(found->second)];
  state.changed.wait(lock, [&] { return !bundle.is_copied; });
  const auto part = std::find_if(bundle.parts.begin(), bundle.parts.end(),
                                 [&](const auto& p) { return p->place == place; });
  if (!(*part)->far.empty())
    state.ledger.note(Tier::host, ByteCategory::staging, -static_cast<std::int64_t>((*part)->bytes));
  state.count(**part, true);  // who counts takes it off now
  bundle.parts.erase(part);
  state.bundle_of.erase(found);
}

void SwapSpace::send(int bundle) { state_->ask(bundle, true); }

void SwapSpace::fetch(int bundle) {
  static_cast<void>(is_done(bundle));  // what has left is counted as gone first
  for (const auto& part : state_->bundles[static_cast<std::size_t>(bundle)].parts) state_->count(*part, true);
  state_->ask(bundle, false);
}

bool SwapSpace::is_done(int bundle) {
  const auto& one = state_->bundles[static_cast<std::size_t>(bundle)];
  {
    const std::lock_guard lock(state_->mutex);
    if (one.n_under_way > 0) return false;
  }
  if (one.leaves)
    for (const auto& part : one.parts) state_->count(*part, false);
  return true;
}

void SwapSpace::wait(int bundle) {
  const auto begin = Clock::now();
  {
    std::unique_lock lock(state_->mutex);
    const auto& one = state_->bundles[static_cast<std::size_t>(bundle)];
    state_->changed.wait(lock, [&] { return one.n_under_way == 0; });
    state_->traffic.waited += seconds_since(begin);
  }
  static_cast<void>(is_done(bundle));
}

SwapSpace::Traffic SwapSpace::traffic() const {
  const std::lock_guard lock(state_->mutex);
  return state_->traffic;
}

}  // namespace quintet
