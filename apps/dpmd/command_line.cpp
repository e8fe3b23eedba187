#include "apps/dpmd/command_line.hpp"

#include <algorithm>

namespace quintet::dpmd {

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',' || c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  std::erase(words, "");
  return words;
}

Tree keys_of(const Application::Arguments& arguments, const std::vector<std::pair<std::string, int>>& keys) {
  Tree tree;
  for (const auto& [key, place] : keys) {
    if (arguments[static_cast<std::size_t>(place)].empty()) continue;
    std::string flag = "--" + key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    Tree leaf = Tree::scalar(arguments[static_cast<std::size_t>(place)].front());
    leaf.set_location({flag, 0, 0});
    tree.set(key, leaf);
  }
  return tree;
}

}  // namespace quintet::dpmd
