#include "surrogates/flow/encoder/unet.hpp"
#include "surrogates/bridge/operators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/flow/encoder/batch_norm.hpp"
#include "surrogates/flow/encoder/fourier_part.hpp"

namespace quintet::flow {
namespace {

at::Tensor tensor_of(const std::vector<double>& values) {
  return at::from_blob(const_cast<double*>(values.data()), {std::ssize(values)}, at::kDouble).clone();
}

/// Smooth numbers, the same on all ranks.
at::Tensor waves(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (const auto extent : shape) n *= extent;
  return at::sin(at::arange(n, at::kDouble) * 0.7313 + 0.2).view(shape);
}

UnetOptions small() {
  UnetOptions options;
  options.n_input = 2;
  options.n_output = 3;
  options.width = 4;
  options.widest = 8;
  options.block = {2, 4, 4};
  return options;
}

/// This rank's samples of n.
std::pair<std::int64_t, std::int64_t> share(const Comm& comm, std::int64_t n) {
  const std::int64_t begin = n * comm.rank() / comm.size(), end = n * (comm.rank() + 1) / comm.size();
  return {begin, end - begin};
}

TEST(Unet, has_the_parameters_of_the_paper) {
  const Unet unet{UnetOptions{}};
  EXPECT_EQ(unet.n_parameters(), 1458400u);
  EXPECT_EQ(unet.initial_parameters(1).size(), unet.n_parameters());
  EXPECT_EQ(unet.initial_statistics().size(), unet.n_statistics());
  const auto description = describe_unet(unet.blocks(), {4, 16, 16}, 4);
  EXPECT_EQ(description.total().parameters, 1458400u);
  // Coarsest nodes: pooled until one is left.
  const auto pool = std::find_if(description.blocks.begin(), description.blocks.end(),
                                 [](const auto& block) { return block.name == "pool_4"; });
  ASSERT_NE(pool, description.blocks.end());
  EXPECT_EQ(pool->kind, "largest on 1 x 1 x 1");
  EXPECT_EQ(pool->output_bytes, 256u * 4);
}

TEST(Unet, blocks_name_their_inputs_before_they_are_used) {
  for (const auto& block : {GridShape{4, 16, 16}, GridShape{2, 6, 10}, GridShape{1, 1, 2}}) {
    UnetOptions options;
    options.block = block;
    std::vector<std::string> known{unet_input};
    for (const auto& one : unet_blocks(options)) {
      for (const auto& input : one.inputs)
        EXPECT_NE(std::find(known.begin(), known.end(), input), known.end())
            << one.name << " reads " << input;
      known.push_back(one.name);
    }
  }
}

TEST(Unet, takes_blocks_of_any_size) {
  const Unet unet(small());
  const at::Tensor parameters = tensor_of(unet.initial_parameters(1)),
                   statistics = tensor_of(unet.initial_statistics());
  for (const auto& shape :
       {GridShape{2, 4, 4}, GridShape{1, 1, 1}, GridShape{3, 7, 5}, GridShape{4, 9, 16}}) {
    const at::Tensor latents =
        unet.evaluate(parameters, waves({2, 2, shape[0], shape[1], shape[2]}), statistics);
    EXPECT_EQ(latents.sizes(), (at::IntArrayRef{2, shape[0], shape[1], shape[2], 3}));
    EXPECT_TRUE(latents.is_contiguous());
  }
}

TEST(Unet, refinement_makes_fields_on_a_finer_grid) {
  UnetOptions options = small();
  options.refinement = {2, 6, 4};
  options.n_refined = 2;
  const Unet unet(options);
  double least = 1;
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    const at::Tensor fields = unet.evaluate(tensor_of(unet.initial_parameters(seed)), waves({2, 2, 2, 4, 5}),
                                            tensor_of(unet.initial_statistics()));
    EXPECT_EQ(fields.sizes(), (at::IntArrayRef{2, 4, 24, 20, 2}));
    least = std::min(least, fields.min().item<double>());
  }
  EXPECT_LT(least, 0) << "no relu at the end";
  EXPECT_EQ(describe_unet(unet.blocks(), {2, 4, 5}, 8).blocks.back().output_bytes, 4u * 24 * 20 * 2 * 8);
}

TEST(Unet, refinement_of_the_input_begins_with_interpolation) {
  UnetOptions options = small();
  options.refinement = {2, 3, 4};
  options.n_refined = 2;
  options.adds_input = true;
  const Unet unet(options);
  const auto along = [](int axis, int n, double first, double step) {
    std::vector<std::int64_t> shape(5, 1);
    shape[axis] = n;
    return (first + step * at::arange(n, at::kDouble)).view(shape);
  };
  const at::Tensor linear = along(2, 4, 0, 0.3) + along(3, 4, 0, -0.2) + along(4, 5, 0.7, 0.1);
  const at::Tensor fine = along(2, 8, -0.25 * 0.3, 0.15) + along(3, 12, 0.2 / 3, -0.2 / 3) +
                          along(4, 20, 0.7 - 0.375 * 0.1, 0.025);
  const at::Tensor input = at::cat({linear, -linear}, 1);
  const at::Tensor found =
      unet.evaluate(tensor_of(unet.initial_parameters(1)), input, tensor_of(unet.initial_statistics()));
  const auto inside = [](const at::Tensor& x) {  // between the first and the last node
    return x.slice(1, 1, 7).slice(2, 1, 11).slice(3, 2, 18);
  };
  for (const int field : {0, 1}) {
    const at::Tensor expected = (field == 0 ? fine : -fine).select(1, 0);
    EXPECT_LT((inside(found.select(4, field)) - inside(expected)).abs().max().item<double>(), 1e-12);
  }
}

TEST(Unet, circular_padding_knows_no_first_node) {
  UnetOptions options = small();
  options.padding = {Padding::zeros, Padding::zeros, Padding::circular};
  const Unet unet(options);
  const at::Tensor parameters = tensor_of(unet.initial_parameters(1)),
                   statistics = tensor_of(unet.initial_statistics()), input = waves({1, 2, 2, 4, 8});
  // A shift by the pooling's period shifts the latents.
  const at::Tensor there = unet.evaluate(parameters, input.roll(4, 4), statistics).roll(-4, 3);
  EXPECT_LT((there - unet.evaluate(parameters, input, statistics)).abs().max().item<double>(), 1e-13);
  const Unet walls(small());
  const at::Tensor other = walls.evaluate(parameters, input.roll(4, 4), statistics).roll(-4, 3);
  EXPECT_GT((other - walls.evaluate(parameters, input, statistics)).abs().max().item<double>(), 1e-3);
}

UnetOptions small(ResidualMiddle middle) {
  UnetOptions options = small();
  options.middle = middle;
  return options;
}

class AnyMiddle : public testing::TestWithParam<ResidualMiddle> {};
INSTANTIATE_TEST_SUITE_P(Unet, AnyMiddle,
                         testing::Values(ResidualMiddle::convolution, ResidualMiddle::perturb,
                                         ResidualMiddle::pointwise));

TEST_P(AnyMiddle, gradient_is_that_of_finite_differences) {
  const Comm comm = Comm::world();
  const Unet unet(small(GetParam()));
  const std::vector<double> start = unet.initial_parameters(3);
  const auto [first, n] = share(comm, 4);
  const at::Tensor input = waves({4, 2, 2, 4, 4}).narrow(0, first, n),
                   weight = at::cos(waves({4, 2, 4, 4, 3}) * 5);
  const auto loss = [&, first = first, n = n](const at::Tensor& parameters) {
    const at::Tensor latents = unet.train(comm, parameters, input, tensor_of(unet.initial_statistics()));
    return (latents * weight.narrow(0, first, n)).sum() + (latents * latents).sum();
  };
  at::Tensor parameters = tensor_of(start);
  parameters.set_requires_grad(true);
  loss(parameters).backward();
  at::Tensor gradient = parameters.grad().clone();
  comm.reduce(std::span<double>(gradient.data_ptr<double>(), start.size()), Comm::Reduction::sum);
  for (std::size_t i = 0; i < start.size(); i += 37) {
    const double h = 1e-6;
    const auto at = [&](double x) {
      auto values = start;
      values[i] = x;
      return comm.sum(loss(tensor_of(values)).item<double>());
    };
    const double slope = (at(start[i] + h) - at(start[i] - h)) / (2 * h);
    EXPECT_NEAR(gradient[i].item<double>(), slope, 2e-5 * (1 + std::abs(slope))) << "parameter " << i;
  }
}

TEST(Unet, perturbed_has_a_fifth_of_the_parameters) {
  UnetOptions options;
  std::size_t necks = 0;  // what 27 nodes have and one has not
  for (const auto& block : unet_blocks(options))
    if (block.kind == UnetBlockKind::residual)
      necks += 26 * static_cast<std::size_t>(block.n_neck) * block.n_neck;
  for (const auto middle : {ResidualMiddle::perturb, ResidualMiddle::pointwise}) {
    options.middle = middle;
    const Unet unet(options);
    EXPECT_EQ(unet.n_parameters(), 1458400 - necks);
    EXPECT_EQ(unet.n_parameters(), 293600u);
    EXPECT_EQ(unet.initial_parameters(1).size(), unet.n_parameters());
    EXPECT_EQ(describe_unet(unet.blocks(), {4, 16, 16}, 4).total().parameters, unet.n_parameters());
  }
}

/// y = relu(bn(V (x + N))): what the masks change is what x + N in place of x does.
TEST(Unet, a_perturbed_block_is_a_pointwise_one_of_what_is_perturbed) {
  UnetOptions options = small(ResidualMiddle::perturb);
  options.masks.level = 0.3;
  const Unet perturbed(options), pointwise(small(ResidualMiddle::pointwise));
  const auto start = perturbed.initial_parameters(1);
  const auto run = [&](const Unet& unet, const at::Tensor& input) {
    return unet.evaluate(tensor_of(start), input, tensor_of(unet.initial_statistics()));
  };
  const at::Tensor input = waves({2, 2, 2, 4, 4});
  const at::Tensor with = run(perturbed, input), without = run(pointwise, input);
  EXPECT_GT((with - without).abs().max().item<double>(), 1e-3);
  // Masks belong to places, not to samples.
  EXPECT_LT((run(perturbed, input.narrow(0, 1, 1)) - with.narrow(0, 1, 1)).abs().max().item<double>(), 1e-13);
  options.masks.level = 1e-9;
  EXPECT_LT((run(Unet(options), input) - without).abs().max().item<double>(), 1e-7);
  options.masks.seed = 2;
  options.masks.level = 0.3;
  EXPECT_GT((run(Unet(options), input) - with).abs().max().item<double>(), 1e-3);
}

/// A shift by what the coarsest level pools moves the latents of a pointwise U-Net, one by the period those
/// of a perturbed one; what is no period leaves seams.
TEST(Unet, masks_are_what_a_shift_shows) {
  const at::Tensor input = waves({1, 2, 2, 4, 16});
  const auto change = [&](const UnetOptions& options, int shift) {
    const Unet unet(options);
    const at::Tensor parameters = tensor_of(unet.initial_parameters(1)),
                     statistics = tensor_of(unet.initial_statistics());
    const at::Tensor there = unet.evaluate(parameters, input.roll(shift, 4), statistics).roll(-shift, 3);
    return (there - unet.evaluate(parameters, input, statistics)).abs().max().item<double>();
  };
  EXPECT_LT(change(small(ResidualMiddle::pointwise), 4), 1e-13);
  UnetOptions options = small(ResidualMiddle::perturb);
  EXPECT_LT(change(options, 4), 1e-13) << "the period of a crop";
  options.block = {2, 4, 8};
  EXPECT_LT(change(options, 8), 1e-13);
  EXPECT_GT(change(options, 4), 1e-4);
  options.levels = 2;  // pools 4 along x
  options.masks.period = {0, 0, 4};
  EXPECT_LT(change(options, 4), 1e-13);
}

UnetOptions small_fourier() {
  UnetOptions options = small();
  options.kind = EncoderKind::fourier;
  options.layers = 2;
  options.modes = {1, 2, 2};
  options.padding = {Padding::replicate, Padding::zeros, Padding::circular};
  return options;
}

/// Of weights 1 only the low modes of a field are left, and all of these.
TEST(Fourier, keeps_low_modes_alone) {
  constexpr std::array<Padding, 3> whole = {Padding::circular, Padding::circular, Padding::circular};
  const GridShape modes = {2, 2, 3};
  const at::Tensor weights = tensor_of({1, 0}).repeat({4 * 4 * 3});
  const auto mode = [](int t, int z, int x) {
    const auto angle = [](int k, int n) { return 2 * std::numbers::pi * k / n * at::arange(n, at::kDouble); };
    return at::cos(angle(t, 6).view({6, 1, 1}) + angle(z, 5).view({1, 5, 1}) + angle(x, 8).view({1, 1, 8}) +
                   0.3)
        .view({1, 1, 6, 5, 8});
  };
  const auto left = [&](const at::Tensor& x) { return fourier_part(x, weights, 1, modes, whole); };
  const at::Tensor low = 0.7 + mode(0, 1, 2) + mode(1, -1, 1) + mode(-1, 1, 2);
  EXPECT_LT((left(low) - low).abs().max().item<double>(), 1e-12);
  for (const at::Tensor& high : {mode(0, 0, 3), mode(3, 0, 1), mode(2, 0, 1)})
    EXPECT_LT((left(low + high) - low).abs().max().item<double>(), 1e-12);
}

TEST(Fourier, gradient_is_that_of_finite_differences) {
  for (const bool refined : {false, true}) {
    UnetOptions options = small_fourier();
    if (refined) {
      options.refinement = {1, 2, 2};
      options.n_refined = 2;
      options.adds_input = true;
    }
    const Unet network(options);
    auto start = network.initial_parameters(3);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] += 0.05 * std::sin(double(i));
    EXPECT_EQ(network.initial_statistics().size(), 0u);
    const at::Tensor input = waves({2, 2, 2, 4, 4});
    const auto loss = [&](const at::Tensor& parameters) {
      const at::Tensor made = network.train(Comm::self(), parameters, input, at::empty({0}, at::kDouble));
      return (made * at::cos(waves({made.numel()}) * 5).view(made.sizes())).sum() + (made * made).sum();
    };
    at::Tensor parameters = tensor_of(start);
    parameters.set_requires_grad(true);
    loss(parameters).backward();
    for (std::size_t i = 0; i < start.size(); i += 13) {
      const auto at = [&](double x) {
        auto values = start;
        values[i] = x;
        return loss(tensor_of(values)).item<double>();
      };
      const double h = 1e-6, slope = (at(start[i] + h) - at(start[i] - h)) / (2 * h);
      EXPECT_NEAR(parameters.grad()[i].item<double>(), slope, 2e-5 * (1 + std::abs(slope)))
          << "parameter " << i;
    }
  }
}

TEST(Fourier, knows_no_first_node_of_a_circular_axis_and_takes_blocks_of_any_size) {
  const Unet network(small_fourier());
  const at::Tensor parameters = tensor_of(network.initial_parameters(1)), none = at::empty({0}, at::kDouble);
  const auto run = [&](const at::Tensor& x) { return network.evaluate(parameters, x, none); };
  const at::Tensor input = waves({1, 2, 2, 4, 9});
  for (const int shift : {1, 4})
    EXPECT_LT((run(input.roll(shift, 4)).roll(-shift, 3) - run(input)).abs().max().item<double>(), 1e-12);
  EXPECT_GT((run(input.roll(1, 3)).roll(-1, 2) - run(input)).abs().max().item<double>(), 1e-4) << "walls";
  for (const auto& shape : {GridShape{1, 1, 1}, GridShape{3, 7, 5}, GridShape{4, 9, 16}})
    EXPECT_EQ(run(waves({2, 2, shape[0], shape[1], shape[2]})).sizes(),
              (at::IntArrayRef{2, shape[0], shape[1], shape[2], 3}));
}

TEST(Fourier, has_the_parameters_that_it_says_and_begins_with_interpolation) {
  UnetOptions options = small_fourier();
  const Unet network(options);
  const std::size_t layer = 4 * 4 + 4 + 2 * 4 * 4 * (2 * 4 * 2);
  EXPECT_EQ(network.n_parameters(), (2 * 4 + 4) + 2 * layer + (4 * 16 + 16) + (16 * 3 + 3));
  EXPECT_EQ(describe_unet(network.blocks(), {2, 4, 4}, 4).total().parameters, network.n_parameters());
  EXPECT_EQ(network.tensors().size(), 5u);
  EXPECT_EQ(unet_segments(network.blocks()).size(), 5u);
  options.refinement = {2, 3, 4};
  options.n_refined = 2;
  options.adds_input = true;
  const Unet refined(options);
  const at::Tensor input = waves({1, 2, 2, 4, 5});
  const at::Tensor found =
      refined.evaluate(tensor_of(refined.initial_parameters(1)), input, at::empty({0}, at::kDouble));
  const at::Tensor expected = at::upsample_trilinear3d(input, {4, 12, 20}, false).permute({0, 2, 3, 4, 1});
  EXPECT_EQ(found.sizes(), expected.sizes());
  EXPECT_EQ((found - expected).abs().max().item<double>(), 0);
}

TEST(Fourier, modes_that_a_block_has_not_are_refused) {
  const auto with = [](const GridShape& modes) {
    UnetOptions options = small_fourier();
    options.modes = modes;
    return Unet(options).n_parameters();
  };
  // A layer sees 2 + 2, 4 + 2 and 4 nodes.
  EXPECT_GT(with({2, 3, 2}), 0u);
  for (const auto& modes : {GridShape{3, 3, 2}, GridShape{2, 4, 2}, GridShape{2, 3, 3}, GridShape{2, 3, 0}})
    EXPECT_THROW(static_cast<void>(with(modes)), InputError);
}

TEST(BatchNorm, is_torch_s_own_on_all_samples) {
  const Comm comm = Comm::world();
  const at::Tensor x = waves({6, 5, 2, 3, 4}) + at::arange(5, at::kDouble).view({1, 5, 1, 1, 1});
  const auto [first, n] = share(comm, 6);
  const at::Tensor weight = at::cos(waves({6, 5, 2, 3, 4}) * 3);
  const auto leaf = [](at::Tensor t) { return t.clone().set_requires_grad(true); };
  at::Tensor own = leaf(x.narrow(0, first, n)), whole = leaf(x);
  at::Tensor gamma = leaf(waves({5}) + 2), beta = leaf(waves({5})), gamma2 = leaf(gamma.detach()),
             beta2 = leaf(beta.detach());
  at::Tensor mean = at::zeros({5}, at::kDouble), variance = at::ones({5}, at::kDouble), mean2 = mean.clone(),
             variance2 = variance.clone();
  const at::Tensor y = batch_norm_over_ranks(comm, own, gamma, beta, mean, variance, 0.1, 1e-5);
  const at::Tensor expected = at::batch_norm(whole, gamma2, beta2, mean2, variance2, true, 0.1, 1e-5, false);
  const auto distance = [](const at::Tensor& a, const at::Tensor& b) {
    return a.numel() == 0 ? 0 : (a - b).abs().max().item<double>();
  };
  EXPECT_LT(distance(y, expected.narrow(0, first, n)), 1e-12);
  EXPECT_LT(distance(mean, mean2), 1e-13);
  EXPECT_LT(distance(variance, variance2), 1e-13);
  (y * weight.narrow(0, first, n)).sum().backward();
  (expected * weight).sum().backward();
  EXPECT_LT(distance(own.grad(), whole.grad().narrow(0, first, n)), 1e-12);
  at::Tensor sums = at::stack({gamma.grad(), beta.grad()});
  comm.reduce(std::span<double>(sums.data_ptr<double>(), 10), Comm::Reduction::sum);
  EXPECT_LT(distance(sums, at::stack({gamma2.grad(), beta2.grad()})), 1e-11);
  const at::Tensor later = batch_norm_by_running(x, gamma2, beta2, mean2, variance2, 1e-5);
  EXPECT_LT(distance(later, at::batch_norm(x, gamma2, beta2, mean2, variance2, false, 0.1, 1e-5, false)),
            1e-12);
}

TEST(BatchNorm, refuses_one_value_a_feature) {
  const at::Tensor x = waves({1, 3, 1, 1, 1}), one = at::ones({3}, at::kDouble);
  EXPECT_THROW(static_cast<void>(
                   batch_norm_over_ranks(Comm::self(), x, one, one, one.clone(), one.clone(), 0.1, 1e-5)),
               InputError);
}

TEST(Unet, what_makes_no_network_is_refused) {
  const auto refused = [](auto&& change) {
    UnetOptions options = small();
    change(options);
    EXPECT_THROW(static_cast<void>(Unet(options)), InputError);
  };
  refused([](auto& o) { o.width = 0; });
  refused([](auto& o) { o.block = {1, 1, 1}; });
  refused([](auto& o) { o.block = {0, 4, 4}; });
  refused([](auto& o) { o.widths = {4, 8}; });
  refused([](auto& o) { o.n_output = 0; });
  refused([](auto& o) { o.momentum = 0; });
  const auto masked = [&](const GridShape& period) {
    refused([&](auto& o) {
      o.middle = ResidualMiddle::perturb;
      o.masks.period = period;
    });
  };
  masked({0, 8, 0});
  masked({0, 2, 0});
  masked({-1, 0, 0});
  refused([](auto& o) { o.masks.level = 0; });
}

}  // namespace
}  // namespace quintet::flow
