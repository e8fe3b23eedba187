#include "surrogates/flow/encoder/batch_norm.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include "io/log/error.hpp"

namespace quintet::flow {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::array<std::int64_t, 4> all_but_features = {0, 2, 3, 4};

/// A communicator on its way to the backward pass.
struct HeldComm : torch::CustomClassHolder {
  explicit HeldComm(Comm held) : comm(std::move(held)) {}
  Comm comm;
};

/// Sum over samples and nodes of this rank, float64 [feature].
at::Tensor feature_sum(const at::Tensor& x) { return x.sum(all_but_features, false, at::kDouble); }

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
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gamma,
                            const at::Tensor& beta, at::Tensor running_mean, at::Tensor running_variance,
                            const Comm* comm, double momentum, double epsilon, BatchMoments* moments) {
    const bool again = moments && moments->mean.defined();
    double n = again ? moments->n : static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
    // A rank may have no samples.
    at::Tensor mean = again ? moments->own_mean : feature_sum(x) / std::max(n, 1.0);
    const at::Tensor own_mean = mean;
    at::Tensor centred = x - spread(mean, x);
    at::Tensor variance = again ? moments->variance : feature_sum(centred * centred);
    if (again)
      mean = moments->mean;
    else if (comm->size() > 1)
      combine_moments(*comm, running_mean, n, mean, variance);
    if (comm->size() > 1) centred += spread(own_mean - mean, x);
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
    const at::Tensor scale = spread((variance + epsilon).rsqrt(), x);
    const at::Tensor normal = centred * scale;
    context->save_for_backward({normal, scale, gamma});
    context->saved_data["n"] = n;
    context->saved_data["comm"] = c10::IValue::make_capsule(
        c10::intrusive_ptr<torch::CustomClassHolder>(c10::make_intrusive<HeldComm>(*comm)));
    return at::addcmul(spread(beta, x), normal, spread(gamma, x));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &normal = saved[0], &scale = saved[1], &gamma = saved[2], &y_bar = gradients[0];
    const double n = context->saved_data["n"].toDouble();
    const auto capsule = context->saved_data["comm"].toCapsule();
    const Comm& comm = static_cast<const HeldComm&>(*capsule).comm;
    const at::Tensor own = at::stack({feature_sum(y_bar), feature_sum(y_bar * normal)});
    at::Tensor all = own.clone();
    sum_over_ranks(comm, all);
    // dS/dx = gamma scale (y_bar - <y_bar> - normal <y_bar normal>)
    const at::Tensor rest = y_bar - spread(all[0] / n, y_bar) - normal * spread(all[1] / n, y_bar);
    return {rest * (scale * spread(gamma, y_bar)),
            own[1].to(gamma.scalar_type()),
            own[0].to(gamma.scalar_type()),
            {},
            {},
            {},
            {},
            {},
            {}};
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
