#include "surrogates/bridge/swap_space.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "io/log/error.hpp"
#include "io/tiers/grain_memory.hpp"
#include "io/tiers/page_arena.hpp"

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

/// An allocation of torch's.
struct Part {
  std::byte* place = nullptr;
  std::size_t bytes = 0;
  std::span<std::byte> pages{};  ///< of an arena, which nobody else has
  std::byte* moved = nullptr;    ///< where they are meanwhile
  std::vector<std::byte> far{};  ///< or a copy
  std::size_t in_file = 0;       ///< where it goes
  bool is_away = false;
  bool is_counted = true;  ///< as memory of torch's
};

/// Where bytes are while they are away.
class Elsewhere {
 public:
  virtual ~Elsewhere() = default;
  virtual void take(Part& part) = 0;
  virtual void bring_back(Part& part) = 0;
  /// Release a part that is away and no longer wanted.
  virtual void forget(Part& part) = 0;
  /// When a move of so many bytes is over that began so and has been carried out by now.
  [[nodiscard]] virtual Clock::time_point end(Clock::time_point begin, std::size_t bytes) const = 0;
};

class OverLink : public Elsewhere {
 public:
  OverLink(Ledger& ledger, double bandwidth) : ledger_(ledger), bandwidth_(bandwidth) {}
  void take(Part& part) override {
    note(part, true);
    if (!part.pages.empty()) {
      void* const to =
          mremap(part.pages.data(), part.pages.size(), part.pages.size(), MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
      if (to != MAP_FAILED) {
        part.moved = static_cast<std::byte*>(to);
        return;
      }
    }
    part.far.assign(part.place, part.place + part.bytes);
    drop(part.place, part.bytes);
  }
  void bring_back(Part& part) override {
    const auto& pages = part.pages;
    if (!part.moved) {
      std::memcpy(part.place, part.far.data(), part.bytes);
    } else if (mremap(part.moved, pages.size(), pages.size(), MREMAP_MAYMOVE | MREMAP_FIXED, pages.data()) ==
               MAP_FAILED) {
      // What was mapped there may be gone by then.
      if (mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        throw ResourceError("memory cannot be mapped where activations were that come back");
      std::memcpy(part.place, part.moved, part.bytes);
      munmap(part.moved, pages.size());
    }
    end_of(part);
  }
  void forget(Part& part) override {
    if (part.moved) munmap(part.moved, part.pages.size());
    end_of(part);
  }
  [[nodiscard]] Clock::time_point end(Clock::time_point begin, std::size_t bytes) const override {
    const std::chrono::duration<double> takes(bytes / bandwidth_);
    return std::max(begin + std::chrono::duration_cast<Clock::duration>(takes), Clock::now());
  }

 private:
  void end_of(Part& part) {
    part.moved = nullptr;
    part.far = {};
    note(part, false);
  }
  void note(const Part& part, bool there) {
    const std::int64_t bytes = part.bytes;
    ledger_.note(Tier::host, ByteCategory::staging, there ? bytes : -bytes);
  }
  Ledger& ledger_;
  double bandwidth_;
};

class ToFile : public Elsewhere {
 public:
  ToFile(Ledger& ledger, std::shared_ptr<DiskFile> file)
      : ledger_(ledger),
        file_(std::move(file)),
        buffer_(grain_memory(buffer_bytes)),
        claim_(ledger.claim(Tier::host, ByteCategory::staging, buffer_bytes, "a buffer of what is swapped",
                            "expected a larger budget")) {}
  void take(Part& part) override {
    if (!part.pages.empty()) {
      file_->write(part.pages.data(), part.pages.size(), part.in_file);
      madvise(part.pages.data(), part.pages.size(), MADV_DONTNEED);
    } else {
      for_pieces(part, [&](std::byte* piece, std::size_t n, std::size_t at) {
        std::memcpy(buffer_.get(), piece, n);
        file_->write(buffer_.get(), whole_grains(n), at);
      });
      drop(part.place, part.bytes);
    }
    note(part, true);
  }
  void bring_back(Part& part) override {
    if (!part.pages.empty())
      file_->read(part.pages.data(), part.pages.size(), part.in_file);
    else
      for_pieces(part, [&](std::byte* piece, std::size_t n, std::size_t at) {
        file_->read(buffer_.get(), whole_grains(n), at);
        std::memcpy(piece, buffer_.get(), n);
      });
    note(part, false);
  }
  void forget(Part& part) override { note(part, false); }
  [[nodiscard]] Clock::time_point end(Clock::time_point, std::size_t) const override { return Clock::now(); }

 private:
  static constexpr std::size_t buffer_bytes = 1 << 20;
  template <class Body>
  static void for_pieces(const Part& part, Body&& body) {
    for (std::size_t from = 0; from < part.bytes; from += buffer_bytes)
      body(part.place + from, std::min(buffer_bytes, part.bytes - from), part.in_file + from);
  }
  void note(const Part& part, bool there) {
    const std::int64_t bytes = part.bytes;
    ledger_.note(Tier::file, ByteCategory::activations, there ? bytes : -bytes);
  }
  Ledger& ledger_;
  std::shared_ptr<DiskFile> file_;
  GrainMemory buffer_;
  Ledger::Claim claim_;
};

}  // namespace

struct SwapSpace::State {
  struct Bundle {
    std::vector<std::unique_ptr<Part>> parts{};
    int n_under_way = 0;  ///< moves asked for and not ended
    bool leaves = false;
    bool is_moved = false;  ///< at this moment: no part may go
  };

  explicit State(std::unique_ptr<Elsewhere> elsewhere_) : elsewhere(std::move(elsewhere_)) {}

  void move(Part& part, bool leaves) const {
    if (part.is_away == leaves) return;
    leaves ? elsewhere->take(part) : elsewhere->bring_back(part);
    part.is_away = leaves;
  }

  /// The link's thread.
  void move_bundles() {
    std::unique_lock lock(mutex);
    Clock::time_point end = Clock::now();
    while (true) {
      changed.wait(lock, [this] { return ends || !queue.empty(); });
      if (queue.empty()) return;
      const auto [number, leaves, asked] = queue.front();
      Bundle& bundle = bundles[number];
      bundle.is_moved = true;
      const bool has_failed = error != nullptr;
      lock.unlock();
      const auto begin = std::max(end, asked);  // a late waking is not the link's
      std::size_t bytes = 0;
      std::exception_ptr failed;
      try {
        for (const auto& part : bundle.parts) {
          if (has_failed) break;  // who asks is told
          move(*part, leaves);
          bytes += part->bytes;
        }
      } catch (...) {
        failed = std::current_exception();
      }
      end = elsewhere->end(begin, bytes);
      std::this_thread::sleep_until(end);
      lock.lock();
      if (failed) error = failed;
      bundle.is_moved = false;
      --bundle.n_under_way;
      traffic.bytes += bytes;
      traffic.link += std::chrono::duration<double>(end - begin).count();
      queue.pop_front();
      changed.notify_all();
    }
  }

  void ask(int number, bool leaves) {
    const std::lock_guard lock(mutex);
    Bundle& bundle = bundles[number];
    ++bundle.n_under_way;
    bundle.leaves = leaves;
    queue.push_back({number, leaves, Clock::now()});
    changed.notify_all();
  }

  void count(Part& part, bool counted) const {
    if (std::exchange(part.is_counted, counted) == counted) return;
    const std::int64_t sign = counted ? 1 : -1;
    memory->count(sign * static_cast<std::int64_t>(part.bytes));
    if (!part.pages.empty()) PageArena::of_process().note_absent(-sign * std::ssize(part.pages));
  }
  void check() const {
    if (error) std::rethrow_exception(error);
  }

  std::unique_ptr<Elsewhere> elsewhere;
  TorchMemory* memory = nullptr;
  bool is_open = false;
  std::map<const void*, std::size_t> open{};  ///< bytes of what was allocated since begin()
  std::map<const void*, int> bundle_of{};     ///< by place
  std::deque<Bundle> bundles{};
  std::size_t in_file = 0;     ///< of all bundles
  mutable std::mutex mutex{};  ///< of what follows, and of bundles but for a part's is_counted
  std::condition_variable changed{};
  struct Move {
    int bundle;
    bool leaves;
    Clock::time_point asked;
  };
  std::deque<Move> queue{};  ///< the first one is at work
  bool ends = false;
  std::exception_ptr error{};
  Traffic traffic{};
  std::thread link{};
};

SwapSpace::SwapSpace(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->link = std::thread([of = state_.get()] { of->move_bundles(); });
}
SwapSpace::SwapSpace(Ledger& ledger, double bandwidth)
    : SwapSpace(std::make_unique<State>(std::make_unique<OverLink>(ledger, bandwidth))) {}
SwapSpace::SwapSpace(Ledger& ledger, std::shared_ptr<DiskFile> file)
    : SwapSpace(std::make_unique<State>(std::make_unique<ToFile>(ledger, std::move(file)))) {}

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
  state.check();
  state.bundles.clear();
  state.open.clear();
  state.in_file = 0;
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
  const int number = state.bundles.size();
  auto& bundle = state.bundles.emplace_back();
  for (const auto& [place, bytes] : state.open) {
    auto* const bytes_there = static_cast<std::byte*>(const_cast<void*>(place));
    auto& part = *bundle.parts.emplace_back(std::make_unique<Part>(Part{bytes_there, bytes}));
    if (PageArena::of_process().owns(place)) part.pages = PageArena::of_process().pages_of(place);
    part.in_file = state.in_file;
    state.in_file += std::max(whole_grains(bytes), part.pages.size());
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
  State::Bundle& bundle = state.bundles[found->second];
  state.changed.wait(lock, [&] { return !bundle.is_moved; });
  const auto part = std::find_if(bundle.parts.begin(), bundle.parts.end(),
                                 [&](const auto& p) { return p->place == place; });
  if ((*part)->is_away) state.elsewhere->forget(**part);
  state.count(**part, true);  // who counts takes it off now
  bundle.parts.erase(part);
  state.bundle_of.erase(found);
}

void SwapSpace::send(int bundle) { state_->ask(bundle, true); }

void SwapSpace::fetch(int bundle) {
  static_cast<void>(is_done(bundle));  // what has left is counted as gone first
  for (const auto& part : state_->bundles[bundle].parts) state_->count(*part, true);
  state_->ask(bundle, false);
}

bool SwapSpace::is_done(int bundle) {
  const auto& one = state_->bundles[bundle];
  {
    const std::lock_guard lock(state_->mutex);
    state_->check();
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
    const auto& one = state_->bundles[bundle];
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
