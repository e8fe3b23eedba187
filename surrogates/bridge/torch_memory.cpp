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
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override {
    if (!device.is_cpu()) return;
    held_ += bytes;
    ledger_.note(Tier::host, ByteCategory::activations, bytes);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
  void take_off() { ledger_.note(Tier::host, ByteCategory::activations, -held_.exchange(0)); }

 private:
  Ledger& ledger_;
  std::atomic<std::int64_t> held_ = 0;
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

}  // namespace quintet
