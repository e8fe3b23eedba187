#include "surrogates/sequence/network/architecture.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "surrogates/sequence/network/heads.hpp"

namespace quintet::sequence {

namespace {

constexpr int most_nodes = 64, most_units = 4096, most_outputs = 1 << 20;

constexpr HeadRow head_rows[] = {
    {Head::lstm, "lstm",
     "a last LSTM with one unit per mode; step k of the output from steps 1 to k of the input"},
    {Head::dense, "dense", "a linear layer at each step: step k of the output from step k of the last node"},
    {Head::last_state, "last_state", "a linear layer from the last state to all steps of the output"}};

std::string head_doc() {
  std::vector<std::string> rows;
  for (const auto& row : head_rows) rows.push_back(fmt::format("{}: {}", row.name, row.doc));
  return fmt::format("How states become outputs. {}", fmt::join(rows, "; "));
}

/// All of a text as a number that is not negative, or -1.
int whole_number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string_view{} : text.substr(first, last - first + 1);
}

std::string name_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::identity:
      return "identity";
    case NodeKind::lstm:
      return fmt::format("{}", node.units);
    case NodeKind::dense:
      return fmt::format("dense {}", node.units);
  }
  throw InternalError("a node without a kind");
}

Node node_named(std::string_view text, std::size_t place) {
  const std::string_view name = trimmed(text);
  if (name == "identity") return {NodeKind::identity, 0};
  const bool dense = name.starts_with("dense ");
  const int units = whole_number(dense ? trimmed(name.substr(6)) : name);
  QUINTET_CHECK(
      units >= 1 && units <= most_units,
      "nodes: item {}: '{}' is not a node; expected the units of an LSTM (80, at most {}), 'dense 80' "
      "or 'identity'",
      place + 1, text, most_units);
  return {dense ? NodeKind::dense : NodeKind::lstm, units};
}

Skip skip_named(std::string_view text, std::size_t place) {
  const auto arrow = text.find("->");
  Skip skip{-1, -1};
  if (arrow != text.npos)
    skip = {whole_number(trimmed(text.substr(0, arrow))), whole_number(trimmed(text.substr(arrow + 2)))};
  QUINTET_CHECK(
      skip.from >= 0 && skip.to >= 0,
      "skips: item {}: '{}' is not a skip; expected 'from->to', such as '0->2': what node 2 gives plus "
      "the input",
      place + 1, text);
  return skip;
}

/// Builds a graph tensor by tensor.
class Builder {
 public:
  explicit Builder(int n_inputs) { graph_.n_inputs = n_inputs; }

  [[nodiscard]] int width(int tensor) const {
    return tensor == 0 ? graph_.n_inputs : graph_.operations[tensor - 1].n_out;
  }
  int lstm(std::string name, int from, int units) {
    const std::size_t n_in = width(from), n = units;
    return add({Operation::Kind::lstm, std::move(name), {from}, width(from), units}, 4 * n * (n_in + n + 1));
  }
  int dense(std::string name, int from, int units, bool relu, bool last_step) {
    const std::size_t n_in = width(from), n = units;
    return add({Operation::Kind::dense, std::move(name), {from}, width(from), units, relu, last_step},
               n * (n_in + 1));
  }
  int merge(std::string name, std::vector<int> from) {
    std::sort(from.begin(), from.end());  // sums in one order: one graph, one network, bit for bit
    const int n = width(from.front());
    return add({Operation::Kind::merge, std::move(name), std::move(from), n, n}, 0);
  }
  [[nodiscard]] Graph graph() && { return std::move(graph_); }

 private:
  int add(Operation operation, std::size_t n_parameters) {
    operation.first = graph_.n_parameters;
    operation.n_parameters = n_parameters;
    graph_.n_parameters += n_parameters;
    graph_.operations.push_back(std::move(operation));
    return graph_.operations.size();
  }
  Graph graph_;
};

int add_node(Builder& builder, const Node& node, int k, int from) {
  switch (node.kind) {
    case NodeKind::identity:
      return from;
    case NodeKind::lstm:
      return builder.lstm(fmt::format("node_{}", k), from, node.units);
    case NodeKind::dense:
      return builder.dense(fmt::format("node_{}", k), from, node.units, true, false);
  }
  throw InternalError("a node without a kind");
}

int add_head(Builder& builder, const Architecture& a, int from) {
  switch (a.head) {
    case Head::lstm:
      return builder.lstm("head", from, a.n_outputs);
    case Head::dense:
      return builder.dense("head", from, a.n_outputs, false, false);
    case Head::last_state:
      return builder.dense("head", from, a.n_outputs * a.steps_out, false, true);
  }
  throw InternalError("a head without a kind");
}

void check(const ArchitectureSpace& space) {
  QUINTET_CHECK(space.n_nodes >= 1 && space.n_nodes <= most_nodes,
                "nodes: {} nodes; a search space has 1 to {}", space.n_nodes, most_nodes);
  QUINTET_CHECK(!space.units.empty(), "units: an empty list; a search space of size zero");
  QUINTET_CHECK(space.reach >= 0, "reach: {}; expected 0 or more", space.reach);
  auto sorted = space.units;
  std::sort(sorted.begin(), sorted.end());
  QUINTET_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                "units: [{}] names a number twice", fmt::join(space.units, ", "));
  QUINTET_CHECK(sorted.front() >= 0 && sorted.back() <= most_units,
                "units: [{}]; expected 0 (identity) to {}", fmt::join(space.units, ", "), most_units);
}

/// First candidate of node k.
int first_candidate(const ArchitectureSpace& space, int k) { return std::max(0, k - space.reach); }

}  // namespace

std::span<const HeadRow> heads() { return head_rows; }

void validate(Architecture& a) {
  const int n_nodes = a.nodes.size();
  QUINTET_CHECK(n_nodes <= most_nodes, "nodes: {} of them; at most {}", n_nodes, most_nodes);
  QUINTET_CHECK(a.n_inputs >= 1 && a.n_inputs <= most_outputs,
                "a network of {} inputs a step; expected 1 to {}", a.n_inputs, most_outputs);
  QUINTET_CHECK(a.n_outputs >= 1 && a.steps_out >= 1 && a.n_outputs <= most_outputs / a.steps_out,
                "a network of {} x {} outputs; expected at least 1 of each and {} together", a.steps_out,
                a.n_outputs, most_outputs);
  QUINTET_CHECK(a.head != Head::lstm || a.n_outputs <= most_units, "a last LSTM of {} units; at most {}",
                a.n_outputs, most_units);
  for (const Node& node : a.nodes) {
    const bool identity = node.kind == NodeKind::identity;
    QUINTET_CHECK(identity ? node.units == 0 : node.units >= 1 && node.units <= most_units,
                  "nodes: a node of {} units; expected 1 to {}, 0 for identity", node.units, most_units);
  }
  for (const Skip& skip : a.skips)
    QUINTET_CHECK(skip.from >= 0 && skip.from < skip.to && skip.to <= n_nodes,
                  "skips: {}->{} leads nowhere; expected 0 <= from < to <= {} (0 is the input)", skip.from,
                  skip.to, n_nodes);
  std::sort(a.skips.begin(), a.skips.end(),
            [](const Skip& x, const Skip& y) { return std::pair(x.to, x.from) < std::pair(y.to, y.from); });
  const auto twice = std::adjacent_find(a.skips.begin(), a.skips.end());
  QUINTET_CHECK(twice == a.skips.end(), "skips: {}->{} is there twice", twice->from, twice->to);
}

Graph graph_of(const Architecture& a) {
  Builder builder(a.n_inputs);
  std::vector<int> h = {0};  // tensors h(0) .. h(k)
  auto skip = a.skips.begin();
  for (int k = 1; k <= std::ssize(a.nodes); ++k) {
    const int own = add_node(builder, a.nodes[k - 1], k, h.back());
    std::vector<int> summands = {own};
    for (; skip != a.skips.end() && skip->to == k; ++skip) {
      const int from = h[skip->from];
      summands.push_back(builder.width(from) == builder.width(own)
                             ? from
                             : builder.dense(fmt::format("project_{}_to_{}", skip->from, k), from,
                                             builder.width(own), false, false));
    }
    h.push_back(summands.size() == 1 ? own : builder.merge(fmt::format("merge_{}", k), std::move(summands)));
  }
  add_head(builder, a, h.back());
  return std::move(builder).graph();
}

std::string canonical_form(const Architecture& architecture) {
  const Graph graph = graph_of(architecture);
  std::string text = fmt::format("{}", graph.n_inputs);
  for (const Operation& operation : graph.operations) {
    switch (operation.kind) {
      case Operation::Kind::lstm:
        text += fmt::format(" lstm{}", operation.n_out);
        break;
      case Operation::Kind::dense:
        text += fmt::format(" {}{}{}", operation.relu ? "relu" : "linear", operation.last_step ? "last" : "",
                            operation.n_out);
        break;
      case Operation::Kind::merge:
        text += " merge";
        break;
    }
    text += fmt::format("({})", fmt::join(operation.inputs, ","));
  }
  if (architecture.head == Head::last_state) text += fmt::format(" as {} steps", architecture.steps_out);
  return text;
}

std::size_t count_parameters(const Architecture& architecture, int biases_a_gate) {
  const Graph graph = graph_of(architecture);
  std::size_t n = graph.n_parameters;
  for (const Operation& operation : graph.operations)
    if (operation.kind == Operation::Kind::lstm) n += std::int64_t{biases_a_gate - 1} * 4 * operation.n_out;
  return n;
}

std::string summary(const Architecture& a) {
  std::vector<std::string> words;
  for (const Node& node : a.nodes)
    words.push_back(node.kind == NodeKind::lstm ? fmt::format("LSTM {}", node.units) : name_of(node));
  if (a.head == Head::lstm) words.push_back(fmt::format("LSTM {}", a.n_outputs));
  if (a.head == Head::dense) words.push_back(fmt::format("dense {}", a.n_outputs));
  if (a.head == Head::last_state)
    words.push_back(fmt::format("{} x {} from the last state", a.steps_out, a.n_outputs));
  std::string text = fmt::format("{}", fmt::join(words, " - "));
  if (!a.skips.empty()) text += a.skips.size() == 1 ? "; skip" : "; skips";
  for (const Skip& skip : a.skips) text += fmt::format(" {}->{}", skip.from, skip.to);
  return text;
}

void describe(Schema& schema, ArchitectureOptions& options) {
  schema
      .texts(
          "nodes", options.nodes,
          "Nodes in their order: units of an LSTM (80), 'dense 80' (relu, each step by itself) or 'identity'")
      .length(0, most_nodes);
  schema.texts(
      "skips", options.skips,
      "Skips, such as '0->2': what node 2 gives plus the input (0), projected to its width, relu of it");
  schema.choice("head", options.head, choices_of(head_rows), head_doc());
}

Architecture make_architecture(const ArchitectureOptions& options, int n_inputs, int n_outputs,
                               int steps_out) {
  Architecture a{n_inputs, {}, {}, options.head, n_outputs, steps_out};
  for (std::size_t i = 0; i < options.nodes.size(); ++i) a.nodes.push_back(node_named(options.nodes[i], i));
  for (std::size_t i = 0; i < options.skips.size(); ++i) a.skips.push_back(skip_named(options.skips[i], i));
  validate(a);
  return a;
}

ArchitectureOptions options_of(const Architecture& a) {
  ArchitectureOptions options;
  options.nodes.clear();
  for (const Node& node : a.nodes) options.nodes.push_back(name_of(node));
  for (const Skip& skip : a.skips) options.skips.push_back(fmt::format("{}->{}", skip.from, skip.to));
  options.head = a.head;
  return options;
}

void describe(Schema& schema, ArchitectureSpace& space) {
  schema.integer("nodes", space.n_nodes, "Nodes of the chain").at_least(1).at_most(most_nodes);
  schema.integers("units", space.units, "Units that a node may have; 0: identity")
      .length(1)
      .at_least(0)
      .at_most(most_units);
  schema.integer("reach", space.reach, "A node may add what was there so many nodes before; 0: no skips")
      .at_least(0)
      .at_most(most_nodes);
  schema.choice("head", space.head, choices_of(head_rows), head_doc());
}

std::vector<Decision> decisions(const ArchitectureSpace& space) {
  check(space);
  std::vector<std::string> units;
  for (const auto n : space.units) units.push_back(n == 0 ? "identity" : fmt::format("{}", n));
  std::vector<Decision> all;
  for (int k = 1; k <= space.n_nodes; ++k) {
    all.push_back({fmt::format("node {}", k), units});
    for (int from = first_candidate(space, k); from < k; ++from)
      all.push_back({fmt::format("skip {}->{}", from, k), {"no", "yes"}});
  }
  return all;
}

double size_of(const ArchitectureSpace& space) {
  double n = 1;
  for (const Decision& decision : decisions(space)) n *= decision.choices.size();
  return n;
}

Architecture make_architecture(const ArchitectureSpace& space, const std::vector<int>& genes, int n_inputs,
                               int n_outputs, int steps_out) {
  check(space);
  Architecture a{n_inputs, {}, {}, space.head, n_outputs, steps_out};
  std::size_t i = 0;
  const auto next = [&](int n_choices) {
    if (i >= genes.size() || genes[i] < 0 || genes[i] >= n_choices)
      throw InternalError(
          fmt::format("gene {} of {} is not one of the choices of {}", i, genes.size(), n_choices));
    return genes[i++];
  };
  for (int k = 1; k <= space.n_nodes; ++k) {
    const int units = space.units[next(space.units.size())];
    a.nodes.push_back({units == 0 ? NodeKind::identity : NodeKind::lstm, units});
    for (int from = first_candidate(space, k); from < k; ++from)
      if (next(2) == 1) a.skips.push_back({from, k});
  }
  if (i != genes.size()) throw InternalError("more genes than decisions");
  validate(a);
  return a;
}

}  // namespace quintet::sequence
