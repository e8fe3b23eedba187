#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

namespace quintet {

/// An array of addresses that takes memory where it is written, until it is given back.
///
/// What refers to a part of it (a tensor, a saved graph) stays valid while the part has no memory: written
/// again, it is there again. A part that was given back reads as 0.
template <class T>
class ReservedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// n numbers, 0 at first. Throws std::bad_alloc.
  explicit ReservedArray(std::size_t n) : bytes_(n * sizeof(T)) {
    if (bytes_ == 0) return;
    void* const place =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(place);
    madvise(place, bytes_, MADV_NOHUGEPAGE);  // or a few bytes would hold 2 MB
  }
  ~ReservedArray() {
    if (data_) munmap(data_, bytes_);
  }
  ReservedArray(const ReservedArray&) = delete;
  ReservedArray& operator=(const ReservedArray&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  /// Give back the memory of a part: its whole pages.
  void release(std::size_t from, std::size_t n) const {
    const auto first = (reinterpret_cast<std::uintptr_t>(data_ + from) + page() - 1) / page() * page(),
               end = reinterpret_cast<std::uintptr_t>(data_ + from + n) / page() * page();
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }
  /// Bytes that have memory now, as the system counts them: whole pages.
  [[nodiscard]] std::size_t resident() const {
    if (bytes_ == 0) return 0;
    std::vector<unsigned char> pages((bytes_ + page() - 1) / page());
    mincore(data_, bytes_, pages.data());
    return page() * static_cast<std::size_t>(
                        std::count_if(pages.begin(), pages.end(), [](auto flags) { return flags & 1; }));
  }

 private:
  static std::uintptr_t page() { return sysconf(_SC_PAGESIZE); }

  std::size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace quintet
