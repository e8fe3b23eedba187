#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/potential/training/data.hpp"

namespace quintet::potential {

namespace {

// Streams of random numbers of one seed.
constexpr std::uint32_t stream_of_systems = 0x5A01, stream_of_orders = 0x5A02;

double uniform(std::uint64_t seed, std::uint32_t stream, std::uint64_t id, std::uint64_t step) {
  double u, v;
  uniform_pair(seed, stream, id, step, u, v);
  return u;
}

/// A random order of 0 .. n-1 (Fisher and Yates; Durstenfeld 1964) of (seed, system, epoch).
std::vector<std::size_t> shuffled(std::uint64_t seed, std::size_t system, std::int64_t epoch, std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The system has the upper half of the id's 48 bits.
  const std::uint64_t id = system << 24;
  for (std::size_t i = n; i-- > 1;) {
    const std::uint64_t draw = (static_cast<std::uint64_t>(epoch) << 32) + i;
    const double u = uniform(seed, stream_of_orders, id, draw);
    std::swap(order[i], order[u * (i + 1)]);
  }
  return order;
}

}  // namespace

Sampler::Sampler(const std::vector<LabelledSystem>& systems, int batch_size, int auto_atoms,
                 std::vector<double> weights, std::uint64_t seed)
    : seed_(seed), drawn_(systems.size(), 0), epochs_(systems.size()) {
  QUINTET_CHECK(!systems.empty(), "there are no systems to take batches from");
  QUINTET_CHECK(batch_size >= 0 && (batch_size > 0 || auto_atoms > 0),
                "batch_size is {} with auto:{}; expected 1 or more", batch_size, auto_atoms);
  QUINTET_CHECK(weights.empty() || weights.size() == systems.size(),
                "{} probabilities are given for {} systems; expected one a system", weights.size(),
                systems.size());
  double sum = 0;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const std::int64_t n_frames = systems[s].frames.size();
    const std::int64_t n_atoms = systems[s].n_atoms();
    const std::int64_t wanted = batch_size > 0 ? batch_size : (auto_atoms + n_atoms - 1) / n_atoms;
    n_frames_.push_back(systems[s].frames.size());
    batch_size_.push_back(std::min(wanted, n_frames));
    const double weight = weights.empty() ? static_cast<double>(n_batches(s)) : weights[s];
    QUINTET_CHECK(weight >= 0 && std::isfinite(weight),
                  "the probability of system {} ({}) is {}; expected 0 or more", s, systems[s].name, weight);
    cumulative_.push_back(sum += weight);
  }
  QUINTET_CHECK(sum > 0, "the probabilities of all {} systems are 0", systems.size());
}

std::int64_t Sampler::n_batches(std::size_t system) const {
  const std::size_t size = batch_size_[system];
  return (n_frames_[system] + size - 1) / size;
}

double Sampler::batches_an_epoch() const {
  double most = 0, before = 0;
  for (std::size_t s = 0; s < cumulative_.size(); ++s) {
    const double weight = cumulative_[s] - before;
    before = cumulative_[s];
    if (weight > 0)  // in this order whole numbers of batches stay whole
      most = std::max(most, n_batches(s) * cumulative_.back() / weight);
  }
  return most;
}

int Sampler::batch_size(std::size_t system) const { return batch_size_[system]; }

std::size_t Sampler::system_of(std::int64_t step) const {
  const double at = uniform(seed_, stream_of_systems, 0, step) * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
  return std::min(found, cumulative_.end() - 1) - cumulative_.begin();
}

void Sampler::count_up_to(std::int64_t step) const {
  if (step < counted_) {
    std::fill(drawn_.begin(), drawn_.end(), 0);
    counted_ = 0;
  }
  for (; counted_ < step; ++counted_) ++drawn_[system_of(counted_)];
}

const std::vector<std::size_t>& Sampler::order_of(std::size_t system, std::int64_t epoch) const {
  auto& known = epochs_[system];
  if (known.order.empty() || known.epoch != epoch)
    known = {epoch, shuffled(seed_, system, epoch, n_frames_[system])};
  return known.order;
}

Sampler::Batch Sampler::batch(std::int64_t step) const {
  QUINTET_CHECK(step >= 0, "there is no batch of step {}", step);
  count_up_to(step);
  Batch result{system_of(step), {}};
  const std::int64_t n = n_frames_[result.system];
  const std::int64_t size = batch_size_[result.system], first = drawn_[result.system] * size;
  for (std::int64_t at = first; at < first + size; ++at)
    result.frames.push_back(order_of(result.system, at / n)[at % n]);
  return result;
}

}  // namespace quintet::potential
