#include "physics/codes/binary_codes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/codes/code_tables.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {
namespace {

std::vector<double> normal_numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& v : values) v = normal(random);
  return values;
}
double square_error(const std::vector<double>& w, const BinaryCodes& codes) {
  const auto decoded = decode(codes);
  double sum = 0;
  for (std::size_t i = 0; i < w.size(); ++i) sum += std::pow(w[i] - decoded[i], 2);
  return sum;
}

TEST(BinaryCodes, errors_fall_with_bits_and_rounds) {
  const int rows = 9, columns = 100;
  const auto w = normal_numbers(rows * columns, 1);
  for (const int group : {0, 32, 20}) {
    double before = std::numeric_limits<double>::infinity();
    for (int bits = 1; bits <= 8; ++bits) {
      const double greedy = square_error(w, encode(w, rows, columns, {bits, group, 0}));
      EXPECT_LT(greedy, before) << bits << " bits, groups of " << group;
      before = greedy;
      double last = greedy * (1 + 1e-6);  // scales are rounded to float
      for (const int rounds : {1, 2, 4, 8}) {
        const double alternating = square_error(w, encode(w, rows, columns, {bits, group, rounds}));
        EXPECT_LE(alternating, last);
        last = alternating * (1 + 1e-6);
      }
    }
  }
}

TEST(BinaryCodes, narrower_groups_err_less) {
  const int rows = 40, columns = 256;
  const auto w = normal_numbers(rows * columns, 2);
  double before = std::numeric_limits<double>::infinity();
  for (const int group : {0, 64, 32, 16, 8}) {
    const double error = square_error(w, encode(w, rows, columns, {2, group, 8}));
    EXPECT_LT(error, before) << group;
    before = error;
  }
}

/// Normal weights, 256 x 256: relative squares of ../shared/data/training/bcq.json, rounded there.
TEST(BinaryCodes, errors_of_normal_weights_are_the_known_ones) {
  const int n = 256;
  const auto w = normal_numbers(n * n, 3);
  double size = 0;
  for (const double v : w) size += v * v;
  const double known[4][2] = {{0.360, 0.360}, {0.129, 0.116}, {0.0575, 0.0368}, {0.0322, 0.0129}};
  for (int bits = 1; bits <= 4; ++bits) {
    EXPECT_NEAR(square_error(w, encode(w, n, n, {bits, 0, 0})) / size, known[bits - 1][0],
                0.05 * known[bits - 1][0]);
    EXPECT_NEAR(square_error(w, encode(w, n, n, {bits, 0, 8})) / size, known[bits - 1][1],
                0.05 * known[bits - 1][1]);
  }
}

/// Planes at right angles to each other, each scale above the sum of the later ones: greedy finds them.
TEST(BinaryCodes, sums_of_planes_come_back_exactly) {
  const int rows = 5, columns = 64;
  std::mt19937 random(4);
  std::vector<int> place(columns);
  std::iota(place.begin(), place.end(), 0);
  for (int bits = 1; bits <= 6; ++bits)
    for (const int rounds : {0, 8}) {
      std::vector<double> w(rows * columns);
      for (int r = 0; r < rows; ++r) {
        std::shuffle(place.begin(), place.end(), random);
        for (int c = 0; c < columns; ++c)
          for (int i = 0; i < bits; ++i)
            w[r * columns + c] += ((place[c] >> i & 1) != 0 ? 1 : -1) * std::ldexp(1.0 + r, -2 * i);
      }
      EXPECT_LT(square_error(w, encode(w, rows, columns, {bits, 0, rounds})), 1e-20) << bits;
    }
}

TEST(BinaryCodes, follow_signs_and_scales) {
  const int rows = 4, columns = 48;
  const auto w = normal_numbers(rows * columns, 5);
  auto scaled = w, turned = w;
  for (double& v : scaled) v *= 4;
  for (double& v : turned) v = -v;
  const auto codes = encode(w, rows, columns, {3, 16, 8}), larger = encode(scaled, rows, columns, {3, 16, 8});
  EXPECT_EQ(larger.keys, codes.keys);
  for (std::size_t i = 0; i < codes.alpha.size(); ++i) EXPECT_EQ(larger.alpha[i], 4 * codes.alpha[i]);
  const auto decoded = decode(codes), other = decode(encode(turned, rows, columns, {3, 16, 8}));
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(other[i], -decoded[i], 1e-6);
}

TEST(BinaryCodes, transposes_and_odd_sizes_are_the_same_matrix) {
  const int rows = 7, columns = 13;  // a last group and a last byte that are not whole
  const auto w = normal_numbers(rows * columns, 6);
  std::vector<double> turned(w.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) turned[c * rows + r] = w[r * columns + c];
  const auto codes = encode(w, rows, columns, {2, 8, 4}),
             same = encode(turned, rows, columns, {2, 8, 4}, true);
  EXPECT_EQ(codes.keys, same.keys);
  EXPECT_EQ(codes.alpha, same.alpha);
  EXPECT_EQ(codes.groups(), 2);
  EXPECT_EQ(codes.bytes(), 2U * 7 * 2 * 4 + 2U * 7 * 2);
  const auto decoded = decode(codes), decoded_turned = decode(codes, true);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) EXPECT_EQ(decoded[r * columns + c], decoded_turned[c * rows + r]);
}

TEST(BinaryCodes, rows_of_zeros_stay_zero) {
  std::vector<double> w(3 * 8, 0.0);
  w[8] = 1;
  for (const int rounds : {0, 8}) {
    const auto decoded = decode(encode(w, 3, 8, {3, 4, rounds}));
    for (int c = 0; c < 8; ++c) EXPECT_EQ(decoded[c] + decoded[16 + c], 0);
    EXPECT_GT(decoded[8], 0.5);
  }
}

TEST(BinaryCodes, what_is_no_matrix_of_numbers_is_refused) {
  const auto message = [](const auto& action) {
    try {
      action();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::vector<double> w(16, 1.0);
  EXPECT_EQ(message([&] { (void)encode(w, 2, 8, {0, 0, 0}); }), "bits: 0; expected 1 to 8");
  EXPECT_EQ(message([&] { (void)encode(w, 2, 8, {9, 0, 0}); }), "bits: 9; expected 1 to 8");
  EXPECT_EQ(message([&] {
              (void)encode(w, 2, 8, {1, 6, 0});
            }),
            "group: 6 columns; expected a multiple of 4, or 0 for one scale a row");
  EXPECT_EQ(message([&] {
              (void)encode({}, 0, 8, {1, 0, 0});
            }),
            "binary codes: a matrix of 0 x 8; expected 1 x 1 or more");
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300}) {
    auto holed = w;
    holed[11] = bad;
    EXPECT_NE(message([&] { (void)encode(holed, 2, 8, {}); }).find("row 1, column 3 is"), std::string::npos)
        << bad;
  }
}

/// ../shared/data/training/bcq.json: scales, keys, errors and products by other code.
TEST(BinaryCodes, are_those_of_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string path =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/bcq.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree given = read_yaml(path);
  const auto numbers = [](const Tree& list) {
    std::vector<double> values;
    for (const Tree& item : list.items()) values.push_back(item.as_number());
    return values;
  };
  std::vector<double> w;
  for (const Tree& row : given.at("weight").items())
    for (const double v : numbers(row)) w.push_back(v);
  const auto x = numbers(given.at("vector"));
  const int columns = x.size(), rows = static_cast<int>(w.size()) / columns;
  const std::vector<float> vector(x.begin(), x.end());
  int cases = 0;
  for (const Tree& expected : given.at("cases").items()) {
    const int bits = expected.at("bits").as_integer();
    const auto codes =
        encode(w, rows, columns, {bits, 0, static_cast<int>(expected.at("rounds").as_integer())});
    for (int i = 0; i < bits; ++i) {
      const auto alpha = numbers(expected.at("alpha").items()[i]);
      for (int r = 0; r < rows; ++r) {
        EXPECT_FLOAT_EQ(codes.scale(i, r, 0), static_cast<float>(alpha[r]));
        const auto keys = numbers(expected.at("keys").items()[i].items()[r]);
        for (int c = 0; c < columns; ++c)
          EXPECT_EQ(codes.sign(i, r, c), (static_cast<int>(keys[c / 4]) >> (c % 4) & 1) != 0);
      }
    }
    EXPECT_NEAR(square_error(w, codes), expected.at("squared_error").as_number(), 1e-5);
    const auto product = numbers(expected.at("product"));
    const PackedCodes packed(codes);
    for (const TableUnit unit : {TableUnit::portable, TableUnit::registers}) {
      if (!has_unit(unit)) continue;
      std::vector<float> y(padded(rows, pack_width<float>));
      multiply_codes(vector.data(), columns, 1, packed, y.data(), 0, false, unit);
      for (int r = 0; r < rows; ++r) EXPECT_NEAR(y[r], product[r], 5e-6);
    }
    ++cases;
  }
  EXPECT_EQ(cases, 6);
}

}  // namespace
}  // namespace quintet
