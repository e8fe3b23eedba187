#include "surrogates/sequence/hindcast/combine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "surrogates/sequence/skill/comparison.hpp"

namespace quintet::sequence {

namespace {

/// Nearest point of the simplex w >= 0, sum w = 1 (Held, Wolfe and Crowder 1974).
std::vector<double> onto_simplex(std::vector<double> v) {
  auto sorted = v;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = 0, shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] > candidate) shift = candidate;
  }
  for (double& value : v) value = std::max(0.0, value - shift);
  return v;
}

/// e^T G f in the measure of all points.
double product(const OriginForecasts& one, const double* e, const double* f) {
  const auto n = static_cast<std::size_t>(one.modes);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum += e[i] * one.grams[0][i * n + j] * f[j];
  return sum;
}

/// Errors of a method after an origin, [n, out, modes].
std::vector<double> errors_of(const OriginForecasts& one, int method) {
  auto errors = one.methods[method].mean;
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= one.truth[i];
  return errors;
}

/// Squares of a method's errors at each window and lead that have come, origins one after the other.
std::vector<double> squares_known_at(const std::vector<OriginForecasts>& origins, std::size_t here,
                                     int method) {
  std::vector<double> squares;
  for (std::size_t i = 0; i < here; ++i) {
    const auto& one = origins[i];
    const auto errors = errors_of(one, method);
    const int rows = windows_known_at(one, origins[here].origin.date) * one.out();
    for (int row = 0; row < rows; ++row) {
      const double* e = errors.data() + static_cast<std::size_t>(row) * one.modes;
      squares.push_back(product(one, e, e));
    }
  }
  return squares;
}

/// Sums for the factors of calibrate().
struct SpreadSums {
  std::vector<double> squares, variances;  ///< [out, modes]
  int windows = 0;
};

void add_windows(SpreadSums& sums, const OriginForecasts& one, int method, int n) {
  const auto width = static_cast<std::size_t>(one.out()) * one.modes, modes = std::size_t(one.modes);
  const auto errors = errors_of(one, method);
  const auto& covariance = one.methods[method].covariance;
  sums.windows += n;
  for (std::size_t i = 0; i < n * width; ++i) {
    sums.squares[i % width] += errors[i] * errors[i];
    sums.variances[i % width] += covariance[i * modes + i % modes];
  }
}

}  // namespace

int Hindcasts::find(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

int windows_known_at(const OriginForecasts& earlier, double date) {
  if (!earlier.origin.judged) return 0;
  const auto& windows = earlier.origin.windows;
  int n = 0;
  while (n < windows.size() && windows.dates_of(n)[windows.shape.out - 1] < date) ++n;
  return n;
}

void calibrate(Hindcasts& hindcasts, int method, int least) {
  auto& origins = hindcasts.origins;
  std::vector<std::vector<double>> factors;  // before any spread is changed
  for (std::size_t here = 0; here < origins.size(); ++here) {
    const auto width = static_cast<std::size_t>(origins[here].out()) * origins[here].modes;
    SpreadSums sums{std::vector<double>(width, 0.0), std::vector<double>(width, 0.0)};
    for (std::size_t i = 0; i < here; ++i)
      add_windows(sums, origins[i], method, windows_known_at(origins[i], origins[here].origin.date));
    std::vector<double> factor(width, 1.0);
    constexpr double most = 4;
    for (std::size_t p = 0; sums.windows >= least && p < width; ++p)
      if (sums.variances[p] > 0)
        factor[p] = std::clamp(std::sqrt(sums.squares[p] / sums.variances[p]), 1 / most, most);
    factors.push_back(std::move(factor));
  }
  for (std::size_t here = 0; here < origins.size(); ++here) {
    const auto modes = static_cast<std::size_t>(origins[here].modes);
    auto& covariance = origins[here].methods[method].covariance;
    const auto& factor = factors[here];
    for (std::size_t i = 0; i < covariance.size(); ++i) {
      const std::size_t row = i / modes, lead = row / modes % (factor.size() / modes);
      covariance[i] *= factor[lead * modes + row % modes] * factor[lead * modes + i % modes];
    }
  }
}

std::vector<double> mixture_weights(const std::vector<double>& q, int k, double pull) {
  double trace = 0;
  for (int i = 0; i < k; ++i) trace += q[i * (k + 1)];
  const double penalty = pull * trace / k, equal = 1.0 / k;
  const double steepest = (1 + pull) * trace;  // no eigenvalue is above the trace
  std::vector<double> w(k, equal), y = w;
  if (!(steepest > 0)) return w;
  double momentum = 1;
  constexpr int iterations = 3000;
  for (int step = 0; step < iterations; ++step) {
    auto next = y;
    for (int i = 0; i < k; ++i) {
      double gradient = penalty * (y[i] - equal);
      for (int j = 0; j < k; ++j) gradient += q[i * k + j] * y[j];
      next[i] -= gradient / steepest;
    }
    next = onto_simplex(std::move(next));
    const double larger = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (int i = 0; i < k; ++i) y[i] = next[i] + (momentum - 1) / larger * (next[i] - w[i]);
    momentum = larger;
    w = std::move(next);
  }
  return w;
}

namespace {

/// Mean products of errors of some methods at each lead, over what has come: [out, k, k]; none where fewer
/// than `least` windows have.
std::vector<double> products_known_at(const std::vector<OriginForecasts>& origins, std::size_t here,
                                      const std::vector<int>& parts, int least) {
  const auto k = parts.size();
  const int out = origins[here].out();
  std::vector<double> q(out * k * k, 0.0);
  int windows = 0;
  for (std::size_t i = 0; i < here; ++i) {
    const auto& one = origins[i];
    const int n = windows_known_at(one, origins[here].origin.date);
    windows += n;
    std::vector<std::vector<double>> errors;
    for (const int part : parts) errors.push_back(errors_of(one, part));
    for (int row = 0; row < n * out; ++row)
      for (std::size_t a = 0; a < k; ++a)
        for (std::size_t b = 0; b < k; ++b) {
          const auto at = static_cast<std::size_t>(row) * one.modes;
          q[(row % out * k + a) * k + b] += product(one, errors[a].data() + at, errors[b].data() + at);
        }
  }
  if (windows < least) return {};
  for (double& value : q) value /= windows;
  return q;
}

/// The mixed distributions of one origin.
Predictive mixed(const OriginForecasts& one, const std::vector<int>& parts,
                 const std::vector<double>& weights) {
  const auto modes = static_cast<std::size_t>(one.modes), k = parts.size();
  const int out = one.out();
  Predictive result{std::vector<double>(one.truth.size(), 0.0),
                    std::vector<double>(one.truth.size() * modes, 0.0)};
  for (std::size_t row = 0; row * modes < one.truth.size(); ++row) {
    const double* w = weights.data() + row % out * k;
    double* mean = result.mean.data() + row * modes;
    for (std::size_t p = 0; p < k; ++p)
      for (std::size_t m = 0; m < modes; ++m) mean[m] += w[p] * one.methods[parts[p]].mean[row * modes + m];
    for (std::size_t p = 0; p < k; ++p) {
      const auto& part = one.methods[parts[p]];
      for (std::size_t m = 0; m < modes; ++m)
        for (std::size_t n = 0; n < modes; ++n)
          result.covariance[(row * modes + m) * modes + n] +=
              w[p] * (part.covariance[(row * modes + m) * modes + n] +
                      (part.mean[row * modes + m] - mean[m]) * (part.mean[row * modes + n] - mean[n]));
    }
  }
  return result;
}

}  // namespace

std::vector<MixtureWeights> add_mixture(Hindcasts& hindcasts, const std::string& name,
                                        const std::vector<int>& parts, double pull, int least) {
  auto& origins = hindcasts.origins;
  const auto k = static_cast<int>(parts.size());
  std::vector<MixtureWeights> all;
  for (std::size_t here = 0; here < origins.size(); ++here) {
    auto& one = origins[here];
    const auto out = static_cast<std::size_t>(one.out());
    const auto q = products_known_at(origins, here, parts, least);
    MixtureWeights weights{one.origin.date, !q.empty(), std::vector<double>(out * k, 1.0 / k)};
    for (std::size_t lead = 0; !q.empty() && lead < out; ++lead) {
      const auto first = q.begin() + static_cast<std::ptrdiff_t>(lead) * k * k;
      const auto w = mixture_weights({first, first + static_cast<std::ptrdiff_t>(k) * k}, k, pull);
      std::copy(w.begin(), w.end(), weights.weights.begin() + static_cast<std::ptrdiff_t>(lead) * k);
    }
    all.push_back(std::move(weights));
  }
  for (std::size_t here = 0; here < origins.size(); ++here)
    origins[here].methods.push_back(mixed(origins[here], parts, all[here].weights));
  hindcasts.names.push_back(name);
  return all;
}

std::vector<Earned> add_earned(Hindcasts& hindcasts, const std::string& name, int candidate, int base,
                               int block) {
  auto& origins = hindcasts.origins;
  std::vector<Earned> all;
  for (std::size_t here = 0; here < origins.size(); ++here) {
    auto& one = origins[here];
    const int out = one.out();
    const auto ours = squares_known_at(origins, here, candidate),
               theirs = squares_known_at(origins, here, base);
    Earned earned{one.origin.date,
                  false,
                  {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()}};
    const int n = static_cast<int>(ours.size()) / out;
    if (n > 0) {
      const Bootstrap bootstrap(n, block);
      const auto a = bootstrap.sums(ours, out), b = bootstrap.sums(theirs, out);
      const auto rmse = [&](const std::vector<double>& sums, int sample) {
        const auto first = sums.begin() + static_cast<std::ptrdiff_t>(sample) * out;
        return std::sqrt(std::accumulate(first, first + out, 0.0) / n / out);
      };
      earned.gain = bootstrap.estimate([&](int sample) { return rmse(b, sample) - rmse(a, sample); });
      earned.kept = verdict_of(earned.gain) == Verdict::better;
    }
    all.push_back(earned);
  }
  for (std::size_t here = 0; here < origins.size(); ++here) {
    auto& methods = origins[here].methods;
    auto taken = methods[all[here].kept ? candidate : base];
    methods.push_back(std::move(taken));
  }
  hindcasts.names.push_back(name);
  return all;
}

}  // namespace quintet::sequence
