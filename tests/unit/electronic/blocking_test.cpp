#include "physics/electronic/matrix/blocking.hpp"

#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::electronic {
namespace {

template <class Action>
std::string message(Action&& action) {
  try {
    static_cast<void>(action());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(BlockingOf, equal_sizes_divides_the_rows) {
  const auto blocking = uniform_blocking(12, 4);

  EXPECT_EQ(blocking.begin, (std::vector<int>{0, 4, 8, 12}));
  EXPECT_TRUE(blocking.order.empty());
  EXPECT_NE(message([] { return uniform_blocking(13, 4); }).find("blocks of 4 orbitals do not divide"),
            std::string::npos);
  EXPECT_THROW(static_cast<void>(uniform_blocking(12, 0)), InputError);
  EXPECT_THROW(static_cast<void>(uniform_blocking(0, 1)), InputError);
}

TEST(BlockingOf, atoms_takes_their_orbitals) {
  EXPECT_EQ(atom_blocking(6, {4, 1, 1}).begin, (std::vector<int>{0, 4, 5, 6}));
  EXPECT_EQ(message([] {
              return atom_blocking(12, {4, 1, 1});
            }),
            "3 atoms have 6 orbitals together, the matrix has 12 rows");
  EXPECT_NE(message([] {
              return atom_blocking(3, {4, -1});
            }).find("atom 2 has -1 orbitals"),
            std::string::npos);
  EXPECT_THROW(static_cast<void>(blocking_of_sizes(0, {0})), InputError);
}

TEST(BlockingOf, molecules_in_order_needs_no_permutation) {
  const auto blocking = molecule_blocking(12, {4, 1, 1, 4, 1, 1}, {{0, 1, 2}, {5, 3, 4}});

  EXPECT_EQ(blocking.begin, (std::vector<int>{0, 6, 12}));
  EXPECT_TRUE(blocking.order.empty());
}

TEST(BlockingOf, scattered_molecules_gathers_their_rows) {
  const auto blocking = molecule_blocking(8, {2, 2, 1, 1, 1, 1}, {{1, 4, 5}, {0, 2, 3}});

  EXPECT_EQ(blocking.begin, (std::vector<int>{0, 4, 8}));
  EXPECT_EQ(blocking.order, (std::vector<int>{2, 3, 6, 7, 0, 1, 4, 5}));
  const auto rows = blocked_rows(blocking);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(rows[blocking.order[i]], static_cast<int>(i));
  EXPECT_EQ(block_of_rows(blocking), (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(BlockingOf, molecules_names_each_atom_once) {
  const std::vector<int> orbitals{1, 1, 1};

  EXPECT_NE(message([&] {
              return molecule_blocking(3, orbitals, {{0, 1}});
            }).find("atom 2 belongs to no molecule"),
            std::string::npos);
  EXPECT_NE(message([&] {
              return molecule_blocking(3, orbitals, {{0, 1}, {1, 2}});
            }).find("molecules 1 and 2"),
            std::string::npos);
  EXPECT_NE(message([&] {
              return molecule_blocking(3, orbitals, {{0, 1}, {3}});
            }).find("atom 3"),
            std::string::npos);
  EXPECT_NE(message([&] {
              return molecule_blocking(3, orbitals, {{0, 1, 2}, {}});
            }).find("molecule 2 has no atoms"),
            std::string::npos);
}

TEST(BlockingOf, damaged_orders_are_refused) {
  Blocking blocking = uniform_blocking(4, 2);
  EXPECT_NO_THROW(check_blocking(blocking));
  for (const auto& order : {std::vector<int>{0, 1, 2}, std::vector<int>{0, 1, 2, 2},
                            std::vector<int>{0, 1, 2, 4}, std::vector<int>{-1, 1, 2, 0}}) {
    blocking.order = order;
    EXPECT_THROW(check_blocking(blocking), InputError);
  }
  blocking = {{0, 3, 2}, {}};
  EXPECT_THROW(check_blocking(blocking), InputError);
}

}  // namespace
}  // namespace quintet::electronic
