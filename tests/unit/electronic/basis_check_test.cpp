#include "physics/electronic/density/basis_check.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::electronic {
namespace {

using Elements = std::map<std::pair<int, int>, double>;

/// A matrix of n rows in blocks of two, of elements above and on the diagonal that the first rank has.
BlockMatrix matrix(const Comm& comm, int n, const Elements& elements, std::vector<int> order = {}) {
  std::vector<Triplet> list;
  for (const auto& [place, value] : elements) {
    if (!comm.is_root()) break;
    list.push_back({place.first, place.second, value});
    if (place.first != place.second) list.push_back({place.second, place.first, value});
  }
  auto blocking = uniform_blocking(n, 2);
  blocking.order = std::move(order);
  const auto shared = std::make_shared<const Blocking>(blocking);
  return assemble(comm, shared, list, share_columns(comm, *shared), 0);
}

/// Ring of n sites in pairs: a site's number in the matrix is place[site].
Elements ring(int n, double diagonal, double inside, double between, const std::vector<int>& place) {
  Elements elements;
  for (int site = 0; site < n; ++site) {
    const int i = place[site], j = place[(site + 1) % n];
    elements[{i, i}] = diagonal;
    elements[{std::min(i, j), std::max(i, j)}] = site % 2 == 0 ? inside : between;
  }
  return elements;
}

std::vector<int> in_order(int n) {
  std::vector<int> place;
  for (int i = 0; i < n; ++i) place.push_back(i);
  return place;
}
/// 7 i mod n: neighbours lie apart.
std::vector<int> scattered(int n) {
  std::vector<int> place;
  for (int i = 0; i < n; ++i) place.push_back(7 * i % n);
  return place;
}

constexpr int n_sites = 60;
Elements k_of(const std::vector<int>& place) { return ring(n_sites, -0.25, -0.28, -0.18, place); }
Elements s_of(const std::vector<int>& place) { return ring(n_sites, 1, 0.12, 0.06, place); }

TEST(Patterns, of_one_order_agree) {
  const Comm comm = Comm::world();
  for (const auto& place : {in_order(n_sites), scattered(n_sites)}) {
    const auto found = compare_patterns(matrix(comm, n_sites, k_of(place), scattered(n_sites)),
                                        matrix(comm, n_sites, s_of(place), scattered(n_sites)));

    EXPECT_EQ(found.n_rows, 0) << found.first;
    EXPECT_EQ(found.n_judged, n_sites);
    EXPECT_FALSE(found.is_of_order());
  }
}

TEST(Patterns, of_another_order_are_told_with_the_first_row) {
  const Comm comm = Comm::world();

  const auto found = compare_patterns(matrix(comm, n_sites, k_of(in_order(n_sites))),
                                      matrix(comm, n_sites, s_of(scattered(n_sites))));

  EXPECT_EQ(found.n_rows, n_sites);
  EXPECT_TRUE(found.is_of_order());
  EXPECT_NE(found.first.find("row 1 is coupled most strongly to row 2 in K (0.28 hartree"), std::string::npos)
      << found.first;
  EXPECT_NE(found.first.find("overlaps most with row 8 in S (0.12"), std::string::npos) << found.first;
}

TEST(Patterns, of_sites_counted_the_other_way_round_in_each_cell_are_told) {
  const Comm comm = Comm::world();
  auto swapped = in_order(n_sites);
  for (int i = 0; i < n_sites; i += 2) std::swap(swapped[i], swapped[i + 1]);

  const auto found =
      compare_patterns(matrix(comm, n_sites, k_of(in_order(n_sites))), matrix(comm, n_sites, s_of(swapped)));

  EXPECT_TRUE(found.is_of_order()) << found.n_rows;
}

/// Functions of one atom are orthogonal, however large K is between them; K may reach further than S.
TEST(Patterns, of_couplings_without_overlap_agree) {
  const Comm comm = Comm::world();
  const int n = n_sites;
  auto k = k_of(in_order(n)), s = s_of(in_order(n));
  for (int i = 0; i < n; i += 2) {
    k[{i, i + 1}] = -50;  // core functions of one atom, in hartree
    s[{i, i + 1}] = 0;
  }
  for (int i = 0; i + 2 < n; ++i) k[{i, i + 2}] = -0.1;

  const auto found = compare_patterns(matrix(comm, n, k), matrix(comm, n, s));

  EXPECT_EQ(found.n_rows, 0) << found.first;
  EXPECT_GT(found.n_judged, 0);
}

TEST(Patterns, of_few_rows_are_no_proof) {
  EXPECT_FALSE((Disagreement{1, 10, ""}).is_of_order());
  EXPECT_TRUE((Disagreement{2, 10, ""}).is_of_order());
  EXPECT_TRUE((Disagreement{2, 200, ""}).is_of_order());
  EXPECT_FALSE((Disagreement{2, 201, ""}).is_of_order());
}

/// What check_functions() says, or "no error".
std::string refusal(const BlockMatrix& s) {
  try {
    check_functions(s);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Functions, that_are_empty_or_twice_there_are_named) {
  const Comm comm = Comm::world();
  const int n = 16;
  const auto good = ring(n, 1, 0.12, 0.06, in_order(n));
  EXPECT_EQ(refusal(matrix(comm, n, good)), "no error");

  auto empty = good;
  for (auto& [place, value] : empty)
    if (place.first == 4 || place.second == 4) value = 0;
  EXPECT_NE(refusal(matrix(comm, n, empty)).find("row 5 of S is empty"), std::string::npos);
  auto bare = good;
  bare[{4, 4}] = 0;
  EXPECT_NE(refusal(matrix(comm, n, bare)).find("row 5 of S has no diagonal"), std::string::npos);
  auto twice = good;
  twice[{4, 4}] = 4;  // not normalised
  twice[{4, 12}] = -2 * (1 - 1e-11);
  EXPECT_NE(refusal(matrix(comm, n, twice)).find("rows 5 and 13 of S are the same function twice"),
            std::string::npos);
  twice[{4, 12}] = -2 * (1 - 1e-9);
  EXPECT_EQ(refusal(matrix(comm, n, twice)), "no error");
}

}  // namespace
}  // namespace quintet::electronic
