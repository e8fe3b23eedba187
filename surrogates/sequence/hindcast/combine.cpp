#include "surrogates/sequence/hindcast/combine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
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
  const std::size_t n = one.modes;
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

/// Whether all of some methods forecast a window.
template <class Methods>
bool forecast_by_all(const OriginForecasts& one, int window, const Methods& methods) {
  return std::all_of(methods.begin(), methods.end(), [&](int k) { return has_forecast(one, k, window); });
}

/// Squares of the errors of two methods at each window and lead that have come and that both forecast,
/// origins one after the other.
std::array<std::vector<double>, 2> squares_known_at(const std::vector<OriginForecasts>& origins,
                                                    std::size_t here, const std::array<int, 2>& methods) {
  std::array<std::vector<double>, 2> squares;
  for (std::size_t i = 0; i < here; ++i) {
    const auto& one = origins[i];
    const int windows = windows_known_at(one, origins[here].origin.date);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto errors = errors_of(one, methods[k]);
      for (int w = 0; w < windows; ++w)
        for (int lead = 0; forecast_by_all(one, w, methods) && lead < one.out(); ++lead) {
          const double* e = errors.data() + (std::int64_t{w} * one.out() + lead) * one.modes;
          squares[k].push_back(product(one, e, e));
        }
    }
  }
  return squares;
}

/// Sums for the factors of calibrate().
struct SpreadSums {
  std::vector<double> squares, variances;  ///< [out, modes]
  int windows = 0;
};

void add_windows(SpreadSums& sums, const OriginForecasts& one, int method, int windows) {
  const std::size_t width = std::int64_t{one.out()} * one.modes, modes = std::size_t(one.modes);
  const auto errors = errors_of(one, method);
  const auto& covariance = one.methods[method].covariance;
  for (int w = 0; w < windows; ++w) {
    if (!has_forecast(one, method, w)) continue;
    ++sums.windows;
    for (std::size_t p = 0; p < width; ++p) {
      const auto i = w * width + p;
      sums.squares[p] += errors[i] * errors[i];
      sums.variances[p] += covariance[i * modes + i % modes];
    }
  }
}

}  // namespace

int Hindcasts::find(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

int windows_known_at(const OriginForecasts& earlier, double date) {
  if (!earlier.origin.judged) return 0;
  const auto& windows = earlier.origin.windows;
  int n = 0;
  while (n < windows.size() && windows.dates_of(n)[windows.shape.out - 1] < date) ++n;
  return n;
}

bool has_forecast(const OriginForecasts& one, int method, int window) {
  const auto width = std::int64_t{one.out()} * one.modes, wide = width * one.modes;
  const auto& [mean, covariance] = one.methods[method];
  const auto is_number = [](double value) { return std::isfinite(value); };
  return std::all_of(mean.begin() + window * width, mean.begin() + (window + 1) * width, is_number) &&
         std::all_of(covariance.begin() + window * wide, covariance.begin() + (window + 1) * wide, is_number);
}

void calibrate(Hindcasts& hindcasts, int method, int least) {
  auto& origins = hindcasts.origins;
  std::vector<std::vector<double>> factors;  // before any spread is changed
  for (std::size_t here = 0; here < origins.size(); ++here) {
    const std::size_t width = std::int64_t{origins[here].out()} * origins[here].modes;
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
    const std::size_t modes = origins[here].modes;
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

/// Mean products of errors of some methods at each lead, over what has come and all of them forecast:
/// [out, k, k]; none where that are fewer than `least` windows.
std::vector<double> products_known_at(const std::vector<OriginForecasts>& origins, std::size_t here,
                                      const std::vector<int>& parts, int least) {
  const auto k = parts.size();
  const int out = origins[here].out();
  std::vector<double> q(out * k * k, 0.0);
  int windows = 0;
  for (std::size_t i = 0; i < here; ++i) {
    const auto& one = origins[i];
    const int known = windows_known_at(one, origins[here].origin.date);
    std::vector<std::vector<double>> errors;
    for (const int part : parts) errors.push_back(errors_of(one, part));
    for (int w = 0; w < known; ++w) {
      if (!forecast_by_all(one, w, parts)) continue;
      ++windows;
      for (int lead = 0; lead < out; ++lead)
        for (std::size_t a = 0; a < k; ++a)
          for (std::size_t b = 0; b < k; ++b) {
            const auto at = (std::int64_t{w} * out + lead) * one.modes;
            q[(lead * k + a) * k + b] += product(one, errors[a].data() + at, errors[b].data() + at);
          }
    }
  }
  if (windows < least) return {};
  for (double& value : q) value /= windows;
  return q;
}

/// Weights of some methods at an origin: [out, k].
struct LearnedWeights {
  bool learned = false;
  std::vector<double> weights;
};

LearnedWeights weights_at(const std::vector<OriginForecasts>& origins, std::size_t here,
                          const std::vector<int>& parts, double pull, int least) {
  const int k = parts.size();
  const std::size_t out = origins[here].out();
  const auto q = products_known_at(origins, here, parts, least);
  LearnedWeights result{!q.empty(), std::vector<double>(out * k, 1.0 / k)};
  for (std::size_t lead = 0; !q.empty() && lead < out; ++lead) {
    const auto first = q.begin() + lead * k * k;
    const auto w = mixture_weights({first, first + std::int64_t{k} * k}, k, pull);
    std::copy(w.begin(), w.end(), result.weights.begin() + lead * k);
  }
  return result;
}

/// Add the mixed distributions of a window to means and covariances that are zero.
/// @param weights [out, parts]
void mix_window(const OriginForecasts& one, int window, const std::vector<int>& parts,
                const std::vector<double>& weights, Predictive& result) {
  const std::size_t modes = one.modes, k = parts.size();
  for (int lead = 0; lead < one.out(); ++lead) {
    const std::size_t row = std::int64_t{window} * one.out() + lead;
    const double* w = weights.data() + lead * k;
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
}

/// NaN for a window that no method forecasts.
void leave_open(const OriginForecasts& one, int window, Predictive& result) {
  const auto width = std::int64_t{one.out()} * one.modes, wide = width * one.modes;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(result.mean.begin() + window * width, width, unknown);
  std::fill_n(result.covariance.begin() + window * wide, wide, unknown);
}

/// Those of some methods that forecast a window.
std::vector<int> present_at(const OriginForecasts& one, int window, const std::vector<int>& parts) {
  std::vector<int> present;
  for (const int part : parts)
    if (has_forecast(one, part, window)) present.push_back(part);
  return present;
}

/// Weights as they are told: [out, parts], NaN for a part that is not present.
MixtureWeights told(const OriginForecasts& one, const std::vector<int>& parts,
                    const std::vector<int>& present, const LearnedWeights& own) {
  const auto k = parts.size(), few = present.size();
  MixtureWeights result{one.origin.date, own.learned,
                        std::vector<double>(one.out() * k, std::numeric_limits<double>::quiet_NaN())};
  for (std::size_t p = 0; p < few; ++p) {
    const auto place = std::find(parts.begin(), parts.end(), present[p]) - parts.begin();
    for (int lead = 0; lead < one.out(); ++lead)
      result.weights[lead * k + place] = own.weights[lead * few + p];
  }
  return result;
}

}  // namespace

// Which methods forecast a window is known when it begins. So each window has the weights of its own set,
// and what fails later in the year changes nothing before.
std::vector<MixtureWeights> add_mixture(Hindcasts& hindcasts, const std::string& name,
                                        const std::vector<int>& parts, double pull, int least) {
  auto& origins = hindcasts.origins;
  std::vector<MixtureWeights> all;
  std::vector<Predictive> mixtures;
  for (std::size_t here = 0; here < origins.size(); ++here) {
    const auto& one = origins[here];
    Predictive mixture{std::vector<double>(one.truth.size(), 0.0),
                       std::vector<double>(one.truth.size() * one.modes, 0.0)};
    std::map<std::vector<int>, LearnedWeights> by_set;
    for (int w = 0; w < one.origin.windows.size(); ++w) {
      const auto present = present_at(one, w, parts);
      const auto [own, is_new] = by_set.try_emplace(present);
      if (is_new && !present.empty()) own->second = weights_at(origins, here, present, pull, least);
      if (w == 0) all.push_back(told(one, parts, present, own->second));
      if (present.empty())
        leave_open(one, w, mixture);
      else
        mix_window(one, w, present, own->second.weights, mixture);
    }
    mixtures.push_back(std::move(mixture));
  }
  for (std::size_t here = 0; here < origins.size(); ++here)
    origins[here].methods.push_back(std::move(mixtures[here]));
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
    const auto [ours, theirs] = squares_known_at(origins, here, {candidate, base});
    Earned earned{one.origin.date,
                  false,
                  {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()}};
    const int n = static_cast<int>(ours.size()) / out;
    if (n > 0) {
      const Bootstrap bootstrap(n, block);
      const auto a = bootstrap.sums(ours, out), b = bootstrap.sums(theirs, out);
      const auto rmse = [n, out](const std::vector<double>& sums, int sample) {
        const auto first = sums.begin() + std::int64_t{sample} * out;
        return std::sqrt(std::accumulate(first, first + out, 0.0) / n / out);
      };
      earned.gain = bootstrap.estimate([&](int sample) { return rmse(b, sample) - rmse(a, sample); });
      earned.kept = has_forecast(one, candidate, 0) && verdict_of(earned.gain) == Verdict::better;
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
