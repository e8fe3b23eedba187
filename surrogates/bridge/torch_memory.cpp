#include "surrogates/bridge/torch_memory.hpp"

#include <atomic>
#include <cstdint>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace quintet {

namespace {

class Counter : public c10::MemoryReportingInfoBase {
 public:
  explicit Counter(Ledger& ledger) : ledger_(ledger) {}
  void reportMemoryUsage(void* place, std::int64_t bytes, std::size_t, std::size_t,
                         c10::Device device) override {
    if (!device.is_cpu()) return;
    if (observer_ && bytes > 0) observer_->allocated(place, bytes);
    if (observer_ && bytes < 0) observer_->freed(place);
    count(bytes);
  }
  void count(std::int64_t bytes) {
    const std::int64_t held = held_ += bytes;
    if (held > peak_) peak_ = held;
    ledger_.note(Tier::host, ByteCategory::activations, bytes);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
  [[nodiscard]] std::int64_t held() const { return held_; }
  [[nodiscard]] std::int64_t take_peak() { return peak_.exchange(held_); }
  void observe(TorchMemory::Observer* observer) { observer_ = observer; }
  void take_off() { ledger_.note(Tier::host, ByteCategory::activations, -held_.exchange(0)); }

 private:
  Ledger& ledger_;
  TorchMemory::Observer* observer_ = nullptr;
  std::atomic<std::int64_t> held_ = 0, peak_ = 0;  ///< torch allocates on the thread that this counts
};

}  // namespace

struct TorchMemory::Implementation {
  explicit Implementation(Ledger& ledger)
      : counter(std::make_shared<Counter>(ledger)), guard(c10::DebugInfoKind::PROFILER_STATE, counter) {}
  ~Implementation() { counter->take_off(); }
  std::shared_ptr<Counter> counter;
  c10::DebugInfoGuard guard;
};

TorchMemory::TorchMemory(Ledger& ledger) : implementation_(std::make_unique<Implementation>(ledger)) {}
TorchMemory::~TorchMemory() = default;
std::int64_t TorchMemory::held() const { return implementation_->counter->held(); }
std::int64_t TorchMemory::take_peak() { return implementation_->counter->take_peak(); }

void TorchMemory::observe(Observer* observer) { implementation_->counter->observe(observer); }
void TorchMemory::count(std::int64_t bytes) { implementation_->counter->count(bytes); }

}  // namespace quintet
