#include "surrogates/flow/encoder/batch_norm.hpp"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include "io/log/error.hpp"
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

/// For each feature of tensors like x [sample, feature, t, z, x], in the same order on any threads.
template <class Body>
void for_features(const at::Tensor& x, const Body& body) {
  constexpr std::int64_t least_values = 32768;  // of a thread
  const std::int64_t features = x.size(1), values = std::max<std::int64_t>(1, x.numel() / features);
  at::parallel_for(0, features, std::max<std::int64_t>(1, least_values / values),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t f = begin; f < end; ++f) body(f);
                   });
}
template <class Real>
FeatureRows<const Real> rows_of(const at::Tensor& x, std::int64_t feature) {
  const std::int64_t nodes = x.size(2) * x.size(3) * x.size(4);
  return {x.const_data_ptr<Real>() + feature * nodes, x.size(0), nodes, x.size(1) * nodes};
}
template <class Real>
FeatureRows<Real> rows_of(at::Tensor& x, std::int64_t feature) {
  const std::int64_t nodes = x.size(2) * x.size(3) * x.size(4);
  return {x.mutable_data_ptr<Real>() + feature * nodes, x.size(0), nodes, x.size(1) * nodes};
}
/// [feature] float64 of a function of it.
template <class Function>
at::Tensor by_feature(const at::Tensor& x, const Function& function) {
  at::Tensor found = at::empty({x.size(1)}, at::kDouble);
  auto* const to = found.mutable_data_ptr<double>();
  for_features(x, [&](std::int64_t f) { to[f] = function(f); });
  return found;
}
/// body(float) or body(double)
template <class Body>
void in_type_of(const at::Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kFloat) return body(float{});
  if (x.scalar_type() == at::kDouble) return body(double{});
  throw InternalError("batch normalisation of neither float nor double");
}

void sum_over_ranks(const Comm& comm, at::Tensor& sums) {
  if (comm.size() == 1) return;
  comm.reduce(std::span<double>(sums.data_ptr<double>(), static_cast<std::size_t>(sums.numel())),
              Comm::Reduction::sum);
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
  at::Tensor sums = at::cat({at::full({1}, n, at::kDouble), n * own, squares + n * own * own});
  sum_over_ranks(comm, sums);
  n = sums.data_ptr<double>()[0];
  const at::Tensor shift = sums.narrow(0, 1, features) / n;
  mean = near + shift;
  squares = (sums.narrow(0, 1 + features, features) - n * shift * shift).clamp_min(0);
}

/// [feature] as a factor of [sample, feature, t, z, x], in the type of x.
at::Tensor spread(const at::Tensor& of_feature, const at::Tensor& x) {
  return of_feature.to(x.scalar_type()).view({1, -1, 1, 1, 1});
}

class BatchNorm : public torch::autograd::Function<BatchNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& gamma,
                            const at::Tensor& beta, at::Tensor running_mean, at::Tensor running_variance,
                            const Comm* comm, double momentum, double epsilon, BatchMoments* moments) {
    const at::Tensor x = given.contiguous();
    at::Tensor normal = at::empty_like(x), y = at::empty_like(x), scale;
    double n = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
    in_type_of(x, [&]<class Real>(Real) {
      const bool again = moments && moments->mean.defined();
      if (again) n = moments->n;
      // A rank may have no samples.
      at::Tensor mean = again ? moments->own_mean : by_feature(x, [&](std::int64_t f) {
                                                      return sum_of(rows_of<Real>(x, f));
                                                    }) / std::max(n, 1.0);
      const at::Tensor own_mean = mean;
      const auto* const own = own_mean.const_data_ptr<double>();
      at::Tensor variance = again ? moments->variance : by_feature(x, [&](std::int64_t f) {
        return squares_of(rows_of<Real>(x, f), static_cast<Real>(own[f]));
      });
      if (again)
        mean = moments->mean;
      else if (comm->size() > 1)
        combine_moments(*comm, running_mean, n, mean, variance);
      QUINTET_CHECK(
          n > 1,
          "batch normalisation over one value a feature leaves nothing of it; use a larger batch, larger "
          "blocks or fewer levels of the U-Net");
      if (!again) {
        running_mean.mul_(1 - momentum).add_(mean, momentum);
        running_variance.mul_(1 - momentum).add_(variance / (n - 1), momentum);
        variance /= n;
        if (moments) *moments = {n, own_mean, mean, variance};
      }
      scale = (variance + epsilon).rsqrt().to(x.scalar_type());
      const at::Tensor g = gamma.contiguous(), b = beta.contiguous(), shift = own_mean - mean;
      const auto *const gammas = g.const_data_ptr<Real>(), *const betas = b.const_data_ptr<Real>(),
                        *const scales = scale.const_data_ptr<Real>();
      const auto* const shifts = shift.const_data_ptr<double>();
      for_features(x, [&](std::int64_t f) {
        normalise(rows_of<Real>(std::as_const(x), f), static_cast<Real>(own[f]), static_cast<Real>(shifts[f]),
                  scales[f], gammas[f], betas[f], rows_of<Real>(normal, f), rows_of<Real>(y, f));
      });
    });
    context->save_for_backward({normal, scale, gamma});
    context->saved_data["n"] = n;
    context->saved_data["comm"] = c10::IValue::make_capsule(
        c10::intrusive_ptr<torch::CustomClassHolder>(c10::make_intrusive<HeldComm>(*comm)));
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &normal = saved[0], &scale = saved[1], &gamma = saved[2],
                     y_bar = gradients[0].contiguous();
    const double n = context->saved_data["n"].toDouble();
    const auto capsule = context->saved_data["comm"].toCapsule();
    const Comm& comm = static_cast<const HeldComm&>(*capsule).comm;
    at::Tensor own, x_bar = at::empty_like(y_bar);
    in_type_of(y_bar, [&]<class Real>(Real) {
      own = at::stack({by_feature(y_bar, [&](std::int64_t f) { return sum_of(rows_of<Real>(y_bar, f)); }),
                       by_feature(y_bar, [&](std::int64_t f) {
                         return product_of(rows_of<Real>(y_bar, f), rows_of<Real>(normal, f));
                       })});
      at::Tensor all = own.clone();
      sum_over_ranks(comm, all);
      // dS/dx = gamma scale (y_bar - <y_bar> - normal <y_bar normal>)
      const at::Tensor factor = scale * gamma;
      const auto* const factors = factor.const_data_ptr<Real>();
      const auto* const sums = all.const_data_ptr<double>();
      const std::int64_t features = y_bar.size(1);
      for_features(y_bar, [&](std::int64_t f) {
        normalise_backward(rows_of<Real>(y_bar, f), rows_of<Real>(normal, f), static_cast<Real>(sums[f] / n),
                           static_cast<Real>(sums[features + f] / n), factors[f], rows_of<Real>(x_bar, f));
      });
    });
    return {x_bar, own[1].to(gamma.scalar_type()), own[0].to(gamma.scalar_type()), {}, {}, {}, {}, {}, {}};
  }
};

}  // namespace

at::Tensor batch_norm_over_ranks(const Comm& comm, const at::Tensor& x, const at::Tensor& gamma,
                                 const at::Tensor& beta, at::Tensor running_mean, at::Tensor running_variance,
                                 double momentum, double epsilon, BatchMoments* moments) {
  return BatchNorm::apply(x, gamma, beta, std::move(running_mean), std::move(running_variance), &comm,
                          momentum, epsilon, moments);
}

at::Tensor batch_norm_by_running(const at::Tensor& x, const at::Tensor& gamma, const at::Tensor& beta,
                                 const at::Tensor& running_mean, const at::Tensor& running_variance,
                                 double epsilon) {
  const at::Tensor factor = gamma.to(at::kDouble) * (running_variance + epsilon).rsqrt();
  const at::Tensor offset = beta.to(at::kDouble) - running_mean * factor;
  return at::addcmul(spread(offset, x), x, spread(factor, x));
}

}  // namespace quintet::flow
