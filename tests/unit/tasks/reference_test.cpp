#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "physics/tasks/graph.hpp"
#include "physics/tasks/hash.hpp"
#include "physics/tasks/kernel.hpp"

using namespace quintet;
using namespace quintet::tasks;

namespace {

/// What Stanford's core printed, where it is at hand.
class TaskBenchReference : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("QUINTET_SOURCE_DIR");
    const std::string path =
        std::string(source ? source : ".") + "/../shared/data/oracle/taskbench_reference.json";
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "../shared/data/oracle/taskbench_reference.json is not here";
    reference = read_yaml(path);
  }
  Tree reference;
};

int value(const Tree& tree, const char* key, int otherwise) {
  const Tree* found = tree.find(key);
  return found ? static_cast<int>(found->as_integer()) : otherwise;
}

Graph graph_of(const Tree& c) {
  GraphOptions options{.width = value(c, "width", 0),
                       .steps = value(c, "steps", 0),
                       .radix = value(c, "radix", 3),
                       .period = value(c, "period", 0),
                       .fraction = c.has("fraction") ? c.at("fraction").as_number() : 0};
  Tree pattern = Tree::map();
  pattern.set("pattern", c.at("pattern"));
  parse_options(pattern, [&](Schema& schema) { describe(schema, options); });
  return Graph(options);
}

void expect_equal(const Graph& graph, const Tree& c, const std::string& what) {
  for (int t = 0; t < graph.steps(); ++t) {
    const std::size_t at = t;
    const Window window = graph.window(t);
    EXPECT_EQ(window.first, c.at("offset").items()[at].as_integer()) << what << ", step " << t;
    ASSERT_EQ(window.count, c.at("active").items()[at].as_integer()) << what << ", step " << t;
    for (int i = 0; i < window.count; ++i) {
      std::vector<int> expected;
      for (const auto& point : c.at("depends_on").items()[at].items()[i].items())
        expected.push_back(point.as_integer());
      EXPECT_EQ(graph.inputs(t, window.first + i), expected)
          << what << ", step " << t << ", point " << window.first + i;
    }
  }
}

}  // namespace

TEST_F(TaskBenchReference, has_the_graphs_that_we_have) {
  const auto& cases = reference.at("cases").items();
  ASSERT_EQ(cases.size(), 36u);
  std::int64_t tasks = 0, dependencies = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto graph = graph_of(cases[k]);
    EXPECT_EQ(graph.n_tasks(), cases[k].at("tasks").as_integer());
    EXPECT_EQ(graph.n_edges(), cases[k].at("dependencies").as_integer());
    expect_equal(graph, cases[k], "case " + std::to_string(k));
    tasks += graph.n_tasks();
    dependencies += graph.n_edges();
  }
  RecordProperty("tasks", std::to_string(tasks));  // both for docs/verification.md
  RecordProperty("dependencies", std::to_string(dependencies));
}

TEST_F(TaskBenchReference, has_the_random_numbers_that_we_have) {
  for (const auto& probe : reference.at("siphash_probe").items()) {
    std::vector<std::int64_t> words;
    for (const auto& word : probe.at("input").items()) words.push_back(word.as_integer());
    EXPECT_DOUBLE_EQ(uniform(words), probe.at("u").as_number());
  }
}

TEST_F(TaskBenchReference, has_the_load_that_we_have) {
  const auto& probe = reference.at("imbalance_probe");
  const KernelOptions kernel{.kernel = KernelKind::load_imbalance,
                             .iterations = probe.at("iterations").as_integer(),
                             .imbalance = probe.at("imbalance").as_number()};
  const auto& rows = probe.at("timestep_0_to_2_points_0_to_3").items();
  for (int t = 0; t < 3; ++t)
    for (int p = 0; p < 4; ++p) {
      const auto n = rows[t].items()[p].as_integer();
      EXPECT_EQ(work_of(kernel, t, p), 128.0 * n + 64);
    }
}
