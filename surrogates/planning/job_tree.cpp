#include "surrogates/planning/job_tree.hpp"

#include "io/config/table.hpp"

namespace quintet::planning {
namespace {

Tree sizes_tree(const std::vector<std::int64_t>& sizes) {
  Tree tree = Tree::list();
  for (const auto size : sizes) tree.append(Tree::integer(size));
  return tree;
}

std::vector<std::int64_t> sizes_of(const Tree& tree) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : tree.items()) sizes.push_back(size.as_integer());
  return sizes;
}

Tree layer_tree(const Layer& layer) {
  return Tree::map({{"name", Tree::text(layer.name)},
                    {"kind", Tree::text(row_of(layer.kind).name)},
                    {"x", sizes_tree(layer.x)},
                    {"y", sizes_tree(layer.y)},
                    {"kernel", sizes_tree(layer.kernel)},
                    {"weights", Tree::integer(layer.weights)},
                    {"beside", Tree::integer(layer.beside)}});
}

Layer layer_of(const Tree& tree) {
  return {.name = tree.at("name").as_text(),
          .kind = row_given(layer_kinds(), tree.at("kind").as_text(), "kind").value,
          .x = sizes_of(tree.at("x")),
          .y = sizes_of(tree.at("y")),
          .kernel = sizes_of(tree.at("kernel")),
          .weights = tree.at("weights").as_integer(),
          .beside = tree.at("beside").as_integer()};
}

}  // namespace

Tree to_tree(const Job& job) {
  Tree layers = Tree::list();
  for (const auto& layer : job.network.layers) layers.append(layer_tree(layer));
  return Tree::map({{"samples", Tree::number(job.samples)},
                    {"batch", Tree::number(job.batch)},
                    {"bytes_per_item", Tree::number(job.bytes_per_item)},
                    {"forward_s", Tree::number(job.network.forward_seconds)},
                    {"backward_s", Tree::number(job.network.backward_seconds)},
                    {"update_s", Tree::number(job.network.update_seconds)},
                    {"layers", std::move(layers)}});
}

Job job_of(const Tree& tree) {
  Job job{.samples = tree.at("samples").as_number(),
          .batch = tree.at("batch").as_number(),
          .bytes_per_item = tree.at("bytes_per_item").as_number()};
  job.network.forward_seconds = tree.at("forward_s").as_number();
  job.network.backward_seconds = tree.at("backward_s").as_number();
  job.network.update_seconds = tree.at("update_s").as_number();
  for (const auto& layer : tree.at("layers").items()) job.network.layers.push_back(layer_of(layer));
  return job;
}

namespace {

Tree tree_of(const std::optional<double>& value) { return value ? Tree::number(*value) : Tree(); }
std::optional<double> number_of(const Tree& tree) {
  return tree.is_null() ? std::nullopt : std::optional(tree.as_number());
}

}  // namespace

Tree to_tree(const Division& division) {
  Tree units = Tree::list();
  for (const auto& unit : division.units) units.append(Tree::number(unit.n));
  Tree within = Tree::list();
  for (const auto& unit : division.units) within.append(Tree::integer(unit.within));
  return Tree::map({{"units", std::move(units)},
                    {"within", std::move(within)},
                    {"bytes_per_number", Tree::number(division.bytes_per_number)},
                    {"low_bytes", Tree::number(division.low_bytes)},
                    {"states", Tree::number(division.states)},
                    {"shares_node", Tree::boolean(division.shares_node)},
                    {"overlaps", Tree::boolean(division.overlaps)},
                    {"most_stage", Tree::integer(division.most_stage)},
                    {"memory_bytes", tree_of(division.memory)},
                    {"states_in_file", Tree::boolean(division.states_place.in_file)},
                    {"states_host_bytes", tree_of(division.states_place.host)},
                    {"states_file_bytes", tree_of(division.states_place.file)},
                    {"delayed", Tree::boolean(division.states_place.delayed)}});
}

Division division_of(const Tree& tree) {
  Division division{.bytes_per_number = tree.at("bytes_per_number").as_number(),
                    .low_bytes = tree.at("low_bytes").as_number(),
                    .states = tree.at("states").as_number(),
                    .shares_node = tree.at("shares_node").as_boolean(),
                    .overlaps = tree.at("overlaps").as_boolean(),
                    .most_stage = static_cast<int>(tree.at("most_stage").as_integer())};
  const auto &units = tree.at("units").items(), &within = tree.at("within").items();
  for (std::size_t u = 0; u < units.size(); ++u)
    division.units.emplace_back(units[u].as_number(), static_cast<int>(within.at(u).as_integer()));
  division.memory = number_of(tree.at("memory_bytes"));
  division.states_place = {tree.at("states_in_file").as_boolean(), number_of(tree.at("states_host_bytes")),
                           number_of(tree.at("states_file_bytes")), tree.at("delayed").as_boolean()};
  return division;
}

}  // namespace quintet::planning
