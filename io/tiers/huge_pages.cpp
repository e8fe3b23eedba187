#include "io/tiers/huge_pages.hpp"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace quintet {

void prefer_huge_pages(void* data, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t least = std::size_t{4} << 20;  // two of the usual 2 MiB: one is whole
  if (bytes < least) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // a wish: it may fail
#else
  (void)data;
  (void)bytes;
#endif
}

}  // namespace quintet
