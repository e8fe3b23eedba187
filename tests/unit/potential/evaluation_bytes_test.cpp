#include "surrogates/potential/exported/evaluation_bytes.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace quintet::potential {
namespace {

/// A system whose rows have `least` to `most` neighbours; images have owners, or others rows of their own.
ExportedSystem random_system(int n_rows, int n_atoms, int least, int most, bool with_owners) {
  std::mt19937 random(7);
  const auto draw = [&](int begin, int end) {
    return std::uniform_int_distribution<int>(begin, end - 1)(random);
  };
  ExportedSystem system;
  system.n_rows = n_rows;
  system.n_centres = with_owners ? n_rows : n_rows / 3;
  system.width = most;
  for (int a = 0; a < n_atoms; ++a) {
    system.type.push_back(a % 3);
    for (int k = 0; k < 3; ++k) system.position.push_back(10 * a + k);
    if (with_owners) system.owner.push_back(a < n_rows ? a : draw(0, n_rows));
  }
  system.neighbour.assign(std::size_t(n_rows) * most, -1);
  for (int i = 0; i < n_rows; ++i) {
    const int length = draw(least, most + 1);
    for (int c = 0; c < length; ++c) system.neighbour[std::size_t(i) * most + c] = draw(0, n_atoms);
  }
  return system;
}

std::int64_t pairs_of(const ExportedSystem& system) {
  return std::count_if(system.neighbour.begin(), system.neighbour.end(), [](auto j) { return j >= 0; });
}

/// A model with arrays of atoms, rows and pairs. It looks at what it is given.
class Counting final : public ExportedModel {
 public:
  [[nodiscard]] const ExportedFacts& facts() const override { return facts_; }
  void evaluate(const ExportedSystem&, bool, ExportedResult&) override { FAIL() << "was not asked for"; }
  [[nodiscard]] double bytes_of(const ExportedSystem& system) override {
    ++asked;
    largest = std::max(largest, system.n_rows);
    return 5000 + 24.0 * system.n_atoms() + 100.0 * system.n_rows + 800.0 * double(pairs_of(system));
  }
  int asked = 0, largest = 0;

 private:
  ExportedFacts facts_;
};

TEST(EvaluationBytes, of_rows_of_one_length_are_exact) {
  for (const bool with_owners : {true, false}) {
    const auto system = random_system(3000, 5000, 20, 20, with_owners);
    Counting model;
    const EvaluationBytes bytes(model, system);
    EXPECT_EQ(model.asked, 3);
    EXPECT_EQ(model.largest, EvaluationBytes::most_sampled);
    const double expected = model.bytes_of(system);
    EXPECT_NEAR(bytes.of(system), expected, 1e-9 * expected);
  }
}

TEST(EvaluationBytes, of_rows_of_many_lengths_are_those_of_the_mean) {
  const auto system = random_system(3000, 5000, 2, 40, true);
  Counting model;
  const double expected = model.bytes_of(system);
  EXPECT_NEAR(EvaluationBytes(model, system).of(system), expected, 0.02 * expected);
}

TEST(EvaluationBytes, hold_for_systems_that_are_about_as_dense) {
  Counting model;
  const EvaluationBytes bytes(model, random_system(3000, 5000, 100, 100, true));
  EXPECT_TRUE(bytes.holds_for(random_system(600, 900, 104, 104, true)));
  EXPECT_TRUE(bytes.holds_for(random_system(600, 900, 96, 96, true)));
  EXPECT_FALSE(bytes.holds_for(random_system(600, 900, 106, 106, true)));
  EXPECT_FALSE(bytes.holds_for(random_system(600, 900, 94, 94, true)));
}

TEST(Sample, is_a_system_whose_rows_are_those_of_the_whole) {
  for (const bool with_owners : {true, false}) {
    const auto system = random_system(300, 700, 0, 9, with_owners);
    const auto part = sample_of(system, 30, 11);
    EXPECT_EQ(part.n_rows, 30);
    EXPECT_EQ(part.width, system.width);
    EXPECT_EQ(part.neighbour.size(), std::size_t(30) * part.width);
    EXPECT_EQ(part.position.size(), 3 * part.type.size());
    ASSERT_GT(part.n_centres, 0);
    EXPECT_LE(part.n_centres, part.n_rows);
    // Positions tell who an atom is.
    const auto atom = [&](std::int64_t a) { return static_cast<std::int64_t>(part.position[3 * a] / 10); };
    for (int i = 0; i < part.n_rows; ++i) {
      const std::int64_t whole = atom(i);
      ASSERT_LT(whole, i < part.n_centres ? system.n_centres : system.n_rows);
      for (int c = 0; c < part.width; ++c) {
        const std::int64_t j = part.neighbour[std::size_t(i) * part.width + c];
        ASSERT_LT(j, part.n_atoms() - 11);  // nobody sees who was added
        EXPECT_EQ(j < 0 ? -1 : atom(j), system.neighbour[std::size_t(whole) * part.width + c]);
      }
    }
    for (std::int64_t a = 0; a < part.n_atoms(); ++a) EXPECT_EQ(part.type[a], system.type[atom(a)]);
    ASSERT_EQ(part.owner.size(), with_owners ? part.type.size() : 0);
    for (std::size_t a = 0; a < part.owner.size(); ++a) {
      ASSERT_GE(part.owner[a], 0);
      ASSERT_LT(part.owner[a], part.n_centres);
      if (a < std::size_t(part.n_centres)) {
        EXPECT_EQ(part.owner[a], std::int64_t(a));
      }
    }
    // A model may want a row of each type: there is one among the first.
    for (int t = 0; t < 3; ++t)
      EXPECT_NE(std::find(part.type.begin(), part.type.begin() + 33, t), part.type.begin() + 33);
  }
}

}  // namespace
}  // namespace quintet::potential
