#include "surrogates/training/optimiser_states.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace quintet {

namespace {

/// Numbers of a chunk: many, so that the pipeline is long beside its ends, but no smaller than disks like and
/// no larger than buffers should be.
std::size_t chunk_of(std::size_t n, std::size_t bytes_a_number) {
  constexpr std::size_t grain = 1024, least = 64 << 10, most = 2 << 20;
  const std::size_t bytes = std::clamp<std::size_t>(n * bytes_a_number / 32, least, most);
  return std::max(grain, bytes / bytes_a_number / grain * grain);
}

std::size_t bytes_of(double megabytes) { return static_cast<std::size_t>(megabytes * 1e6); }

}  // namespace

template <class Real>
OptimiserStates<Real>::OptimiserStates(const OptimiserOptions& optimiser, std::size_t n,
                                       const OffloadOptions& offload, Ledger& ledger, int rank)
    : optimiser_(optimiser), n_states_(quintet::n_states(optimiser)), n_(n) {
  const auto states = static_cast<std::size_t>(n_states_);
  const bool in_file = offload.optimiser == OffloadKind::file;
  if (offload.budget.host || in_file)
    ledger.limit(Tier::host, ByteCategory::optimiser, bytes_of(offload.budget.host.value_or(0)),
                 "offload.budget.host");
  if (offload.budget.file)
    ledger.limit(Tier::file, ByteCategory::optimiser, bytes_of(*offload.budget.file), "offload.budget.file");
  if (!in_file || states == 0) {
    claims_.push_back(ledger.claim(Tier::host, ByteCategory::optimiser, states * n * sizeof(Real),
                                   "an optimiser's states",
                                   "expected a larger budget, more ranks or optimiser: file"));
    for (std::size_t state = 0; state < states; ++state) memory_[state].assign(n, Real(0));
    return;
  }
  chunk_ = chunk_of(n, states * sizeof(Real));
  std::vector<std::size_t> sizes;
  for (std::size_t from = 0; from < n; from += chunk_)
    sizes.push_back(states * std::min(chunk_, n - from) * sizeof(Real));
  TierStore::Options options;
  options.what = "an optimiser's states, in two generations";
  options.help = "expected a larger budget or more ranks";
  options.file = {*offload.path, fmt::format("optimiser_states.rank_{}", rank), TierFile::Start::fresh, true,
                  "offload.path"};
  store_ = std::make_unique<TierStore>(ledger, options, sizes);
  // Around the end: the first ones of the next step are read before it begins.
  const auto n_chunks = static_cast<int>(sizes.size());
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
    for (int k = 0, next = chunk; k < TierStore::ahead; ++k)
      store_->fetch(next = next_in_file_[static_cast<std::size_t>(next)]);
  }
  return bytes_;
}

template <class Real>
void OptimiserStates<Real>::close(bool changed) const {
  if (open_ >= 0) store_->release(open_, changed);
  open_ = -1;
}

template <class Real>
template <class Action>
void OptimiserStates<Real>::by_chunks(std::size_t place, std::size_t length, const Action& action) const {
  for (const std::size_t end = place + length; place < end;) {
    const std::size_t number = place / chunk_, first = number * chunk_;
    const std::size_t size = std::min(chunk_, n_ - first), n = std::min(end, first + size) - place;
    Real* const numbers = reinterpret_cast<Real*>(open(static_cast<int>(number)).data());
    std::array<std::span<Real>, 2> states;
    for (std::size_t s = 0; s < static_cast<std::size_t>(n_states_); ++s)
      states[s] = {numbers + s * size + (place - first), n};
    action(states, place, n);
    place += n;
  }
}

template <class Real>
void OptimiserStates<Real>::update(std::int64_t t, double learning_rate, std::size_t place,
                                   std::span<Real> theta, std::span<Real> gradient) {
  if (!store_) {
    OptimiserSlices<Real> slices{theta, gradient, {}};
    for (std::size_t s = 0; s < static_cast<std::size_t>(n_states_); ++s)
      slices.states[s] = std::span(memory_[s]).subspan(place, theta.size());
    return optimiser_step(optimiser_, t, learning_rate, slices);
  }
  by_chunks(place, theta.size(), [&](const auto& states, std::size_t from, std::size_t n) {
    optimiser_step(
        optimiser_, t, learning_rate,
        OptimiserSlices<Real>{theta.subspan(from - place, n), gradient.subspan(from - place, n), states});
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
  const auto s = static_cast<std::size_t>(state);
  if (!store_) {
    std::copy_n(memory_.at(s).data() + place, to.size(), to.data());
    return;
  }
  by_chunks(place, to.size(), [&](const auto& states, std::size_t from, std::size_t n) {
    std::copy_n(states[s].data(), n, to.data() + (from - place));
  });
}

template <class Real>
void OptimiserStates<Real>::write(int state, std::size_t place, std::span<const Real> from) {
  const auto s = static_cast<std::size_t>(state);
  if (!store_) {
    std::copy_n(from.data(), from.size(), memory_.at(s).data() + place);
    return;
  }
  by_chunks(place, from.size(), [&](const auto& states, std::size_t first, std::size_t n) {
    std::copy_n(from.data() + (first - place), n, states[s].data());
  });
  close(true);
}

template <class Real>
std::size_t OptimiserStates<Real>::host_bytes() const {
  return store_ ? store_->host_bytes() : static_cast<std::size_t>(n_states_) * n_ * sizeof(Real);
}

template <class Real>
OffloadTraffic OptimiserStates<Real>::traffic() const {
  if (!store_ || !store_->file()) return {};
  return {store_->reads(), store_->writes(), store_->waited(), store_->file()->is_direct()};
}

template class OptimiserStates<float>;
template class OptimiserStates<double>;

}  // namespace quintet
