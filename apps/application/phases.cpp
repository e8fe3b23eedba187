#include "apps/application/phases.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

namespace quintet {
namespace {

using Timings = std::vector<std::pair<std::string, double>>;

PhaseNode* child(PhaseNode& parent, const char* name) {
  for (const auto& node : parent.children)
    if (node->name == name || std::strcmp(node->name, name) == 0) return node.get();
  parent.children.push_back(std::make_unique<PhaseNode>());
  PhaseNode* node = parent.children.back().get();
  node->name = name;
  node->parent = &parent;
  return node;
}

void flatten(const PhaseNode& node, const std::string& prefix, Timings& timings) {
  for (const auto& inner : node.children) {
    const std::string path = prefix + inner->name;
    timings.emplace_back(path, inner->seconds);
    flatten(*inner, path + "/", timings);
  }
}

double longest_visit(const PhaseNode& node, const std::string& name) {
  double result = node.name == name ? node.longest : 0;
  for (const auto& inner : node.children) result = std::max(result, longest_visit(*inner, name));
  return result;
}

}  // namespace

PhaseTimer::PhaseTimer(PhaseNode*& current, const char* name) : current_(current) {
  current_ = child(*current, name);
}

PhaseTimer::~PhaseTimer() {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  current_->seconds += seconds;
  current_->longest = std::max(current_->longest, seconds);
  current_ = current_->parent;
}

double Phases::longest(const std::string& name) const { return longest_visit(root_, name); }

std::vector<std::pair<std::string, double>> Phases::slowest_rank(const Comm& comm) const {
  // As text, since ranks may have entered different phases.
  Timings mine;
  flatten(root_, "", mine);
  std::string text;
  for (const auto& [path, seconds] : mine) text += fmt::format("{}\t{:.9g}\n", path, seconds);
  const std::vector<char> all = comm.gather(std::span<const char>(text));

  Timings result;
  std::istringstream lines(std::string(all.begin(), all.end()));
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.rfind('\t');
    const std::string path = line.substr(0, tab);
    const double seconds = std::stod(line.substr(tab + 1));
    const auto known =
        std::find_if(result.begin(), result.end(), [&](const auto& e) { return e.first == path; });
    if (known == result.end())
      result.emplace_back(path, seconds);
    else
      known->second = std::max(known->second, seconds);
  }
  return result;
}

}  // namespace quintet
