#include "surrogates/experts/network_router.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "surrogates/experts/rewrite.hpp"

namespace quintet::experts {
namespace {

constexpr double decay = 1e-4;
constexpr int usual_hidden = 16;

/// The parts of the weights.
struct Parts {
  const double *w1, *b1, *w2, *b2;
  explicit Parts(const NetworkRouter& network)
      : w1(network.weights.data()),
        b1(w1 + network.hidden * network.by.size()),
        w2(b1 + network.hidden),
        b2(w2 + network.ids.size() * network.hidden) {}
};

/// z of a row, hidden values and probabilities.
struct Pass {
  std::vector<double> z, h, p;
};

Pass forward(const NetworkRouter& network, const double* x) {
  const std::size_t keys = network.by.size(), n = network.ids.size(), hidden = network.hidden;
  const Parts parts(network);
  Pass pass{std::vector<double>(keys), std::vector<double>(hidden), std::vector<double>(n)};
  for (std::size_t k = 0; k < keys; ++k)
    pass.z[k] = ((network.logarithms[k] ? std::log(x[k]) : x[k]) - network.mean[k]) / network.scale[k];
  for (std::size_t i = 0; i < hidden; ++i) {
    double sum = parts.b1[i];
    for (std::size_t k = 0; k < keys; ++k) sum += parts.w1[i * keys + k] * pass.z[k];
    pass.h[i] = std::tanh(sum);
  }
  for (std::size_t e = 0; e < n; ++e) {
    pass.p[e] = parts.b2[e];
    for (std::size_t i = 0; i < hidden; ++i) pass.p[e] += parts.w2[e * hidden + i] * pass.h[i];
  }
  const double most = *std::max_element(pass.p.begin(), pass.p.end());
  double sum = 0;
  for (double& value : pass.p) sum += value = std::exp(value - most);
  for (double& value : pass.p) value /= sum;
  return pass;
}

}  // namespace

std::vector<double> NetworkRouter::probabilities(const std::map<std::string, double>& values) const {
  std::vector<double> x;
  for (std::size_t k = 0; k < by.size(); ++k) {
    x.push_back(values.at(by[k]));
    QUINTET_CHECK(!logarithms[k] || x[k] > 0, "{} is {}; the router takes its logarithm", by[k], x[k]);
  }
  return forward(*this, x.data()).p;
}

std::pair<double, std::vector<double>> loss_and_gradient(const NetworkRouter& network,
                                                         const RouterExamples& examples) {
  const std::size_t keys = network.by.size(), n = network.ids.size(), hidden = network.hidden;
  const Parts parts(network);
  std::vector<double> gradient(network.weights.size(), 0.0);
  double* const w1 = gradient.data();
  double *const b1 = w1 + hidden * keys, *const w2 = b1 + hidden, *const b2 = w2 + n * hidden;
  double loss = 0;
  const double share = 1.0 / examples.labels.size();
  for (std::size_t row = 0; row < examples.labels.size(); ++row) {
    auto pass = forward(network, &examples.rows[row * keys]);
    const std::size_t label = examples.labels[row];
    loss -= share * std::log(std::max(pass.p[label], 1e-300));
    pass.p[label] -= 1;  // from here on the gradient by the logits
    std::vector<double> back(hidden, 0.0);
    for (std::size_t e = 0; e < n; ++e) {
      const double g = share * pass.p[e];
      b2[e] += g;
      for (std::size_t i = 0; i < hidden; ++i) {
        w2[e * hidden + i] += g * pass.h[i];
        back[i] += g * parts.w2[e * hidden + i];
      }
    }
    for (std::size_t i = 0; i < hidden; ++i) {
      const double g = back[i] * (1 - pass.h[i] * pass.h[i]);
      b1[i] += g;
      for (std::size_t k = 0; k < keys; ++k) w1[i * keys + k] += g * pass.z[k];
    }
  }
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    loss += decay / 2 * network.weights[i] * network.weights[i];
    gradient[i] += decay * network.weights[i];
  }
  return {loss, gradient};
}

namespace {

/// Mean, deviation and whether logarithms are taken, key by key.
void scale_keys(NetworkRouter& network, const RouterExamples& examples) {
  const std::size_t keys = network.by.size(), n = examples.labels.size();
  for (std::size_t k = 0; k < keys; ++k) {
    double least = examples.rows[k], most = least, sum = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = examples.rows[i * keys + k];
      QUINTET_CHECK(std::isfinite(x), "{} of example {} is {}", network.by[k], i + 1, x);
      least = std::min(least, x), most = std::max(most, x);
    }
    const bool logarithms = least > 0 && most / least >= 100;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = examples.rows[i * keys + k], y = logarithms ? std::log(x) : x;
      sum += y, square += y * y;
    }
    const double mean = sum / n;
    const double deviation = rounded_root(square / n - mean * mean);
    network.logarithms.push_back(logarithms);
    network.mean.push_back(mean);
    network.scale.push_back(deviation > 0 ? deviation : 1);
  }
}

}  // namespace

NetworkRouter train_router(const std::string& app, const RouterExamples& examples) {
  QUINTET_CHECK(!examples.labels.empty() && !examples.by.empty(), "no examples to train a router on");
  QUINTET_CHECK(examples.ids.size() > 1, "the examples know {} expert; a router chooses among two or more",
                examples.ids.size());
  NetworkRouter network{app, examples.by, examples.ids, {}, {}, {}, usual_hidden, {}};
  scale_keys(network, examples);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < network.n_weights(); ++i) network.weights.push_back(0.5 * normal(random));
  constexpr int steps = 2000;
  constexpr double b1 = 0.9, b2 = 0.999;
  std::vector<double> m(network.weights.size(), 0.0), v = m;
  for (int step = 1; step <= steps; ++step) {
    const auto gradient = loss_and_gradient(network, examples).second;
    const double rate = 0.02 * (1 - static_cast<double>(step - 1) / steps);
    for (std::size_t i = 0; i < m.size(); ++i) {
      m[i] += (1 - b1) * (gradient[i] - m[i]);
      v[i] += (1 - b2) * (gradient[i] * gradient[i] - v[i]);
      network.weights[i] -=
          rate * m[i] / (1 - std::pow(b1, step)) / (std::sqrt(v[i] / (1 - std::pow(b2, step))) + 1e-12);
    }
  }
  return network;
}

double accuracy(const NetworkRouter& network, const RouterExamples& examples) {
  int right = 0;
  for (std::size_t i = 0; i < examples.labels.size(); ++i) {
    const auto p = forward(network, &examples.rows[i * network.by.size()]).p;
    right += std::max_element(p.begin(), p.end()) - p.begin() == examples.labels[i];
  }
  return right / std::max<double>(1.0, examples.labels.size());
}

void write_router(const std::string& registry, const NetworkRouter& network) {
  rewrite_registry(registry, [&](const std::string& copy, bool) {
    auto file = hdf5::File::open_for_update(Comm::self(), copy);
    auto group = file.root().group("router");
    group.set_attribute("kind", "network");
    group.set_attribute("app", network.app);
    group.set_attribute("by", network.by);
    group.set_attribute("experts", network.ids);
    group.set_attribute("hidden", network.hidden);
    const std::vector<double> logarithms(network.logarithms.begin(), network.logarithms.end());
    const std::uint64_t keys = network.by.size();
    group.write<double>("logarithms", logarithms, {keys}, {"1", {"key"}, "1: z is of the logarithm"});
    group.write<double>("mean", network.mean, {keys}, {"1", {"key"}, "z = (x - mean)/scale"});
    group.write<double>("scale", network.scale, {keys}, {"1", {"key"}, "z = (x - mean)/scale"});
    group.write<double>("weights", network.weights, {network.weights.size()},
                        {"1", {"weight"}, "W1 [hidden, key], b1, W2 [expert, hidden], b2"});
    file.close();
  });
}

NetworkRouter read_router(const hdf5::Group& root, const std::string& path) {
  const auto group = root.open_group("router");
  constexpr std::size_t most = 4096;
  NetworkRouter network;
  QUINTET_CHECK(group.text_attribute("kind") == "network", "{}: a router of an unknown kind", path);
  network.app = group.text_attribute("app");
  network.by = group.texts_attribute("by");
  network.ids = group.texts_attribute("experts");
  const auto hidden = group.integer_attribute("hidden");
  QUINTET_CHECK(!network.by.empty() && network.by.size() <= most && network.ids.size() > 1 &&
                    network.ids.size() <= most && hidden > 0 && hidden <= static_cast<std::int64_t>(most),
                "{}: a router of {} keys, {} hidden values and {} experts; expected up to {} each", path,
                network.by.size(), hidden, network.ids.size(), most);
  network.hidden = hidden;
  const auto numbers = [&](const char* name, std::size_t n) {
    auto values = group.read<double>(name, {n});
    QUINTET_CHECK(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }),
                  "{}: router: {} holds numbers that are not finite", path, name);
    return values;
  };
  for (const double flag : numbers("logarithms", network.by.size())) network.logarithms.push_back(flag != 0);
  network.mean = numbers("mean", network.by.size());
  network.scale = numbers("scale", network.by.size());
  for (const double scale : network.scale)
    QUINTET_CHECK(scale > 0, "{}: router: a scale of {}; expected more than 0", path, scale);
  network.weights = numbers("weights", network.n_weights());
  return network;
}

}  // namespace quintet::experts
