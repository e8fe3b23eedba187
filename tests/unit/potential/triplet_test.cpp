#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/evaluation/triplets/triplet_table.hpp"
#include "tests/support/deep_potential_writer.hpp"

/// Intervals and polynomials of descriptors se_e3, without files.
namespace quintet::potential {
namespace {

Model triplet_model(Activation activation = Activation::tanh) {
  dp::Shape shape;
  shape.embedding = {3, 6, 11};
  shape.fitting = {8, 8};
  shape.axis = 1;
  shape.sel = {9, 14};
  shape.type_one_side = false;
  Model model = dp::random_model(shape, 31);
  model.kind = DescriptorKind::se_e3;
  model.axis_neuron = 0;
  model.embedding.resize(model.n_networks());
  for (auto& network : model.embedding)
    for (auto& layer : network.layers) layer.activation = activation;
  return model;
}

TEST(TripletLayout, has_every_theta_in_the_interval_that_says_so) {
  std::mt19937 random(8);
  std::normal_distribution<double> normal;
  for (const int part_bits : {0, 2, 4}) {
    const TripletLayout layout{16, part_bits, 9};
    for (int i = 0; i < 3000; ++i) {
      const double theta = i == 0 ? 0 : std::exp(3 * normal(random)) * (i % 2 == 0 ? 1 : -1);
      const TripletPlace<double> place(theta, part_bits, layout.one_sign());
      if (std::abs(theta) >= TripletLayout::unit * (512 - 1)) {
        EXPECT_EQ(place.interval, -1) << theta;
        continue;
      }
      ASSERT_TRUE(place.interval >= 0 && place.interval < layout.n_intervals()) << theta;
      ASSERT_LE(std::abs(place.x), 1 + 1e-12);
      EXPECT_NEAR(layout.left(place.interval) + 0.5 * (place.x + 1) * layout.width(place.interval), theta,
                  1e-14 * (2 + std::abs(theta)));
    }
  }
}

TEST(TripletLayout, ends_where_it_says_and_takes_no_number_that_is_not_finite) {
  const TripletLayout layout{16, 1, 3};
  const double end = TripletLayout::unit * (8 - 1);
  const auto interval = [&](double theta) {
    return TripletPlace<double>(theta, layout.part_bits, layout.one_sign()).interval;
  };
  EXPECT_EQ(interval(std::nextafter(end, 0) - 1e-12), layout.one_sign() - 1);
  EXPECT_EQ(interval(-end + 1e-12), layout.n_intervals() - 1);
  EXPECT_EQ(interval(end), -1);
  EXPECT_EQ(interval(-end), -1);
  EXPECT_EQ(interval(std::numeric_limits<double>::infinity()), -1);
  EXPECT_EQ(interval(std::numeric_limits<double>::quiet_NaN()), -1);
}

TEST(TripletLayout, bounds_the_rows_of_types_with_means) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Model model = triplet_model();
  model.rcut_smooth = 1;  // rows as long as 1/r
  model.mean[1] = {0.1, 1.5, -1.4, 1.3};
  for (const double closest : {0.4, 0.9}) {
    double largest = 0;
    for (int i = 0; i < 4000; ++i) {
      double d[3] = {normal(random), normal(random), normal(random)}, square = 0;
      const double length = closest * std::hypot(d[0], d[1], d[2]);  // s d/r of a neighbour at `closest`
      for (int a = 0; a < 3; ++a)
        square +=
            std::pow(((i == 0 ? 0 : d[a] / length) - model.mean[1][a + 1]) / model.deviation[1][a + 1], 2);
      largest = std::max(largest, square);
    }
    EXPECT_GE(bound_of_theta(model, closest), largest);
    EXPECT_LT(bound_of_theta(model, closest), 4 * largest);
    EXPECT_LE(bound_of_theta(model, closest), choose_triplet_layout(model, 8, 1e-7, closest).end());
  }
}

TEST(TripletLayout, keeps_its_error_bound_at_random_points_and_covers_near_neighbours) {
  std::mt19937 random(3);
  for (const auto activation : {Activation::tanh, Activation::gelu, Activation::softplus})
    for (const double tolerance : {2e-13, 1e-7})
      for (const double closest : {0.3, 0.9}) {
        const Model model = triplet_model(activation);
        const auto layout = choose_triplet_layout(model, 8, tolerance, closest);
        ASSERT_LE(layout.error, tolerance);
        const double r = 1 / closest / 0.077;  // no neighbour's row is longer
        const TripletPlace<double> furthest(r * r, layout.part_bits, layout.one_sign());
        EXPECT_GE(furthest.interval, 0);
        std::uniform_real_distribution<double> uniform(-r * r, r * r);
        std::vector<double> g, dg;
        for (const auto& network : model.embedding) {
          const auto c = triplet_coefficients(network, layout);
          for (int i = 0; i < 500; ++i) {
            const double theta = uniform(random) * (i % 2 == 0 ? 1 : 0.01);
            const TripletPlace<double> place(theta, layout.part_bits, layout.one_sign());
            evaluate_scalar(network, theta, g, dg);
            for (int m = 0; m < network.n_out(); ++m) {
              double value = 0;
              for (int k = layout.order - 1; k >= 0; --k)
                value = value * place.x +
                        c[(std::int64_t{place.interval} * layout.order + k) * network.n_out() + m];
              EXPECT_NEAR(value, g[m], 5 * tolerance * std::max(2.0, std::abs(theta)));
            }
          }
        }
      }
}

TEST(TripletLayout, says_what_polynomials_miss_of_kinks) {
  const auto layout = choose_triplet_layout(triplet_model(Activation::relu), 8, 2e-14, 0.9);
  EXPECT_GT(layout.error, 1e-6);
}

/// One batch of centres with random neighbours; every third atom has one that lies beyond the intervals.
template <class Real>
Batch<Real> random_batch(const Model& model, int atoms, std::mt19937& random) {
  Batch<Real> batch;
  batch.reserve(atoms, 64, model.n_types(), model.n_channels());
  batch.n_atoms = atoms;
  batch.centre = 1;
  batch.first[0] = 0;
  std::normal_distribution<double> normal;
  int row = 0;
  for (int b = 0; b < atoms; ++b)
    for (int t = 0; t < model.n_types(); ++t) {
      const int n = random() % (model.sel[t] + 1);
      for (int i = 0; i < n; ++i, ++row) {
        const double length = b % 3 == 0 && i == 0 ? 60 : 1.5;
        batch.row[4 * row] = static_cast<Real>(normal(random));
        for (int a = 1; a < 4; ++a) batch.row[4 * row + a] = static_cast<Real>(length * normal(random));
      }
      batch.first[b * model.n_types() + t + 1] = row;
      batch.empty[b * model.n_types() + t] = model.sel[t] - n;
    }
  return batch;
}

template <class Real>
class TripletIn : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TripletIn, Reals);

/// The second time rows of empty slots are not 0 either, as of statistics that are not centred.
TYPED_TEST(TripletIn, moments_give_the_embedding_and_gradients_of_the_networks) {
  using Real = TypeParam;
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 3e-5;
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const double angular_mean : {0.0, 0.03}) {
    Model model = triplet_model();
    for (auto& row : model.mean) row[2] = angular_mean;
    const auto moments = make_embedding<Real>(model, Compression::automatic);
    const auto networks = make_embedding<Real>(model, Compression::off);
    ASSERT_NE(moments->description(), networks->description());
    typename Embedding<Real>::Scratch scratch[2];
    auto batch = random_batch<Real>(model, 13, random), twin = batch;

    moments->forward(batch, scratch[0]);
    networks->forward(twin, scratch[1]);

    for (int b = 0; b < batch.n_atoms; ++b) {
      double size = 0;
      const Real *t = batch.t.data() + 4 * b * batch.stride, *other = twin.t.data() + 4 * b * batch.stride;
      for (int m = 0; m < model.n_channels(); ++m) size = std::max(size, std::abs(double(other[m])));
      for (int m = 0; m < model.n_channels(); ++m) ASSERT_NEAR(t[m], other[m], tolerance * (size + 0.1));
      for (int m = 0; m < model.n_channels(); ++m)
        batch.dt[m] = twin.dt[m] = static_cast<Real>(normal(random));
      moments->backward(batch, b, scratch[0]);
      networks->backward(twin, b, scratch[1]);
      size = 0;
      for (int i = 4 * batch.first_row(b); i < 4 * batch.first_row(b + 1); ++i)
        size = std::max(size, std::abs(double(twin.gradient[i])));
      for (int i = 4 * batch.first_row(b); i < 4 * batch.first_row(b + 1); ++i)
        ASSERT_NEAR(batch.gradient[i], twin.gradient[i], 10 * tolerance * (size + 0.1)) << "row " << i / 4;
    }
  }
}

TEST(TripletEmbedding, names_atoms_that_overlap) {
  const Model model = triplet_model();
  std::mt19937 random(4);
  for (const auto compression : {Compression::automatic, Compression::off}) {
    const auto embedding = make_embedding<double>(model, compression);
    auto batch = random_batch<double>(model, 3, random);
    ASSERT_GT(batch.first_row(3), 0);
    Embedding<double>::Scratch scratch;
    EXPECT_NO_THROW(embedding->forward(batch, scratch));
    for (const double component : {std::numeric_limits<double>::infinity(), std::nan("")}) {
      batch.row[1] = component;
      EXPECT_THROW(embedding->forward(batch, scratch), NumericalError);
    }
  }
}

}  // namespace
}  // namespace quintet::potential
