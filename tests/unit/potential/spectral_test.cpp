#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"
#include "tests/support/deep_potential_writer.hpp"

namespace quintet::potential {
namespace {

Model small_model(bool one_side) {
  dp::Shape shape;
  shape.embedding = {5, 10, 20};
  shape.fitting = {8, 8};
  shape.axis = 3;
  shape.sel = {9, 14};
  shape.type_one_side = one_side;
  return dp::random_model(shape, 31);
}

/// Largest |G - polynomial| of a layout at random points, relative to the largest |G|.
double error_of(const Model& model, const SpectralLayout& layout) {
  std::mt19937 random(8);
  std::uniform_real_distribution<double> uniform(layout.lower,
                                                 layout.lower + layout.n_intervals * layout.width);
  double worst = 0, scale = 0;
  std::vector<double> g, dg;
  for (const auto& network : model.embedding) {
    const auto c = spectral_coefficients(network, layout);
    for (int i = 0; i < 2000; ++i) {
      const double s = uniform(random);
      const int p = (s - layout.lower) / layout.width;
      const double x = 2 * ((s - layout.lower) / layout.width - p) - 1;
      evaluate_scalar(network, s, g, dg);
      for (int m = 0; m < network.n_out(); ++m) {
        double value = 0;
        for (int k = layout.order - 1; k >= 0; --k)
          value = value * x + c[(std::int64_t{p} * layout.order + k) * network.n_out() + m];
        worst = std::max(worst, std::abs(value - g[m]));
        scale = std::max(scale, std::abs(g[m]));
      }
    }
  }
  return worst / scale;
}

TEST(SpectralLayout, keeps_its_error_bound_at_random_points) {
  for (const bool one_side : {true, false})
    for (const double tolerance : {2e-14, 1e-7}) {
      const Model model = small_model(one_side);
      const auto layout = choose_layout(model, 8, tolerance);
      ASSERT_LE(layout.error, tolerance);

      // The bound is the largest of 7 points an interval: other points may be somewhat worse, not much.
      EXPECT_LE(error_of(model, layout), 3 * layout.error + 2e-15)
          << "order " << layout.order << ", width " << layout.width;
    }
}

TEST(SpectralLayout, is_the_cheapest_that_reaches_the_tolerance) {
  for (const auto activation : {Activation::tanh, Activation::gelu, Activation::softplus})
    for (const double tolerance : {2e-14, 1e-7}) {
      Model model = small_model(true);
      for (auto& network : model.embedding)
        for (auto& layer : network.layers) layer.activation = activation;
      const double least = model.normalised_s(1, model.rcut), usual = model.normalised_s(1, 2.5);
      const auto cost = [&](int order, double width) {
        return order * (std::ceil((usual - least) / width) + 1.5);
      };

      const auto chosen = choose_layout(model, 8, tolerance);

      EXPECT_LE(chosen.error, tolerance);
      for (const int order : {8, 16, 24})
        for (const double width : {3.2, 1.6, 0.8, 0.4, 0.2, 0.1, 0.05}) {
          if (cost(order, width) >= cost(chosen.order, chosen.width)) continue;
          SpectralLayout cheaper = chosen;
          cheaper.order = order;
          cheaper.width = width;
          cheaper.n_intervals = static_cast<int>(std::ceil(chosen.n_intervals * chosen.width / width));
          EXPECT_GT(error_of(model, cheaper), tolerance) << "order " << order << ", width " << width;
        }
    }
}

TEST(SpectralLayout, covers_all_distances_from_overlap_to_the_cutoff) {
  const Model model = small_model(true);
  const auto layout = choose_layout(model, 8, 2e-14);

  for (int centre = 0; centre < 2; ++centre) {
    EXPECT_GE(model.normalised_s(centre, model.rcut), layout.lower);
    EXPECT_LE(model.normalised_s(centre, 0.2), layout.lower + layout.n_intervals * layout.width);
  }
}

/// One batch of `atoms` centres with random numbers of neighbours at random distances.
template <class Real>
Batch<Real> random_batch(const Model& model, int atoms, std::mt19937& random) {
  Batch<Real> batch;
  batch.reserve(atoms, 64, model.n_types(), model.n_channels());
  batch.n_atoms = atoms;
  batch.centre = 1;
  batch.first[0] = 0;
  std::uniform_real_distribution<double> distance(0.9, model.rcut), direction(-1, 1);
  int row = 0;
  for (int b = 0; b < atoms; ++b)
    for (int t = 0; t < model.n_types(); ++t) {
      const int n = random() % (model.sel[t] + 1);
      for (int i = 0; i < n; ++i, ++row) {
        batch.row[4 * row] = static_cast<Real>(model.normalised_s(1, distance(random)));
        for (int a = 1; a < 4; ++a) batch.row[4 * row + a] = static_cast<Real>(direction(random));
      }
      batch.first[b * model.n_types() + t + 1] = row;
      batch.empty[b * model.n_types() + t] = model.sel[t] - n;
    }
  return batch;
}

template <class Real>
class SpectralIn : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SpectralIn, Reals);

TYPED_TEST(SpectralIn, moments_give_the_embedding_and_gradients_of_the_networks) {
  using Real = TypeParam;
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 2e-5;
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const bool one_side : {true, false}) {
    const Model model = small_model(one_side);
    const auto spectral = make_embedding<Real>(model, Compression::automatic);
    const auto networks = make_embedding<Real>(model, Compression::off);
    ASSERT_NE(spectral->description(), networks->description());
    typename Embedding<Real>::Scratch scratch[2];
    auto batch = random_batch<Real>(model, 13, random), twin = batch;

    spectral->forward(batch, scratch[0]);
    networks->forward(twin, scratch[1]);

    double size = 0;
    for (const Real t : twin.t) size = std::max(size, std::abs(static_cast<double>(t)));
    for (std::size_t i = 0; i < batch.t.size(); ++i) ASSERT_NEAR(batch.t[i], twin.t[i], tolerance * size);
    for (int b = 0; b < batch.n_atoms; ++b) {
      for (int a = 0; a < 4; ++a)
        for (int m = 0; m < model.n_channels(); ++m)
          batch.dt[a * batch.stride + m] = twin.dt[a * batch.stride + m] = static_cast<Real>(normal(random));
      spectral->backward(batch, b, scratch[0]);
      networks->backward(twin, b, scratch[1]);
    }
    const int rows = batch.first[batch.n_atoms * model.n_types()];
    ASSERT_GT(rows, 0);
    size = 0;
    for (int i = 0; i < 4 * rows; ++i) size = std::max(size, std::abs(static_cast<double>(twin.gradient[i])));
    for (int i = 0; i < 4 * rows; ++i)
      ASSERT_NEAR(batch.gradient[i], twin.gradient[i], 10 * tolerance * size) << "row " << i / 4;
  }
}

TEST(SpectralEmbedding, names_atoms_that_overlap) {
  const Model model = small_model(true);
  const auto embedding = make_embedding<double>(model, Compression::automatic);
  std::mt19937 random(4);
  auto batch = random_batch<double>(model, 3, random);
  // Intervals of the last ones have numbers beyond those of an int.
  for (const double r : {0.01, 1e-12, 0.0}) {
    batch.row[0] = model.normalised_s(1, r);
    Embedding<double>::Scratch scratch;
    EXPECT_THROW(embedding->forward(batch, scratch), NumericalError) << r;
  }
}

}  // namespace
}  // namespace quintet::potential
