#include "io/tiers/huge_pages.hpp"

#include <cstdint>

#ifdef __linux__
#include <linux/mman.h>  // MADV_COLLAPSE, which glibc's own header got late
#endif
#include <sys/mman.h>
#include <unistd.h>

namespace quintet {

void prefer_huge_pages(void* data, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t least = std::size_t{2}
                                << 20;  // one of the usual 2 MiB, if it lies well or beside another
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

void gather_in_huge_pages(const void* data, std::size_t bytes) {
#ifdef MADV_COLLAPSE
  constexpr std::size_t least = 32 << 10;  // eight of the usual 4 KiB
  if (bytes < least) return;
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  for (std::uintptr_t at = address / page * page; at < address + bytes; at += page)
    madvise(reinterpret_cast<void*>(at), page, MADV_COLLAPSE);  // a wish
#else
  (void)data;
  (void)bytes;
#endif
}

}  // namespace quintet
