#include "apps/quintet/plan/training_table.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "apps/quintet/plan/placement.hpp"
#include "apps/quintet/plan/text.hpp"
#include "io/config/schema.hpp"
#include "surrogates/planning/zero.hpp"

namespace quintet {
namespace {

using planning::Job;
using planning::Projection;

/// A job on this machine: links, memory of a rank, time there, groups of a node.
Job on_machine(Job job, const Machine& machine, std::int64_t p, std::int64_t threads, double slower) {
  const Placement placed = place(machine, p, threads, 0, std::nullopt);
  job.links = links_of(machine, placed.ranks_per_node);
  job.group = std::min<std::int64_t>(placed.ranks_per_node, p);
  if (machine.node.memory) job.memory = *machine.node.memory / placed.ranks_per_node;
  for (double* seconds :
       {&job.network.forward_seconds, &job.network.backward_seconds, &job.network.update_seconds})
    *seconds *= slower;
  job.micro_batches = std::min(job.batch, 4.0 * p);
  return job;
}

std::vector<std::string> line_of(const Projection& row) {
  const std::string name = planning::row_of(row.strategy).name;
  const auto parts = fmt::format("{:g} x {:g}", row.parts.data, row.parts.network);
  if (!row.impossible.empty()) return {name, parts};
  return {name,
          parts,
          seconds_text(row.seconds()),
          seconds_text(row.compute),
          seconds_text(row.communication),
          fmt::format("{} in {:.3g}", bytes_text(row.traffic.bytes), row.traffic.messages),
          bytes_text(row.memory)};
}

std::string table_for(const Job& job, std::int64_t p) {
  std::vector<std::vector<std::string>> lines{
      {"strategy", "data x network", "a step", "computes", "waits", "sent a rank", "memory a rank"}};
  std::vector<std::string> remarks{""};
  const auto ranking = planning::ranking(job, p);
  for (const auto& row : ranking) {
    lines.push_back(line_of(row));
    remarks.push_back(row.impossible.empty() ? "" : "impossible: " + row.impossible);
  }
  const auto* best = planning::choice(ranking);
  std::string text = fmt::format("\n{} ranks, by strategy:\n", p) + columns_text(lines, remarks);
  if (best != nullptr) text += fmt::format("Choice: {}.\n", planning::row_of(best->strategy).name);
  return text;
}

std::string zero_text(const Job& job, std::int64_t p, std::size_t first_stage) {
  if (first_stage >= planning::zero_stages().size()) return "";
  std::vector<std::vector<std::string>> lines{{"data-parallel", "holds", "sent a rank and step"}};
  const double parameters = job.network.weights();
  const auto bytes = job.bytes_per_item == 8 ? planning::ParameterBytes{8, 8, 16} : planning::adam_float32;
  for (const auto& row : planning::zero_stages().subspan(first_stage)) {
    const auto traffic = row.traffic(bytes, parameters, static_cast<double>(p));
    lines.push_back({row.name, bytes_text(row.memory(bytes, parameters, static_cast<double>(p))),
                     fmt::format("{} in {:.3g}", bytes_text(traffic.bytes), traffic.messages)});
  }
  return fmt::format(
             "\nParameters, gradients and Adam's moments on {} ranks that share no memory (formulas; with "
             "this input they are not divided so):\n",
             p) +
         columns_text(lines, std::vector<std::string>(lines.size()));
}

}  // namespace

std::string strategies_text(const Job& job, const Machine& machine, const std::vector<std::int64_t>& ranks,
                            std::int64_t threads, double slower, std::size_t first_stage) {
  std::string text;
  for (const auto p : ranks) {
    if (p == 1) continue;  // all strategies are the same
    const Job there = on_machine(job, machine, p, threads, slower);
    const bool reaches = there.links.reaches(p);
    text += reaches ? table_for(there, p)
                    : fmt::format(
                          "\n{} ranks: no table of strategies, links of {} are unknown "
                          "('quintet machine --calibrate').\n",
                          p, machine.name);
    text += zero_text(there, p, first_stage);
  }
  return text;
}

}  // namespace quintet
