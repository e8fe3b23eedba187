#include "tests/emulation/run/memory.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace quintet::emulation {

namespace {

struct Heap {
  std::map<std::uint64_t, Allocation> all;  // by begin
  std::uint64_t next = device_begin + (1 << 20);
  std::uint64_t generation = 0;
  std::size_t used = 0, total = std::size_t{8} << 30;
  Heap() {
    if (const char *text = std::getenv("EMULATION_MEMORY_MIB"))
      total = std::strtoull(text, nullptr, 10) << 20;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *window =
        mmap(reinterpret_cast<void *>(device_begin), device_end - device_begin, PROT_NONE, flags, -1, 0);
    void *alias = mmap(reinterpret_cast<void *>(device_begin + device_alias), device_end - device_begin,
                       PROT_READ | PROT_WRITE, flags, -1, 0);
    if (window == MAP_FAILED || alias == MAP_FAILED) {
      std::perror("emulation: no address range");
      std::abort();
    }
  }
};
Heap &heap() {
  static Heap *value = new Heap;
  return *value;
}

}  // namespace

void *allocate(std::size_t bytes) {
  Heap &h = heap();
  const std::size_t whole = (bytes + 255) / 256 * 256;
  if (h.used + whole > h.total || h.next + whole + 4096 > device_end) return nullptr;
  h.used += whole;
  const std::uint64_t at = h.next;
  h.next += (whole + 4095) / 4096 * 4096 + 4096;  // a gap, and no address is given out twice
  h.all[at] = {at, at + bytes, device_alias};
  // What was never written is NaN in every precision.
  std::memset(reinterpret_cast<void *>(at + device_alias), 0xff, whole);
  return reinterpret_cast<void *>(at);
}

void *allocate_pinned(std::size_t bytes) {
  void *p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  const auto at = reinterpret_cast<std::uint64_t>(p);
  heap().all[at] = {at, at + bytes, 0};
  return p;
}

bool release(void *address) {
  Heap &h = heap();
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const auto found = h.all.find(at);
  if (found == h.all.end()) return false;
  if (found->second.alias == 0) {
    std::free(address);
  } else {
    const std::size_t whole = (found->second.end - at + 255) / 256 * 256;
    h.used -= whole;
    madvise(reinterpret_cast<void *>(at + device_alias), (whole + 4095) / 4096 * 4096, MADV_DONTNEED);
  }
  h.all.erase(found);
  ++h.generation;
  return true;
}

const Allocation *find(std::uint64_t address) {
  Heap &h = heap();
  auto after = h.all.upper_bound(address);
  if (after == h.all.begin()) return nullptr;
  const Allocation &a = std::prev(after)->second;
  return address < a.end || (a.begin == a.end && address == a.begin) ? &a : nullptr;
}

bool on_device(const void *address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  return at >= device_begin && at < device_end;
}

void *bytes_of(const void *address) {
  return const_cast<char *>(static_cast<const char *>(address)) + (on_device(address) ? device_alias : 0);
}

std::uint64_t generation() { return heap().generation; }
std::size_t memory_total() { return heap().total; }
std::size_t memory_free() { return heap().total - heap().used; }

}  // namespace quintet::emulation
