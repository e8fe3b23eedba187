#include "surrogates/training/optimiser_states.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/tiers/huge_pages.hpp"
#include "surrogates/training/split_bf16.hpp"

namespace quintet {

namespace {

std::size_t bytes_of(double megabytes) { return megabytes * 1e6; }

}  // namespace

OffloadTraffic& OffloadTraffic::operator+=(const OffloadTraffic& other) {
  for (const auto& [to, from] : {std::pair(&reads, &other.reads), std::pair(&writes, &other.writes)}) {
    to->bytes += from->bytes;
    to->seconds += from->seconds;
  }
  waited += other.waited;
  is_direct = is_direct && other.is_direct;
  return *this;
}

template <class Real>
OptimiserStates<Real>::OptimiserStates(const OptimiserOptions& optimiser, std::size_t n,
                                       const OffloadOptions& offload, Ledger& ledger, int rank, bool splits)
    : optimiser_(optimiser),
      n_states_(quintet::n_states(optimiser)),
      splits_(splits),
      bytes_a_number_(n_states_ * sizeof(Real) + (splits ? sizeof(std::int16_t) : 0)),
      n_(n) {
  if (splits && !std::is_same_v<Real, float>) throw InternalError("halves are those of float");
  const bool in_file = offload.optimiser == OffloadKind::file;
  if (offload.budget.host || in_file)
    ledger.limit(Tier::host, ByteCategory::optimiser, bytes_of(offload.budget.host.value_or(0)),
                 "offload.budget.host");
  if (offload.budget.file)
    ledger.limit(Tier::file, ByteCategory::optimiser, bytes_of(*offload.budget.file), "offload.budget.file");
  if (!in_file || bytes_a_number_ == 0) {
    claims_.push_back(ledger.claim(Tier::host, ByteCategory::optimiser, n * bytes_a_number_,
                                   "an optimiser's states",
                                   "expected a larger budget, more ranks or optimiser: file"));
    memory_.reserve(n * bytes_a_number_);
    prefer_huge_pages(memory_.data(), memory_.capacity());
    memory_.assign(n * bytes_a_number_, std::byte{0});
    bytes_ = memory_;
    chunk_ = n;
    open_ = 0;
    return;
  }
  chunk_ = numbers_of_item(n, bytes_a_number_);
  const std::vector<std::size_t> sizes = item_sizes(n, bytes_a_number_);
  TierStore::Options options;
  options.what = "an optimiser's states, in two generations";
  options.help = "expected a larger budget or more ranks";
  // No restart reads it, checkpoints hold the states: without a name nothing stays where a run is killed.
  options.file = {{*offload.path, fmt::format("optimiser_states.rank_{}", rank), true, "offload.path", true}};
  store_ = std::make_unique<TierStore>(ledger, options, sizes);
  // Around the end: the first ones of the next step are read before it begins.
  const int n_chunks = sizes.size();
  for (int chunk = 0; chunk < n_chunks; ++chunk) {
    int next = (chunk + 1) % n_chunks;
    while (next != chunk && store_->home(next) == Tier::host) next = (next + 1) % n_chunks;
    next_in_file_.push_back(next);
  }
}

template <class Real>
std::span<std::byte> OptimiserStates<Real>::open(int chunk) const {
  if (chunk != open_) {
    close(true);
    bytes_ = store_->pin(chunk);
    open_ = chunk;
    for (int k = 0, next = chunk; k < TierStore::ahead; ++k) store_->fetch(next = next_in_file_[next]);
  }
  return bytes_;
}

template <class Real>
void OptimiserStates<Real>::close(bool changed) const {
  if (!store_ || open_ < 0) return;
  store_->release(open_, changed);
  open_ = -1;
}

template <class Real>
template <class Action>
void OptimiserStates<Real>::by_chunks(std::size_t place, std::size_t length, const Action& action) const {
  for (const std::size_t end = place + length; place < end;) {
    const std::size_t number = place / chunk_, first = number * chunk_;
    const std::size_t size = std::min(chunk_, n_ - first), n = std::min(end, first + size) - place;
    Real* next = reinterpret_cast<Real*>(open(number).data());
    Piece piece{place, n, {}, {}};
    for (std::size_t s = 0; s < static_cast<std::size_t>(n_states_); ++s, next += size)
      piece.states[s] = {next + (place - first), n};
    if (splits_) piece.low = {reinterpret_cast<std::int16_t*>(next) + (place - first), n};
    action(piece);
    place += n;
  }
}

template <class Real>
void OptimiserStates<Real>::update(std::int64_t t, double learning_rate, std::size_t place,
                                   std::span<std::byte> kept, std::span<Real> gradient) {
  by_chunks(place, gradient.size(), [&](const Piece& piece) {
    const std::size_t from = piece.from - place;
    const auto part = gradient.subspan(from, piece.n);
    if constexpr (std::is_same_v<Real, float>)
      if (splits_) {
        auto* const high = reinterpret_cast<std::uint16_t*>(kept.data()) + from;
        return optimiser_step(optimiser_, t, learning_rate,
                              SplitSlices{{high, piece.n}, piece.low, part, piece.states});
      }
    Real* const theta = reinterpret_cast<Real*>(kept.data()) + from;
    optimiser_step(optimiser_, t, learning_rate, OptimiserSlices<Real>{{theta, piece.n}, part, piece.states});
  });
}

template <class Real>
void OptimiserStates<Real>::finish(std::int64_t t) {
  if (!store_) return;
  close(true);
  store_->commit(t);
}

template <class Real>
void OptimiserStates<Real>::read(int state, std::size_t place, std::span<Real> to) const {
  by_chunks(place, to.size(), [&](const Piece& piece) {
    std::copy_n(piece.states.at(static_cast<std::size_t>(state)).data(), piece.n,
                to.data() + (piece.from - place));
  });
}

template <class Real>
void OptimiserStates<Real>::write(int state, std::size_t place, std::span<const Real> from) {
  by_chunks(place, from.size(), [&](const Piece& piece) {
    std::copy_n(from.data() + (piece.from - place), piece.n,
                piece.states.at(static_cast<std::size_t>(state)).data());
  });
  close(true);
}

template <class Real>
void OptimiserStates<Real>::read_values(std::size_t place, std::span<const std::byte> kept,
                                        std::span<Real> to) const {
  if (!splits_) {
    std::memcpy(to.data(), kept.data(), to.size() * sizeof(Real));
    return;
  }
  const auto* const high = reinterpret_cast<const std::uint16_t*>(kept.data());
  by_chunks(place, to.size(), [&](const Piece& piece) {
    for (std::size_t i = 0; i < piece.n; ++i)
      to[piece.from - place + i] = joined(high[piece.from - place + i], piece.low[i]);
  });
}

template <class Real>
void OptimiserStates<Real>::write_low(std::size_t place, std::span<const Real> values) {
  by_chunks(place, values.size(), [&](const Piece& piece) {
    for (std::size_t i = 0; i < piece.n; ++i) piece.low[i] = low_half(values[piece.from - place + i]);
  });
  close(true);
}

template <class Real>
std::size_t OptimiserStates<Real>::host_bytes() const {
  return store_ ? store_->host_bytes() : n_ * bytes_a_number_;
}

template <class Real>
OffloadTraffic OptimiserStates<Real>::traffic() const {
  if (!store_ || !store_->file()) return {};
  return {store_->reads(), store_->writes(), store_->waited(), store_->file()->is_direct()};
}

template class OptimiserStates<float>;
template class OptimiserStates<double>;

}  // namespace quintet
