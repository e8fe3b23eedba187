#include "io/runtime/kept_values.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>

namespace quintet {
namespace {

/// Where a value and its key are (bytes from the begin of the area); taken once, read when it is whole.
struct Entry {
  std::atomic<std::uint32_t> whole;
  std::uint64_t key, key_bytes, value, n_values;
};

/// Memory that all processes of a warm program see. It can be written to while a value is added alone: a
/// stray pointer elsewhere ends the process that has it, not the values of others.
struct Area {
  static constexpr std::uint32_t most = 64;
  std::atomic<std::uint32_t> n_taken;
  std::atomic<std::uint64_t> used;  ///< bytes
  Entry entries[most];
};

Area* area = nullptr;
std::uint64_t area_bytes = 0;

char* at(std::uint64_t offset) { return reinterpret_cast<char*>(area) + offset; }

std::optional<std::vector<double>> find(std::string_view key) {
  for (const Entry& entry : area->entries) {
    if (entry.whole.load(std::memory_order_acquire) == 0 || entry.key_bytes != key.size() ||
        std::memcmp(at(entry.key), key.data(), key.size()) != 0)
      continue;
    std::vector<double> values(entry.n_values);
    std::memcpy(values.data(), at(entry.value), values.size() * sizeof(double));
    return values;
  }
  return std::nullopt;
}

class Writable {
 public:
  Writable() : is_good_(mprotect(area, area_bytes, PROT_READ | PROT_WRITE) == 0) {}
  ~Writable() { (void)mprotect(area, area_bytes, PROT_READ); }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;
  explicit operator bool() const { return is_good_; }

 private:
  bool is_good_;
};

void add(std::string_view key, const std::vector<double>& values) {
  const Writable writable;
  if (!writable) return;
  const std::uint64_t value_bytes = values.size() * sizeof(double),
                      bytes = value_bytes + (key.size() + 7) / 8 * 8;
  // What does not fit is looked for before a counter moves, so that none of them ever turns over.
  if (area->n_taken.load() >= Area::most || bytes > area_bytes || area->used.load() > area_bytes - bytes)
    return;
  const std::uint32_t own = area->n_taken.fetch_add(1);
  const std::uint64_t begin = area->used.fetch_add(bytes);
  if (own >= Area::most || begin > area_bytes - bytes) return;  // others were faster
  Entry& entry = area->entries[own];
  entry.value = begin;
  entry.n_values = values.size();
  entry.key = begin + value_bytes;
  entry.key_bytes = key.size();
  std::memcpy(at(entry.value), values.data(), value_bytes);
  std::memcpy(at(entry.key), key.data(), key.size());
  entry.whole.store(1, std::memory_order_release);
}

}  // namespace

void keep_values(std::size_t bytes) {
  void* const memory = mmap(nullptr, sizeof(Area) + bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  area = new (memory) Area{};
  area->used = sizeof(Area);
  area_bytes = sizeof(Area) + bytes;
  (void)mprotect(memory, area_bytes, PROT_READ);
}

std::vector<double> made_once(std::string_view key, const std::function<std::vector<double>()>& make) {
  if (area == nullptr) return make();
  if (auto kept = find(key)) return std::move(*kept);
  auto values = make();
  add(key, values);
  return values;
}

void append_bytes(std::string& key, const std::vector<double>& values) {
  key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

}  // namespace quintet
