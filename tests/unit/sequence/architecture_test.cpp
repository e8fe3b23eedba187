#include <set>

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/sequence/network/architecture.hpp"

namespace quintet::sequence {
namespace {

Architecture stack(std::vector<int> units, std::vector<Skip> skips = {}, Head head = Head::lstm) {
  Architecture a{5, {}, std::move(skips), head, 5, 8};
  for (const int n : units) a.nodes.push_back({n == 0 ? NodeKind::identity : NodeKind::lstm, n});
  validate(a);
  return a;
}

const std::vector<Skip> all_skips = {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}, {3, 5}, {4, 5}};

TEST(Architecture, parameters_are_counted_as_by_the_peers) {
  // Networks of PyTorch (two biases a gate) with a last LSTM of 5 units.
  EXPECT_EQ(count_parameters(stack({80}), 2), 29580u);
  EXPECT_EQ(count_parameters(stack({80, 80}), 2), 81420u);
  EXPECT_EQ(count_parameters(stack({80, 80, 80}), 2), 133260u);
  EXPECT_EQ(count_parameters(stack({80, 80, 80, 80, 80}), 2), 236940u);
  EXPECT_EQ(count_parameters(stack({200}), 2), 169740u);
  EXPECT_EQ(count_parameters(stack({96, 96, 96, 96, 96}, all_skips), 2), 340748u);
  EXPECT_EQ(count_parameters(
                stack({80, 32, 64, 80, 96}, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}}), 2),
            208188u);
  // One bias a gate, as in Keras: 4 (80 (5 + 80) + 80) + 4 (5 (80 + 5) + 5), and a dense head 80 5 + 5.
  EXPECT_EQ(count_parameters(stack({80})), 27520u + 1720u);
  EXPECT_EQ(count_parameters(stack({80}, {}, Head::dense)), 27520u + 405u);
  EXPECT_EQ(count_parameters(stack({80}, {}, Head::last_state)), 27520u + 81u * 40u);
}

TEST(Architecture, the_space_of_the_paper_has_8605184_members) {
  const ArchitectureSpace paper;
  EXPECT_EQ(size_of(paper), 8605184);
  const auto all = decisions(paper);
  ASSERT_EQ(all.size(), 14u);
  EXPECT_EQ(all[0].name, "node 1");
  EXPECT_EQ(all[1].name, "skip 0->1");
  EXPECT_EQ(all[4].name, "skip 1->2");
  EXPECT_EQ(all[13].name, "skip 4->5");
  // All bits: the skips of the anchors; all first units: identities.
  const auto last = make_architecture(paper, {6, 1, 6, 1, 1, 6, 1, 1, 6, 1, 1, 6, 1, 1}, 5, 5, 8);
  EXPECT_EQ(last, stack({96, 96, 96, 96, 96}, all_skips));
  EXPECT_EQ(make_architecture(paper, std::vector<int>(14, 0), 5, 5, 8), stack({0, 0, 0, 0, 0}));
  EXPECT_THROW((void)make_architecture(paper, {7, 1, 6, 1, 1, 6, 1, 1, 6, 1, 1, 6, 1, 1}, 5, 5, 8),
               InternalError);
  EXPECT_THROW((void)make_architecture(paper, std::vector<int>(13, 0), 5, 5, 8), InternalError);
  EXPECT_THROW((void)make_architecture(paper, std::vector<int>(15, 0), 5, 5, 8), InternalError);
}

TEST(Architecture, every_member_of_a_small_space_is_itself) {
  const ArchitectureSpace space{3, {0, 16}, 2, Head::dense};
  const auto all = decisions(space);
  ASSERT_EQ(size_of(space), 8 * 32);
  std::set<std::pair<std::string, std::size_t>> members;
  std::vector<int> genes(all.size(), 0);
  for (int i = 0; i < 256; ++i) {
    for (std::size_t g = 0; g < genes.size(); ++g) genes[g] = i >> g & 1;
    const auto a = make_architecture(space, genes, 5, 5, 8);
    members.insert({summary(a), graph_of(a).n_parameters});
  }
  EXPECT_EQ(members.size(), 256u);
}

TEST(Architecture, a_drawn_example_is_wired_as_in_the_paper) {
  // 80-32 with skips 0->1, 0->2, 1->2: input and h(1) differ in width from the 32 units, h(0) from the 80.
  const Graph graph = graph_of(stack({80, 32}, {{0, 1}, {0, 2}, {1, 2}}));
  std::vector<std::string> names;
  for (const auto& operation : graph.operations) names.push_back(operation.name);
  EXPECT_EQ(names, (std::vector<std::string>{"node_1", "project_0_to_1", "merge_1", "node_2",
                                             "project_0_to_2", "project_1_to_2", "merge_2", "head"}));
  EXPECT_EQ(graph.operations[2].inputs, (std::vector<int>{1, 2}));
  EXPECT_EQ(graph.operations[3].inputs, (std::vector<int>{3}));  // node 2 reads h(1), behind the relu
  EXPECT_EQ(graph.operations[5].inputs, (std::vector<int>{3}));
  EXPECT_EQ(graph.operations[6].inputs, (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(graph.operations[7].inputs, (std::vector<int>{7}));
  // Of equal width nothing is projected; without skips nothing is merged.
  EXPECT_EQ(canonical_form(stack({80, 80}, {{1, 2}})), "5 lstm80(0) lstm80(1) merge(1,2) lstm5(3)");
  EXPECT_EQ(canonical_form(stack({80, 80})), "5 lstm80(0) lstm80(1) lstm5(2)");
}

TEST(Architecture, genotypes_of_one_network_share_its_canonical_form) {
  const auto form = canonical_form(stack({80, 96, 0, 0, 0}));
  for (const auto& other : {std::vector<int>{0, 80, 0, 96, 0}, {0, 0, 0, 80, 96}, {80, 0, 96, 0, 0}})
    EXPECT_EQ(canonical_form(stack(other)), form);
  EXPECT_NE(canonical_form(stack({96, 80, 0, 0, 0})), form);
  EXPECT_NE(canonical_form(stack({80, 96, 0, 0, 0}, {{1, 3}})), form);  // relu(h + h)
  // h(0) = h(1) behind an identity: a skip from either is the same.
  EXPECT_EQ(canonical_form(stack({0, 80}, {{0, 2}})), canonical_form(stack({0, 80}, {{1, 2}})));
  EXPECT_NE(canonical_form(stack({0, 80}, {{0, 2}})), canonical_form(stack({0, 80}, {{0, 2}, {1, 2}})));
  auto longer = stack({80}, {}, Head::last_state), shorter = longer;
  longer.n_outputs = 8;
  longer.steps_out = 5;
  EXPECT_NE(canonical_form(longer), canonical_form(shorter));  // as many numbers, another meaning
}

TEST(Architecture, what_is_written_is_read_back) {
  Architecture a{3,
                 {{NodeKind::lstm, 80}, {NodeKind::identity, 0}, {NodeKind::dense, 24}},
                 {{1, 3}, {0, 2}},
                 Head::last_state,
                 4,
                 6};
  validate(a);
  EXPECT_EQ(make_architecture(options_of(a), 3, 4, 6), a);
  EXPECT_EQ(summary(a), "LSTM 80 - identity - dense 24 - 6 x 4 from the last state; skips 0->2 1->3");
  ArchitectureOptions options;
  parse_options(
      parse_yaml("nodes: [80, identity, dense 24]\nskips: [0->2, 1->3]\nhead: last_state\n", "test"),
      described(options));
  EXPECT_EQ(make_architecture(options, 3, 4, 6), a);
}

/// The message of what is refused.
std::string refusal(const ArchitectureOptions& options, int n_outputs = 5, int steps_out = 8) {
  try {
    (void)make_architecture(options, 5, n_outputs, steps_out);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Architecture, what_is_no_network_is_refused_in_one_line) {
  EXPECT_NE(refusal({{"80", "LSTM"}, {}}).find("nodes: item 2: 'LSTM' is not a node"), std::string::npos);
  EXPECT_NE(refusal({{"0"}, {}}).find("'0' is not a node"), std::string::npos);
  EXPECT_NE(refusal({{"-5"}, {}}).find("is not a node"), std::string::npos);
  EXPECT_NE(refusal({{"99999999999999999999"}, {}}).find("is not a node"), std::string::npos);
  EXPECT_NE(refusal({{"80"}, {"0-1"}}).find("'0-1' is not a skip"), std::string::npos);
  EXPECT_NE(refusal({{"80"}, {"1->1"}}).find("1->1 leads nowhere"), std::string::npos);
  EXPECT_NE(refusal({{"80"}, {"0->2"}}).find("0->2 leads nowhere"), std::string::npos);
  EXPECT_NE(refusal({{"80"}, {"0->1", "0->1"}}).find("0->1 is there twice"), std::string::npos);
  EXPECT_NE(refusal({{"80"}, {}}, 0).find("x 0 outputs"), std::string::npos);
  EXPECT_NE(refusal({{"80"}, {}}, 5, 0).find("0 x 5 outputs"), std::string::npos);
  EXPECT_EQ(refusal({{}, {}}), "taken");  // the head alone
  EXPECT_THROW((void)decisions({0, {80}}), InputError);
  EXPECT_THROW((void)decisions({5, {}}), InputError);
  EXPECT_THROW((void)decisions({5, {80, 80}}), InputError);
  EXPECT_THROW((void)decisions({5, {-1}}), InputError);
}

}  // namespace
}  // namespace quintet::sequence
