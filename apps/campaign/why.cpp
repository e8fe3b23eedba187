#include "apps/campaign/why.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/campaign/store.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr const char* kinds[] = {"program ", "launch ",  "word ",  "only if ", "file ",
                                 "makes ",   "accepts ", "input ", "after "};

std::string kind_of(const std::string& line) {
  for (const char* kind : kinds)
    if (line.starts_with(kind)) return kind;
  return "";
}

/// Lines of an identity by their kinds; a word of several lines is one.
std::map<std::string, std::vector<std::string>> by_kind(const std::string& identity) {
  std::map<std::string, std::vector<std::string>> all;
  std::vector<std::string>* last = nullptr;
  for (std::size_t begin = 0; begin < identity.size();) {
    const auto end = std::min(identity.find('\n', begin), identity.size());
    const std::string line = identity.substr(begin, end - begin), kind = kind_of(line);
    begin = end + 1;
    if (!kind.empty())
      (last = &all[kind])->push_back(line);
    else if (last != nullptr)
      last->back() += "\n" + line;
  }
  return all;
}

/// A word as one line that is not too long.
std::string shown(std::string text) {
  constexpr std::size_t most = 60;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

/// A line without the keys of items: that these are others is told by what is waited for.
std::string without_keys(std::string line) {
  constexpr std::string_view store = "{store}/";
  constexpr std::size_t digits = 32;
  for (auto at = line.find(store); at != std::string::npos; at = line.find(store, at + 1))
    line.erase(at + store.size(), digits);
  return line;
}

/// Describe the change of an ingredient, with the names that it has now where there are as many.
std::string change(const std::string& kind, const std::string& before, const Ingredient& now) {
  if (kind == "word " || kind == "only if " || kind == "launch ")
    return fmt::format("'{}' was '{}'", shown(now.line), shown(before.substr(kind.size())));
  if (kind == "program " &&
      now.line.substr(0, now.line.find(' ', kind.size())) != before.substr(0, before.find(' ', kind.size())))
    return fmt::format("{} is another", now.what);
  return fmt::format("{} {}", now.what, kind == "after " ? "is another" : "has changed");
}

std::string first_lines(const std::string& path) {
  std::ifstream file(path);
  std::string label, why;
  std::getline(file, label);
  std::getline(file, why);
  return why;
}

}  // namespace

std::string changes(const std::string& before, const std::vector<Ingredient>& now) {
  auto old = by_kind(before);
  std::map<std::string, std::vector<const Ingredient*>> all;
  for (const auto& ingredient : now) all[kind_of(ingredient.line)].push_back(&ingredient);
  std::string text;
  std::set<std::string> told;
  const auto tell = [&](const std::string& what) {
    if (told.insert(what).second) text += (text.empty() ? "" : "; ") + what;
  };
  for (const char* kind : kinds) {
    const auto& was = old[kind];
    const auto& is = all[kind];
    if (was.size() == is.size()) {
      for (std::size_t i = 0; i < is.size(); ++i)
        if (without_keys(was[i]) != without_keys(is[i]->line)) tell(change(kind, was[i], *is[i]));
      continue;
    }
    const auto is_there = [&](const std::string& line) {
      return std::any_of(is.begin(), is.end(),
                         [&](const auto* each) { return without_keys(each->line) == without_keys(line); });
    };
    for (const auto* each : is)
      if (std::none_of(was.begin(), was.end(),
                       [&](const auto& line) { return without_keys(line) == without_keys(each->line); }))
        tell(fmt::format("'{}' is new", shown(each->what)));
    for (const auto& line : was)
      if (!is_there(line)) tell(fmt::format("'{}' is no more", shown(line)));
  }
  return text;
}

Reasons::Reasons(const Graph& graph, std::string directory)
    : graph_(graph), directory_(std::move(directory)) {
  std::set<std::string> keys;
  for (const auto& item : graph.items()) keys.insert(item.key);
  std::map<std::string, fs::file_time_type> times;
  std::error_code wrong;
  for (const auto& entry : fs::directory_iterator(directory_ + "/store", wrong)) {
    if (keys.contains(entry.path().filename().string())) continue;
    try {
      const auto done = Store::read(entry.path().string());
      const auto time = entry.last_write_time(wrong);
      if (const auto known = times.find(done.label); known != times.end() && known->second > time) continue;
      times[done.label] = time;
      last_[done.label] = done.identity;
    } catch (const InputError&) {  // damaged, and of no item of this file
    }
  }
}

std::string Reasons::why(const Item& item) const {
  if (const auto done = Store::find(directory_, item, false)) return done->damage;
  const std::string failed = first_lines(directory_ + "/failed/" + item.key + "/why.txt");
  if (!failed.empty()) return "it failed: " + failed;
  const auto last = last_.find(item.label);
  const std::string changed = last == last_.end() ? "" : changes(last->second, graph_.ingredients(item));
  if (!changed.empty()) return changed;
  return fs::exists(directory_ + "/work/" + item.key) ? "it was begun and did not end" : "it was never done";
}

}  // namespace quintet::campaign
