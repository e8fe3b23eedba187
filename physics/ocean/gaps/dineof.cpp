#include "physics/ocean/gaps/dineof.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/random.hpp"
#include "physics/ocean/svd/svd.hpp"

namespace quintet::ocean {
namespace {

constexpr int more = 3;             ///< vectors beyond those that fill: the subspace converges faster
constexpr int rises = 3;            ///< of the error, after which no more modes are tried
constexpr std::int64_t least = 20;  ///< values that can choose a number of modes

enum class Value : std::uint8_t { known, gap, held_out };

/// The gaps of X, and how they are filled.
class Filler {
 public:
  Filler(const Comm& comm, TallMatrix& x, std::span<const double> scale, const DineofOptions& options,
         const Interrupt& interrupt)
      : comm_(comm), x_(x), scale_(scale), options_(options), interrupt_(interrupt) {}

  /// Put 0 into gaps, and hold known values out.
  void begin(std::span<const int> points, std::span<const double> days) {
    kinds_.assign(static_cast<std::size_t>(x_.rows()) * x_.columns(), Value::known);
    constexpr double hours = 24;
    for (int p = 0; p < x_.rows(); ++p)
      for (int t = 0; t < x_.columns(); ++t) {
        double& value = x_.row(p)[t];
        if (std::isnan(value)) {
          kind(p, t) = Value::gap, value = 0, ++counts_[0];
          continue;
        }
        double u = 0, v = 0;
        uniform_pair(options_.seed, 49, static_cast<std::uint64_t>(points[p]),
                     static_cast<std::uint64_t>(std::llround(days[t] * hours)), u, v);
        if (u >= options_.held_out) continue;
        held_.push_back(value);
        kind(p, t) = Value::held_out, value = 0, ++counts_[1];
      }
    comm_.reduce(std::span<std::int64_t>(counts_), Comm::Reduction::sum);
    QUINTET_CHECK(
        counts_[1] >= least,
        "filling gaps: {} known values would be held out to choose the number of modes; expected {} or "
        "more: raise pod.dineof.held_out, or take more times",
        counts_[1], least);
  }
  [[nodiscard]] std::int64_t gaps() const { return counts_[0]; }
  [[nodiscard]] std::int64_t held_out() const { return counts_[1]; }

  /// Known values are known again.
  void release() {
    std::size_t i = 0;
    each([&](int p, int t) {
      if (kind(p, t) == Value::held_out) x_.row(p)[t] = held_[i++], kind(p, t) = Value::known;
    });
  }
  /// All that is filled is 0 again.
  void clear() {
    each([&](int p, int t) { x_.row(p)[t] = 0; });
    right_ = {};
  }
  /// Root mean square error of held-out values.
  [[nodiscard]] double error() {
    double sum = 0;
    std::size_t i = 0;
    each([&](int p, int t) {
      if (kind(p, t) == Value::held_out) sum += std::pow((x_.row(p)[t] - held_[i++]) / scale_[p], 2);
    });
    comm_.reduce(std::span<double>(&sum, 1), Comm::Reduction::sum);
    return std::sqrt(sum / counts_[1]);
  }
  /// Fill with k modes until nothing changes. False: X has fewer. @param iterations that were taken, negative
  /// where they were not enough
  [[nodiscard]] bool fill(int k, int& iterations) {
    const double size =
        std::sqrt(sum_of_squares(comm_, x_) / (static_cast<double>(x_.columns()) * rows_of_all()));
    for (iterations = 1; iterations <= options_.most_iterations; ++iterations) {
      give_up_if_asked(comm_, interrupt_);
      const auto triplets = triplets_of(k);
      if (!triplets) return false;
      double sums[2] = {0, 0};
      each([&](int p, int t) {
        double value = 0;
        for (int m = 0; m < k; ++m)
          value += triplets->values[m] * triplets->left.row(p)[m] * triplets->right.at(m, t);
        sums[0] += std::pow(value - x_.row(p)[t], 2), sums[1] += 1;
        x_.row(p)[t] = value;
      });
      comm_.reduce(std::span<double>(sums), Comm::Reduction::sum);
      if (std::sqrt(sums[0] / std::max(1.0, sums[1])) <= options_.tolerance * size) return true;
    }
    iterations = -options_.most_iterations;
    return true;
  }

 private:
  Value& kind(int p, int t) { return kinds_[std::int64_t{p} * x_.columns() + t]; }
  template <class Action>
  void each(const Action& action) {
    for (int p = 0; p < x_.rows(); ++p)
      for (int t = 0; t < x_.columns(); ++t)
        if (kind(p, t) != Value::known) action(p, t);
  }
  [[nodiscard]] double rows_of_all() const {
    double rows = x_.rows();
    comm_.reduce(std::span<double>(&rows, 1), Comm::Reduction::sum);
    return rows;
  }
  /// Right vectors to go on from, [columns, n]: those of before, and random ones.
  [[nodiscard]] SmallMatrix start(int n) const {
    SmallMatrix vectors(x_.columns(), n);
    for (int t = 0; t < x_.columns(); ++t)
      for (int m = 0; m < n; ++m) {
        double ignored = 0;
        normal_pair(options_.seed, 50, m, t, vectors.at(t, m), ignored);
        if (m < right_.rows) vectors.at(t, m) = right_.at(m, t);
      }
    return vectors;
  }
  /// k triplets by a step from those of before; nothing where X has no k independent parts.
  [[nodiscard]] std::optional<SingularTriplets> triplets_of(int k) {
    const int most = std::min<double>(x_.columns() - 1, rows_of_all());
    for (const int n : {std::min(k + more, most), k}) {
      if (n < k) continue;
      try {
        auto triplets = svd_within(comm_, x_, product(x_, start(n)), n);
        right_ = triplets.right;
        return triplets;
      } catch (const InputError&) {  // on all ranks alike: fewer independent parts
        right_ = {};
      }
    }
    return std::nullopt;
  }

  const Comm& comm_;
  TallMatrix& x_;
  std::span<const double> scale_;
  const DineofOptions& options_;
  const Interrupt& interrupt_;
  std::vector<Value> kinds_;  ///< [rows, columns]
  std::vector<double> held_;
  std::int64_t counts_[2] = {0, 0};
  SmallMatrix right_;  ///< [n, columns]
};

}  // namespace

GapFilling fill_by_dineof(const Comm& comm, TallMatrix& x, std::span<const double> scale,
                          std::span<const int> points, std::span<const double> days,
                          const DineofOptions& options, const Interrupt& interrupt) {
  Filler filler(comm, x, scale, options, interrupt);
  filler.begin(points, days);
  GapFilling result;
  result.filled = filler.gaps(), result.held_out = filler.held_out();
  result.errors = {filler.error()};
  for (int k = 1, risen = 0; k <= options.most_modes && risen < rises; ++k) {
    if (!filler.fill(k, result.iterations)) break;
    result.errors.push_back(filler.error());
    risen = result.errors.back() > result.errors[result.modes] ? risen + 1 : 0;
    if (risen == 0) result.modes = k;
  }
  filler.release();
  filler.clear();
  result.iterations = 0;
  // From nothing, a mode more at a time: with all at once, modes of a cloud's own outline would keep it
  // empty.
  for (int k = 1; k <= result.modes; ++k)
    if (!filler.fill(k, result.iterations))
      throw NumericalError("gaps cannot be filled by as many modes as were found");
  result.converged = result.iterations >= 0;
  result.iterations = std::abs(result.iterations);
  return result;
}

double dineof_bytes(double rows, double columns, const DineofOptions& options) {
  const double vectors = options.most_modes + more;
  // What each value is, known ones that are held out; bases, their copies and right vectors.
  return rows * columns * (1 + 8 * options.held_out) + 8 * vectors * (4 * rows + 4 * columns);
}

}  // namespace quintet::ocean
