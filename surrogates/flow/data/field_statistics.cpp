#include "surrogates/flow/data/field_statistics.hpp"

#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::flow {
namespace {

/// Sums of one field over a part: what means of all parts are made of.
struct Moments {
  double n = 0, mean = 0, squares = 0;  ///< squares: sum of squared deviations from the mean

  /// Chan, Golub and LeVeque 1983.
  void add(const Moments& other) {
    const double sum = n + other.n, difference = other.mean - mean;
    if (other.n == 0) return;
    squares += other.squares + difference * difference * n * other.n / sum;
    mean += difference * other.n / sum;
    n = sum;
  }
};

Moments moments_of(std::span<const float> values) {
  Moments moments;
  moments.n = values.size();
  double sum = 0;
  for (const float value : values) sum += value;
  moments.mean = sum / moments.n;
  for (const float value : values) {
    const double difference = value - moments.mean;
    moments.squares += difference * difference;
  }
  return moments;
}

}  // namespace

FieldStatistics statistics_of(const Comm& comm, const std::vector<std::string>& fields,
                              const std::vector<std::span<const float>>& runs) {
  const std::size_t n_ranks = comm.size();
  std::vector<Moments> mine;
  for (std::size_t i = comm.rank(); i < runs.size(); i += n_ranks) mine.push_back(moments_of(runs[i]));
  const auto counts = comm.all_gather(std::ssize(mine));
  const auto gathered = comm.all_gather(std::span<const Moments>(mine));
  std::vector<std::size_t> first(n_ranks, 0);
  for (std::size_t rank = 1; rank < n_ranks; ++rank) first[rank] = first[rank - 1] + counts[rank - 1];
  std::vector<Moments> moments(fields.size());
  for (std::size_t i = 0; i < runs.size(); ++i)
    moments[i % fields.size()].add(gathered[first[i % n_ranks] + i / n_ranks]);
  FieldStatistics result;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    result.mean.push_back(moments[i].mean);
    result.deviation.push_back(std::sqrt(moments[i].squares / moments[i].n));
    QUINTET_CHECK(result.deviation[i] > 1e-12 * std::abs(result.mean[i]),
                  "field '{}' is {} everywhere in the train split: there is nothing to learn", fields[i],
                  result.mean[i]);
  }
  return result;
}

}  // namespace quintet::flow
