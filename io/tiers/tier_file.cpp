#include "io/tiers/tier_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/log/error.hpp"
#include "io/tiers/grain_memory.hpp"

namespace quintet {

namespace {

constexpr std::uint64_t magic = 0x71746965727331ull;

/// In front of the slot of each item (a byte).
struct Header {
  std::uint64_t sum, magic, layout;
  std::int64_t generation, tag;
};

/// FNV-1a.
std::uint64_t sum_of(const std::byte* bytes, std::size_t n) {
  std::uint64_t sum = 0xcbf29ce484222325ull;
  for (std::size_t i = 0; i < n; ++i) sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3ull;
  return sum;
}

std::uint64_t layout_of(const std::vector<std::size_t>& sizes) {
  return sum_of(reinterpret_cast<const std::byte*>(sizes.data()), sizes.size() * sizeof(std::size_t));
}

}  // namespace

std::size_t TierFile::bytes_of(std::span<const std::size_t> sizes) {
  std::size_t bytes = 2 * whole_grains(sizeof(Header) + sizes.size());
  for (const std::size_t size : sizes) bytes += 2 * whole_grains(size);
  return bytes;
}

std::size_t TierFile::header_bytes() const { return whole_grains(sizeof(Header) + sizes_.size()); }

std::size_t TierFile::place(int item, int slot) const {
  const std::size_t i = item;
  return first_[i] + slot * whole_grains(sizes_[i]);
}

TierFile::TierFile(Options options, std::vector<std::size_t> sizes)
    : file_(options),
      sizes_(std::move(sizes)),
      bytes_(bytes_of(sizes_)),
      written_(sizes_.size()),
      good_(sizes_.size()) {
  std::size_t next = 2 * header_bytes();
  for (const std::size_t size : sizes_) {
    first_.push_back(next);
    next += 2 * whole_grains(size);
  }
  if (options.start == Start::fresh) {
    file_.take_space(bytes_, "two generations");
    write_header();
    return;
  }
  try {
    QUINTET_CHECK(take_over(), "{}: {} holds no generation of these items", options.key, path());
  } catch (...) {
    file_.stay();  // it is not ours
    throw;
  }
}

bool TierFile::take_over() {
  const auto page = grain_memory(header_bytes());
  bool found = false;
  if (file_.size() == bytes_)
    for (const std::size_t number : {0u, 1u}) {
      file_.read(page.get(), header_bytes(), number * header_bytes());
      Header header;
      std::memcpy(&header, page.get(), sizeof header);
      const std::size_t skipped = sizeof header.sum;
      if (header.magic != magic || header.layout != layout_of(sizes_) ||
          header.sum != sum_of(page.get() + skipped, sizeof header - skipped + sizes_.size()) ||
          (found && header.generation < generation_))
        continue;
      found = true;
      generation_ = header.generation;
      tag_ = header.tag;
      std::memcpy(good_.data(), page.get() + sizeof header, sizes_.size());
    }
  written_ = good_;
  return found;
}

void TierFile::write_header() {
  const auto page = grain_memory(header_bytes());
  Header header{0, magic, layout_of(sizes_), generation_, tag_};
  std::memcpy(page.get(), &header, sizeof header);
  std::memcpy(page.get() + sizeof header, written_.data(), written_.size());
  const std::size_t skipped = sizeof header.sum;
  header.sum = sum_of(page.get() + skipped, sizeof header - skipped + sizes_.size());
  std::memcpy(page.get(), &header.sum, sizeof header.sum);
  file_.write(page.get(), header_bytes(), (generation_ % 2) * header_bytes());
}

void TierFile::read(int item, std::byte* to) {
  const std::size_t i = item;
  file_.read(to, whole_grains(sizes_[i]), place(item, written_[i]));
}

void TierFile::write(int item, const std::byte* from) {
  const std::size_t i = item;
  const int slot = 1 - good_[i];
  file_.write(from, whole_grains(sizes_[i]), place(item, slot));
  written_[i] = static_cast<char>(slot);
}

void TierFile::commit(std::int64_t tag) {
  ++generation_;
  tag_ = tag;
  write_header();
  good_ = written_;
}

}  // namespace quintet
