#include "surrogates/training/stores/flat_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "io/log/error.hpp"
#include "surrogates/training/split_bf16.hpp"

namespace quintet {

template <class Real>
FlatValues<Real>::FlatValues(const FlatRank& rank, const FlatLayout& layout, bool overlaps, bool splits)
    : rank_(rank),
      layout_(layout),
      overlaps_(overlaps),
      splits_(splits),
      width_(splits ? sizeof(std::uint16_t) : sizeof(Real)),
      kept_(rank.holder, rank.holder.is_root() && rank.stage < 3 ? layout.padded() * width_ : 0),
      gathered_(rank.stage < 3 ? 0 : layout.padded() * width_),
      slices_(rank.stage < 3 ? 0 : layout.slices() * width_),
      expanded_(splits ? layout.padded() : 0) {}

template <class Real>
std::span<Real> FlatValues<Real>::of(int block) const {
  const auto& it = layout_.blocks()[block];
  if (splits_) return {expanded_.data() + it.offset, it.size};
  std::byte* const first = (rank_.stage < 3 ? kept_.part(0) : gathered_.data()) + it.offset * width_;
  return {reinterpret_cast<Real*>(first), it.size};
}

template <class Real>
std::span<std::byte> FlatValues<Real>::slice(std::size_t number) const {
  const Unit& it = unit(number);
  if (rank_.stage == 3) return {slices_.data() + rank_.place_of(it) * width_, it.slice * width_};
  return kept(it.offset + rank_.slice(it), it.slice);
}

template <class Real>
std::span<std::byte> FlatValues<Real>::updated(std::size_t number) const {
  const Unit& it = unit(number);
  return rank_.stage == 3 ? slice(number) : kept(it.offset + rank_.updated(it), rank_.updated_size(it));
}

template <class Real>
std::vector<std::span<std::byte>> FlatValues<Real>::updated() const {
  std::vector<std::span<std::byte>> parts;
  for (std::size_t u = 0; u < layout_.units().size(); ++u) parts.push_back(updated(u));
  return parts;
}

template <class Real>
std::span<const std::byte> FlatValues<Real>::whole(std::size_t number) const {
  return kept(unit(number).offset, unit(number).size);
}

template <class Real>
void FlatValues<Real>::gather() const {
  if (rank_.stage == 1 || rank_.stage == 2)
    for (const Unit& it : layout_.units())
      rank_.across.all_gather_into(kept(it.offset + rank_.share(it), rank_.share_size(it)));
  kept_.synchronise();
}

template <class Real>
void FlatValues<Real>::assign(std::span<const Real> values) const {
  const auto& units = layout_.units();
  for (std::size_t u = 0; u < units.size() && rank_.stage == 3; ++u) {
    const std::size_t first = std::min(units[u].size, rank_.slice(units[u]));
    keep(values.subspan(units[u].first + first, std::min(units[u].slice, units[u].size - first)), slice(u));
  }
  kept_.synchronise();
  if (rank_.holder.is_root() && rank_.stage < 3)
    for (const Unit& it : units) keep(values.subspan(it.first, it.size), kept(it.offset, it.size));
  kept_.synchronise();
}

template <class Real>
void FlatValues<Real>::keep(std::span<const Real> values, std::span<std::byte> to) const {
  if (!splits_) {
    std::memcpy(to.data(), values.data(), values.size_bytes());
    return;
  }
  auto* const high = reinterpret_cast<std::uint16_t*>(to.data());
  for (std::size_t i = 0; i < values.size(); ++i) high[i] = high_half(values[i]);
}

template <class Real>
void FlatValues<Real>::progress() {
  if (gathering_) gathering_->progress();
}

template <class Real>
void FlatValues<Real>::enter(int block, PassWay way) {
  const auto& it = layout_.blocks()[block];
  if ((rank_.stage < 3 && !splits_) || it.unit == here_ || it.unit == part_) return;
  give_back(std::exchange(part_, -1));
  if (const int all_of_it = unit(it.unit).within; all_of_it < 0)
    give_back(std::exchange(here_, it.unit));
  else if (all_of_it == here_)
    part_ = it.unit;
  else
    throw InternalError(fmt::format("{} is read without what it is a part of", it.name));
  if (rank_.stage == 3) bring(it.unit, way);
  if (splits_) expand(it.unit);
}

template <class Real>
void FlatValues<Real>::bring(int number, PassWay way) {
  finish_gather();
  if (const int came = std::exchange(coming_, -1); came != number) {
    give_back(came);
    start_gather(number).wait();
  }
  const int next = unit(number).next[static_cast<std::size_t>(way)];
  if (!overlaps_ || next < 0) return;
  gathering_.emplace(start_gather(next));
  coming_ = next;
}

template <class Real>
Comm::Pending FlatValues<Real>::start_gather(int number) const {
  const Unit& it = unit(number);
  std::byte* const begin = gathered_.data() + it.offset * width_;
  const auto own = slice(number);
  std::copy(own.begin(), own.end(), begin + rank_.slice(it) * width_);
  return rank_.across.start_all_gather_into(std::span(begin, rank_.share_size(it) * width_));
}

template <class Real>
void FlatValues<Real>::finish_gather() {
  if (!gathering_) return;
  gathering_->wait();
  gathering_.reset();
}

template <class Real>
void FlatValues<Real>::leave() {
  if (rank_.stage < 3 && !splits_) return;
  finish_gather();
  give_back(std::exchange(part_, -1));
  give_back(std::exchange(here_, -1));
  give_back(std::exchange(coming_, -1));
}

template <class Real>
void FlatValues<Real>::give_back(int number) const {
  if (number < 0) return;
  const Unit& it = unit(number);
  const std::size_t n = it.slice * rank_.all.size();
  if (rank_.stage == 3) gathered_.release(it.offset * width_, n * width_);
  if (splits_) expanded_.release(it.offset, n);
}

template <class Real>
void FlatValues<Real>::expand(int number) const {
  const Unit& it = unit(number);
  const std::byte* const from = (rank_.stage < 3 ? kept_.part(0) : gathered_.data()) + it.offset * width_;
  const auto* const high = reinterpret_cast<const std::uint16_t*>(from);
  Real* const to = expanded_.data() + it.offset;
  for (std::size_t i = 0; i < it.size; ++i) to[i] = joined(high[i], 0);
}

template <class Real>
std::size_t FlatValues<Real>::kept_bytes() const {
  return rank_.stage < 3 ? layout_.padded() / rank_.holder.size() * width_ : slices_.size();
}

template <class Real>
std::size_t FlatValues<Real>::at_hand_bytes() const {
  if (rank_.stage < 3) return 0;
  const auto numbers = slice_numbers(layout_.unit_sizes(), rank_.all.size());
  return static_cast<std::size_t>(rank_.all.size()) *
         static_cast<std::size_t>(overlaps_ ? numbers.with_the_next : numbers.at_hand) * width_;
}

template <class Real>
std::size_t FlatValues<Real>::expanded_bytes() const {
  if (!splits_) return 0;
  const auto numbers = slice_numbers(layout_.unit_sizes(), rank_.all.size());
  return static_cast<std::size_t>(rank_.all.size()) * static_cast<std::size_t>(numbers.at_hand) *
         sizeof(Real);
}

template class FlatValues<float>;
template class FlatValues<double>;

}  // namespace quintet
