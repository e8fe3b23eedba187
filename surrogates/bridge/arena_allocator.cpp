#include "surrogates/bridge/arena_allocator.hpp"

#include <cstddef>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include "io/tiers/page_arena.hpp"

namespace quintet {

namespace {

/// Small blocks, and those that find no room, are those of torch's own allocator.
class ArenaAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const place = bytes >= PageArena::least_block ? PageArena::of_process().allocate(bytes) : nullptr;
    if (!place) {
      auto small = torchs().allocate(bytes);
      // Where it has another deleter already, that one frees it just as well.
      static_cast<void>(small.compare_exchange_deleter(torchs().raw_deleter(), &release));
      return small;
    }
    c10::profiledCPUMemoryReporter().New(place, bytes);
    return {place, place, &release, c10::Device(c10::DeviceType::CPU)};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  static c10::Allocator& torchs() { return *c10::GetDefaultCPUAllocator(); }
  static void release(void* place) {
    if (!PageArena::of_process().owns(place)) return torchs().raw_deallocate(place);
    c10::profiledCPUMemoryReporter().Delete(place);
    PageArena::of_process().deallocate(place);
  }
};

}  // namespace

void use_page_arena() {
  static auto* const allocator = new ArenaAllocator;  // tensors may end with the process
  c10::SetCPUAllocator(allocator);
}

}  // namespace quintet
