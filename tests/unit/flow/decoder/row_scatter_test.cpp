#include "surrogates/flow/decoder/row_scatter.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/config/tree.hpp"

namespace quintet::flow {
namespace {

float float_of(const Tree& hexadecimal) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(hexadecimal.as_text(), nullptr, 16)));
}

/// scatter.json in ../shared/data/training: bits of a serial loop in another language.
TEST(RowScatter, has_the_bits_of_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string place =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/scatter.json";
  if (!std::filesystem::exists(place)) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree given = read_yaml(place);
  std::vector<int> rows;
  std::vector<float> values, expected;
  for (const auto& row : given.at("index").items()) rows.push_back(row.as_number());
  for (const auto& row : given.at("value").items())
    for (const auto& value : row.items()) values.push_back(float_of(value));
  for (const auto& row : given.at("table").items())
    for (const auto& value : row.items()) expected.push_back(float_of(value));
  const std::int64_t n_rows = given.at("rows").as_number();
  const int width = expected.size() / n_rows;
  ASSERT_EQ(values.size(), rows.size() * width);
  std::vector<float> table(expected.size(), 0);
  const std::vector<RowPiece<float>> pieces{{0, rows, values.data()}};
  add_rows<float>(pieces, width, table.data());
  for (std::size_t i = 0; i < table.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(table[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << "number " << i;
}

/// Pieces of several parts of a table that overlap.
TEST(RowScatter, adds_pieces_in_their_order) {
  constexpr int width = 3, n_rows = 40;
  std::vector<std::vector<int>> rows;
  std::vector<std::vector<double>> values;
  std::vector<std::int64_t> first;
  for (int piece = 0; piece < 9; ++piece) {
    first.push_back(8 * (piece % 4));
    auto& own = rows.emplace_back();
    auto& of = values.emplace_back();
    for (int i = 0; i < 30; ++i) {
      own.push_back((7 * i + piece) % 16);
      for (int j = 0; j < width; ++j) of.push_back(std::sin(i + 0.3 * j) * std::pow(10, (i + piece) % 9));
    }
  }
  std::vector<RowPiece<double>> pieces;
  std::vector<double> expected(n_rows * width, 0.5);
  for (std::size_t p = 0; p < rows.size(); ++p) {
    pieces.push_back({first[p], rows[p], values[p].data()});
    for (std::size_t i = 0; i < rows[p].size(); ++i)
      for (std::size_t j = 0; j < width; ++j)
        expected[(static_cast<std::size_t>(first[p]) + rows[p][i]) * width + j] += values[p][i * width + j];
  }
  std::vector<double> table(expected.size(), 0.5);
  add_rows<double>(pieces, width, table.data());
  EXPECT_EQ(table, expected);
}

}  // namespace
}  // namespace quintet::flow
