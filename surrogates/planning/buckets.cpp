#include "surrogates/planning/buckets.hpp"

#include <algorithm>
#include <limits>

namespace quintet::planning {
namespace {

/// Least padding of the first n sizes in ever more buckets.
class Splitting {
 public:
  explicit Splitting(std::vector<double> sizes) : sizes_(std::move(sizes)), sums_(sizes_.size() + 1, 0) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) sums_[i + 1] = sums_[i] + sizes_[i];
    least_.assign(sizes_.size() + 1, std::numeric_limits<double>::infinity());
    least_[0] = 0;
  }

  /// One more bucket; `begins[n]` is where the last one begins.
  std::vector<std::size_t> add_bucket() {
    const auto former = least_;
    std::vector<std::size_t> begins(sizes_.size() + 1, 0);
    fill(former, begins, 1, sizes_.size(), 0, sizes_.size() - 1);
    return begins;
  }

 private:
  /// Padding of the sizes [begin, end) in one bucket.
  [[nodiscard]] double of_one(std::size_t begin, std::size_t end) const {
    return sizes_[end - 1] * (end - begin) - (sums_[end] - sums_[begin]);
  }

  /// For n in [low, high], whose last bucket begins in [first, last].
  void fill(const std::vector<double>& former, std::vector<std::size_t>& begins, std::size_t low,
            std::size_t high, std::size_t first, std::size_t last) {
    if (low > high) return;
    const std::size_t n = (low + high) / 2;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t begin = first; begin <= std::min(last, n - 1); ++begin)
      if (const double sum = former[begin] + of_one(begin, n); sum < best) {
        best = sum;
        begins[n] = begin;
      }
    least_[n] = best;
    fill(former, begins, low, n - 1, first, begins[n]);
    fill(former, begins, n + 1, high, begins[n], last);
  }

  std::vector<double> sizes_, sums_, least_;
};

}  // namespace

std::vector<double> bucket_edges(std::span<const double> sizes, std::size_t k) {
  std::vector<double> sorted(sizes.begin(), sizes.end());
  std::sort(sorted.begin(), sorted.end());
  Splitting splitting(sorted);
  std::vector<std::vector<std::size_t>> begins;
  for (std::size_t bucket = 0; bucket < k; ++bucket) begins.push_back(splitting.add_bucket());
  std::vector<double> edges;
  for (std::size_t end = sorted.size(); end > 0; end = begins.back()[end], begins.pop_back())
    edges.push_back(sorted[end - 1]);
  std::reverse(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

double padding(std::span<const double> sizes, std::span<const double> edges) {
  double sum = 0;
  for (const double size : sizes) sum += *std::lower_bound(edges.begin(), edges.end(), size) - size;
  return sum;
}

}  // namespace quintet::planning
