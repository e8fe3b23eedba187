#include "physics/particles/observables/heat/block_correlation.hpp"

#include <algorithm>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {
constexpr std::int64_t most_blocks = 32;
}

BlockCorrelation::BlockCorrelation(std::int64_t length)
    : length_(length), block_origins_(length), recent_(length + 1) {}

void BlockCorrelation::merge_pairs() {
  const std::size_t size = 3 * n_lags();
  for (std::size_t block = 0; block < most_blocks / 2; ++block)
    for (std::size_t i = 0; i < size; ++i)
      sum_[block * size + i] = sum_[2 * block * size + i] + sum_[(2 * block + 1) * size + i];
  sum_.resize(most_blocks / 2 * size);
  block_origins_ *= 2;
}

void BlockCorrelation::add(const Vec3& value) {
  recent_[n_samples_++ % (length_ + 1)] = value;
  if (n_origins() == 0) return;
  const std::int64_t origin = n_origins() - 1;
  if (origin == most_blocks * block_origins_) merge_pairs();
  const std::size_t block = origin / block_origins_;
  sum_.resize((block + 1) * 3 * n_lags());
  const Vec3& then = recent_[origin % (length_ + 1)];
  for (int k = 0; k < 3; ++k) {
    double* const sum = sum_.data() + (3 * block + k) * n_lags();
    for (std::int64_t lag = 0; lag <= length_; ++lag)
      sum[lag] += then[k] * recent_[(origin + lag) % (length_ + 1)][k];
  }
}

std::span<const double> BlockCorrelation::sums(std::int64_t block, int component) const {
  return std::span(sum_).subspan((3 * block + component) * n_lags(), n_lags());
}

std::vector<double> BlockCorrelation::average(int component) const {
  std::vector<double> mean(n_lags(), 0.0);
  const std::int64_t blocks = sum_.size() / (3 * n_lags());
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto part = sums(block, component);
    for (std::size_t lag = 0; lag < mean.size(); ++lag) mean[lag] += part[lag];
  }
  for (double& value : mean) value /= std::max<std::int64_t>(1, n_origins());
  return mean;
}

std::vector<double> BlockCorrelation::average_of_block(std::int64_t block, int component) const {
  const auto part = sums(block, component);
  std::vector<double> mean(part.begin(), part.end());
  for (double& value : mean) value /= block_origins_;
  return mean;
}

void BlockCorrelation::save(hdf5::Group& group, const char* units) const {
  group.set_attribute("samples_length_block_origins",
                      std::vector<std::int64_t>{n_samples_, length_, block_origins_});
  const std::uint64_t blocks = sum_.size() / (3 * n_lags()), lags = n_lags();
  std::vector<double> recent;
  for (const Vec3& value : recent_) recent.insert(recent.end(), value.begin(), value.end());
  group.write("recent", std::span<const double>(recent), {lags, 3},
              {"1", {"sample", "xyz"}, "Last samples, number n in row n % (length + 1)"});
  if (blocks > 0)
    group.write("sums", std::span<const double>(sum_), {blocks, 3, lags},
                {units, {"block", "xyz", "lag"}, "Sums of products over the time origins of a block"});
}

void BlockCorrelation::restore(const hdf5::Group& group) {
  const auto saved = group.number_attribute("samples_length_block_origins");
  QUINTET_CHECK(
      saved.size() == 3 && saved[0] >= 0 && saved[2] >= 1 && saved[1] == static_cast<double>(length_),
      "length of a time correlation differs from the checkpoint's; restart with the options of the "
      "first run");
  n_samples_ = saved[0];
  block_origins_ = saved[2];
  const std::uint64_t lags = n_lags();
  const auto recent = group.read<double>("recent", {lags, 3});
  for (std::size_t i = 0; i < recent.size(); ++i) recent_[i / 3][i % 3] = recent[i];
  sum_.clear();
  const std::uint64_t blocks = (n_origins() + block_origins_ - 1) / block_origins_;
  if (blocks > 0) sum_ = group.read<double>("sums", {blocks, 3, lags});
}

}  // namespace quintet
