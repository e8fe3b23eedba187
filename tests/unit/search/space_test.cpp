#include "surrogates/search/space.hpp"

#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/support/integer_gene.hpp"

namespace quintet::search {
namespace {

Space small() {
  return Space({integer_gene("units", 16, 96, 16), {"skip", {"off", "on"}}, {"fixed", {"only"}}});
}

TEST(Space, size_is_the_product_of_choices) {
  EXPECT_EQ(small().size(), 12u);
  std::vector<Gene> genes;
  for (int node = 1; node <= 5; ++node) {
    genes.push_back({"node " + std::to_string(node), {"identity", "16", "32", "48", "64", "80", "96"}});
  }
  for (int skip = 1; skip <= 9; ++skip) genes.push_back({"skip " + std::to_string(skip), {"off", "on"}});
  EXPECT_EQ(Space(genes).size(), 8605184u);  // of Maulik et al. 2020
  genes.clear();
  for (int g = 0; g < 70; ++g) genes.push_back({"g" + std::to_string(g), {"0", "1"}});
  EXPECT_EQ(Space(genes).size(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Space, refuses_what_is_empty_or_ambiguous) {
  EXPECT_THROW(Space(std::vector<Gene>{}), InputError);
  EXPECT_THROW(Space(std::vector<Gene>{{"a", {}}}), InputError);
  EXPECT_THROW(Space({{"a", {"1"}}, {"a", {"2"}}}), InputError);
  EXPECT_THROW(Space({{"a", {"1", "1"}}}), InputError);
}

TEST(Space, samples_every_candidate_equally_often) {
  const Space space = small();
  std::map<Genes, int> count;
  constexpr int n = 24000;
  for (int i = 0; i < n; ++i) {
    Draws draws(7, Stream::proposal, i);
    ++count[space.sample(draws)];
  }
  ASSERT_EQ(count.size(), 12u);
  double chi_squared = 0;
  for (const auto& [genes, times] : count)
    chi_squared += (times - n / 12.0) * (times - n / 12.0) / (n / 12.0);
  EXPECT_LT(chi_squared, 31.3);  // 11 degrees of freedom, one in a thousand
}

TEST(Space, mutation_changes_one_gene_to_each_other_choice_equally_often) {
  const Space space = small();
  const Genes parent{2, 1, 0};
  std::map<Genes, int> count;
  constexpr int n = 20000;
  for (int i = 0; i < n; ++i) {
    Draws draws(8, Stream::proposal, i);
    const Genes child = space.mutate(parent, draws);
    int changed = 0;
    for (std::size_t g = 0; g < child.size(); ++g) changed += child[g] != parent[g];
    ASSERT_EQ(changed, 1);
    ++count[child];
  }
  ASSERT_EQ(count.size(), 6u);  // five other widths, one other skip; the gene without a choice stays
  EXPECT_NEAR(count.at({2, 0, 0}), n / 2, 300);
  for (const int width : {0, 1, 3, 4, 5}) EXPECT_NEAR(count.at({width, 1, 0}), n / 10, 200);
}

TEST(Space, of_one_candidate_mutates_to_it) {
  const Space space(std::vector<Gene>{{"fixed", {"only"}}});
  Draws draws(1, Stream::proposal, 0);
  EXPECT_EQ(space.mutate({0}, draws), Genes{0});
}

TEST(Space, checks_genes_by_name) {
  const Space space = small();
  EXPECT_NO_THROW(space.check({5, 1, 0}, "it"));
  EXPECT_THROW(space.check({5, 1}, "it"), InputError);
  EXPECT_THROW(space.check({6, 1, 0}, "it"), InputError);
  EXPECT_THROW(space.check({0, -1, 0}, "it"), InputError);
  EXPECT_EQ(space.text({1, 1, 0}), "units: 32, skip: on, fixed: only");
}

TEST(Draws, depend_on_seed_stream_and_number_alone) {
  Draws a(3, Stream::proposal, 5), b(3, Stream::proposal, 5), c(3, Stream::policy, 5),
      d(4, Stream::proposal, 5);
  const double first = a.uniform();
  EXPECT_EQ(first, b.uniform());
  EXPECT_NE(first, a.uniform());
  EXPECT_NE(first, c.uniform());
  EXPECT_NE(first, d.uniform());
}

}  // namespace
}  // namespace quintet::search
