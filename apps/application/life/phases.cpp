#include "apps/application/life/phases.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

PhaseNode* child(PhaseNode& parent, const std::string_view name) {
  for (const auto& node : parent.children)
    if (node->name == name) return node.get();
  parent.children.push_back(std::make_unique<PhaseNode>());
  PhaseNode* node = parent.children.back().get();
  node->name = name;
  node->parent = &parent;
  return node;
}

/// The phases inside `node`, a line "path\tseconds" each, children behind their parents.
std::string lines_of(const PhaseNode& node, const std::string& prefix) {
  std::string lines;
  for (const auto& inner : node.children) {
    const std::string path = prefix + inner->name;
    lines += fmt::format("{}\t{:.9g}\n", path, inner->seconds) + lines_of(*inner, path + "/");
  }
  return lines;
}

bool is_inside(const std::string& path, const std::string& parent) { return path.starts_with(parent + "/"); }

/// The entry of a path; a new one goes behind its parent's others.
PhaseTime& entry(std::vector<PhaseTime>& times, const std::string& path) {
  const auto known = std::find_if(times.begin(), times.end(), [&](const auto& t) { return t.path == path; });
  if (known != times.end()) return *known;
  const std::string parent = path.substr(0, std::min(path.rfind('/'), path.size()));
  auto behind = std::find_if(times.begin(), times.end(), [&](const auto& t) { return t.path == parent; });
  if (behind != times.end()) ++behind;
  while (behind != times.end() && is_inside(behind->path, parent)) ++behind;
  return *times.insert(behind, {path, 0, 0});
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

void Phases::add(const std::string& path, double seconds) {
  PhaseNode* node = &root_;
  std::istringstream names(path);
  for (std::string name; std::getline(names, name, '/');) node = child(*node, name);
  node->seconds += seconds;
}

double Phases::longest(const std::string& name) const { return longest_visit(root_, name); }

std::vector<PhaseTime> Phases::over_ranks(const Comm& comm) const {
  // As text, since ranks may have entered different phases.
  const std::string mine = lines_of(root_, "");
  const std::vector<char> all = comm.gather(std::span<const char>(mine));
  std::vector<PhaseTime> result;
  std::istringstream lines(std::string(all.begin(), all.end()));
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.rfind('\t');
    const double seconds = std::stod(line.substr(tab + 1));
    auto& time = entry(result, line.substr(0, tab));
    time.mean += seconds / comm.size();
    time.slowest = std::max(time.slowest, seconds);
  }
  return result;
}

}  // namespace quintet
