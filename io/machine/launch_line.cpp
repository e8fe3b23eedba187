#include "io/machine/launch_line.hpp"

namespace quintet {
namespace {

void replace_all(std::string& text, const std::string& word, std::int64_t value) {
  const std::string number = std::to_string(value);
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + number.size()))
    text.replace(at, word.size(), number);
}

}  // namespace

std::string launch_line(const std::string& command, const JobShape& shape) {
  std::string line = command;
  replace_all(line, "{nodes}", shape.nodes);
  replace_all(line, "{ranks}", shape.ranks());
  replace_all(line, "{ranks_per_node}", shape.ranks_per_node);
  replace_all(line, "{threads}", shape.threads);
  replace_all(line, "{gpus_per_node}", shape.gpus_per_node);
  return line;
}

}  // namespace quintet
