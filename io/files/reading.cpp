#include "io/files/reading.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace quintet {

namespace {

void add_once(std::vector<std::string>& list, std::string what) {
  if (std::find(list.begin(), list.end(), what) == list.end()) list.push_back(std::move(what));
}

/// First entries of a list: those that differ from frame to frame would make an endless line for a long file.
std::vector<std::string> first_of(const std::vector<std::string>& list) {
  constexpr std::size_t most = 40;
  if (list.size() <= most) return list;
  std::vector<std::string> first(list.begin(), list.begin() + most);
  first.push_back(fmt::format("and {} more", list.size() - most));
  return first;
}

}  // namespace

void Reading::assume(std::string what) { add_once(assumed, std::move(what)); }

void Reading::leave(std::string what) { add_once(not_used, std::move(what)); }

void Reading::add(const Reading& other) {
  for (const auto& what : other.assumed) assume(what);
  for (const auto& what : other.not_used) leave(what);
}

std::string Reading::text() const {
  std::vector<std::string> parts = first_of(assumed);
  if (!not_used.empty()) parts.push_back(fmt::format("not used: {}", fmt::join(first_of(not_used), ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace quintet
