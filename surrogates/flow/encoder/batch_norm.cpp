#include "surrogates/flow/encoder/batch_norm.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/flow/encoder/batch_norm_kernels.hpp"

namespace quintet::flow {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// A communicator on its way to the backward pass.
struct HeldComm : torch::CustomClassHolder {
  explicit HeldComm(Comm held) : comm(std::move(held)) {}
  Comm comm;
};

/// Call body(feature, rows, first) for all features; `first` is where the feature's numbers begin in x
/// [sample, feature, t, z, x]. A feature's numbers are one thread's: results do not depend on their number.
template <class Body>
void for_features(const at::Tensor& x, Body&& body) {
  const std::int64_t features = x.size(1), nodes = x.size(2) * x.size(3) * x.size(4);
  const FeatureRows rows{x.size(0), nodes, features * nodes};
  const std::int64_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, x.size(0) * nodes));
  at::parallel_for(0, features, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t feature = begin; feature < end; ++feature) body(feature, rows, feature * nodes);
  });
}

/// Sums of term(place, feature) over samples and nodes of this rank, float64 [feature].
template <class Term>
at::Tensor feature_sums(const at::Tensor& x, Term&& term) {
  at::Tensor sums = at::empty({x.size(1)}, at::kDouble);
  auto* const to = sums.data_ptr<double>();
  for_features(x, [&](std::int64_t feature, const FeatureRows& rows, std::int64_t first) {
    to[feature] = sum_over(rows, [&](std::int64_t i) { return term(first + i, feature); });
  });
  return sums;
}

/// body(Real()) for the type of x.
template <class Body>
void with_type_of(const at::Tensor& x, Body&& body) {
  if (x.scalar_type() == at::kDouble)
    body(double());
  else
    body(float());
}

void sum_over_ranks(const Comm& comm, at::Tensor& sums) {
  if (comm.size() == 1) return;
  const at::Tensor here = sums.to(at::kCPU);
  comm.reduce(std::span<double>(here.data_ptr<double>(), here.numel()), Comm::Reduction::sum);
  sums = here.to(sums.device());
}

/// From this rank's number, means and sums of squared deviations M_r [feature] to those of all ranks, in one
/// reduction: with d_r = mean_r - near and d = sum_r n_r d_r/n
///
///     mean = near + d,   M = sum_r (M_r + n_r d_r^2) - n d^2.
///
/// @param near the same on all ranks; the closer to the mean, the less is lost in the difference
/// Source: Chan, Golub and LeVeque 1983.
void combine_moments(const Comm& comm, const at::Tensor& near, double& n, at::Tensor& mean,
                     at::Tensor& squares) {
  const std::int64_t features = mean.size(0);
  const at::Tensor own = mean - near;
  at::Tensor sums = at::cat({at::full({1}, n, own.options()), n * own, squares + n * own * own});
  sum_over_ranks(comm, sums);
  n = sums[0].item<double>();
  const at::Tensor shift = sums.narrow(0, 1, features) / n;
  mean = near + shift;
  squares = (sums.narrow(0, 1 + features, features) - n * shift * shift).clamp_min(0);
}

/// [feature] as a factor of [sample, feature, t, z, x], in the type of x.
at::Tensor spread(const at::Tensor& of_feature, const at::Tensor& x) {
  return of_feature.to(x.scalar_type()).view({1, -1, 1, 1, 1});
}

/// Over all but the features, in float64.
at::Tensor wide_sums(const at::Tensor& x) { return x.sum({0, 2, 3, 4}, /*keepdim=*/false, at::kDouble); }

/// Sweeps over the numbers of an array and of its adjoint, on the host or where torch has it.
template <NormSweeps>
struct Sweeps;

template <>
struct Sweeps<NormSweeps::ours> {
  /// Mean and sum of squared deviations of this rank's numbers [feature]; a rank may have no samples.
  static std::pair<at::Tensor, at::Tensor> own_moments(const at::Tensor& x, double n) {
    at::Tensor mean, squares;
    with_type_of(x, [&]<class Real>(Real) {
      const Real* const from = x.data_ptr<Real>();
      mean = feature_sums(x, [from](std::int64_t i, std::int64_t) { return static_cast<double>(from[i]); }) /
             std::max(n, 1.0);
      const double* const centre = mean.data_ptr<double>();
      squares = feature_sums(x, [from, centre](std::int64_t i, std::int64_t feature) {
        const double away = static_cast<double>(from[i]) - centre[feature];
        return away * away;
      });
    });
    return {mean, squares};
  }

  /// (x - mean) scale, and gamma times that plus beta.
  static std::pair<at::Tensor, at::Tensor> normalise(const at::Tensor& x, const at::Tensor& mean,
                                                     const at::Tensor& scale, const at::Tensor& gamma,
                                                     const at::Tensor& beta) {
    at::Tensor normal = at::empty_like(x), y = at::empty_like(x);
    with_type_of(x, [&]<class Real>(Real) {
      const Real *const from = x.data_ptr<Real>(), *const g = gamma.data_ptr<Real>(),
                        *const b = beta.data_ptr<Real>();
      Real *const unit = normal.data_ptr<Real>(), *const to = y.data_ptr<Real>();
      for_features(x, [&](std::int64_t feature, const FeatureRows& rows, std::int64_t first) {
        const Real centre = mean.data_ptr<double>()[feature], factor = scale.data_ptr<double>()[feature];
        const Real slope = g[feature], offset = b[feature];
        for_all(rows, [&](std::int64_t i) {
          const Real value = (from[first + i] - centre) * factor;
          unit[first + i] = value;
          to[first + i] = offset + slope * value;
        });
      });
    });
    return {normal, y};
  }

  /// Sums of y_bar and of y_bar normal [2, feature].
  static at::Tensor adjoint_sums(const at::Tensor& y_bar, const at::Tensor& normal) {
    at::Tensor sums;
    with_type_of(y_bar, [&]<class Real>(Real) {
      const Real *const bar = y_bar.data_ptr<Real>(), *const unit = normal.data_ptr<Real>();
      sums = at::stack(
          {feature_sums(y_bar, [bar](std::int64_t i, std::int64_t) { return static_cast<double>(bar[i]); }),
           feature_sums(y_bar, [bar, unit](std::int64_t i, std::int64_t) {
             return static_cast<double>(bar[i]) * static_cast<double>(unit[i]);
           })});
    });
    return sums;
  }

  /// dS/dx = gamma scale (y_bar - <y_bar> - normal <y_bar normal>), of those sums over all n.
  static at::Tensor adjoint(const at::Tensor& y_bar, const at::Tensor& normal, const at::Tensor& sums,
                            double n, const at::Tensor& scale, const at::Tensor& gamma) {
    at::Tensor x_bar = at::empty_like(y_bar);
    with_type_of(y_bar, [&]<class Real>(Real) {
      const Real *const bar = y_bar.data_ptr<Real>(), *const unit = normal.data_ptr<Real>(),
                        *const g = gamma.data_ptr<Real>();
      Real* const to = x_bar.data_ptr<Real>();
      const double *const bars = sums.data_ptr<double>(), *const products = bars + y_bar.size(1);
      for_features(y_bar, [&](std::int64_t feature, const FeatureRows& rows, std::int64_t first) {
        const Real mean_bar = bars[feature] / n, mean_product = products[feature] / n,
                   factor = static_cast<Real>(scale.data_ptr<double>()[feature]) * g[feature];
        for_all(rows, [&](std::int64_t i) {
          to[first + i] = factor * (bar[first + i] - mean_bar - unit[first + i] * mean_product);
        });
      });
    });
    return x_bar;
  }
};

template <>
struct Sweeps<NormSweeps::torch> {
  static std::pair<at::Tensor, at::Tensor> own_moments(const at::Tensor& x, double n) {
    const at::Tensor mean = wide_sums(x) / std::max(n, 1.0);
    return {mean, wide_sums((x - mean.view({1, -1, 1, 1, 1})).square())};
  }
  static std::pair<at::Tensor, at::Tensor> normalise(const at::Tensor& x, const at::Tensor& mean,
                                                     const at::Tensor& scale, const at::Tensor& gamma,
                                                     const at::Tensor& beta) {
    at::Tensor normal = (x - spread(mean, x)) * spread(scale, x);
    at::Tensor y = at::addcmul(spread(beta, x), normal, spread(gamma, x));
    return {normal, y};
  }
  static at::Tensor adjoint_sums(const at::Tensor& y_bar, const at::Tensor& normal) {
    return at::stack({wide_sums(y_bar), wide_sums(y_bar.to(at::kDouble) * normal)});
  }
  static at::Tensor adjoint(const at::Tensor& y_bar, const at::Tensor& normal, const at::Tensor& sums,
                            double n, const at::Tensor& scale, const at::Tensor& gamma) {
    return (y_bar - spread(sums[0] / n, y_bar) - normal * spread(sums[1] / n, y_bar)) *
           (spread(scale, y_bar) * spread(gamma, y_bar));
  }
};

/// Call body(Sweeps).
template <class Body>
auto with_sweeps(NormSweeps sweeps, Body&& body) {
  switch (sweeps) {
    case NormSweeps::ours:
      return body(Sweeps<NormSweeps::ours>());
    case NormSweeps::torch:
      return body(Sweeps<NormSweeps::torch>());
  }
  throw InternalError("a normalisation that nobody sweeps");
}

class BatchNorm : public torch::autograd::Function<BatchNorm> {
 public:
  // Moments are of all ranks' values. A recomputed pass takes the first one's moments, and leaves the running
  // ones alone.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& gamma,
                            const at::Tensor& beta, at::Tensor running_mean, at::Tensor running_variance,
                            const Comm* comm, double momentum, double epsilon, BatchMoments* moments,
                            NormSweeps sweeps) {
    const at::Tensor x = given.contiguous();
    const bool again = moments && moments->mean.defined();
    double n = again ? moments->n : static_cast<double>(x.numel()) / x.size(1);
    at::Tensor mean, variance;
    if (again) {
      mean = moments->mean;
      variance = moments->variance;
    } else {
      std::tie(mean, variance) = with_sweeps(sweeps, [&](auto by) { return by.own_moments(x, n); });
      if (comm->size() > 1) combine_moments(*comm, running_mean, n, mean, variance);
    }
    QUINTET_CHECK(
        n > 1,
        "batch normalisation over one value a feature leaves nothing of it; use a larger batch, larger "
        "blocks or fewer levels of the U-Net");
    if (!again) {
      running_mean.mul_(1 - momentum).add_(mean, momentum);
      running_variance.mul_(1 - momentum).add_(variance / (n - 1), momentum);
      variance /= n;
      if (moments) *moments = {n, mean, variance};
    }
    const at::Tensor scale = (variance + epsilon).rsqrt();
    const auto [normal, y] =
        with_sweeps(sweeps, [&](auto by) { return by.normalise(x, mean, scale, gamma, beta); });
    context->save_for_backward({normal, scale, gamma});
    context->saved_data["n"] = n;
    context->saved_data["sweeps"] = static_cast<std::int64_t>(sweeps);
    context->saved_data["comm"] = c10::IValue::make_capsule(
        c10::intrusive_ptr<torch::CustomClassHolder>(c10::make_intrusive<HeldComm>(*comm)));
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &normal = saved[0], &scale = saved[1], &gamma = saved[2];
    const at::Tensor y_bar = gradients[0].contiguous();
    const double n = context->saved_data["n"].toDouble();
    const auto capsule = context->saved_data["comm"].toCapsule();
    const Comm& comm = static_cast<const HeldComm&>(*capsule).comm;
    const auto sweeps = static_cast<NormSweeps>(context->saved_data["sweeps"].toInt());
    const at::Tensor own = with_sweeps(sweeps, [&](auto by) { return by.adjoint_sums(y_bar, normal); });
    at::Tensor all = own.clone();
    sum_over_ranks(comm, all);
    const at::Tensor x_bar =
        with_sweeps(sweeps, [&](auto by) { return by.adjoint(y_bar, normal, all, n, scale, gamma); });
    return {x_bar, own[1].to(gamma.scalar_type()), own[0].to(gamma.scalar_type()), {}, {}, {}, {}, {}, {},
            {}};
  }
};

}  // namespace

at::Tensor batch_norm_over_ranks(const Comm& comm, const at::Tensor& x, const at::Tensor& gamma,
                                 const at::Tensor& beta, at::Tensor running_mean, at::Tensor running_variance,
                                 double momentum, double epsilon, BatchMoments* moments, NormSweeps sweeps) {
  return BatchNorm::apply(x, gamma, beta, std::move(running_mean), std::move(running_variance), &comm,
                          momentum, epsilon, moments, sweeps);
}

at::Tensor batch_norm_by_running(const at::Tensor& x, const at::Tensor& gamma, const at::Tensor& beta,
                                 const at::Tensor& running_mean, const at::Tensor& running_variance,
                                 double epsilon) {
  const at::Tensor factor = gamma.to(at::kDouble) * (running_variance + epsilon).rsqrt();
  const at::Tensor offset = beta.to(at::kDouble) - running_mean * factor;
  return at::addcmul(spread(offset, x), x, spread(factor, x));
}

}  // namespace quintet::flow
