#include "io/machine/launch_line.hpp"

#include "io/config/tree.hpp"

namespace quintet {
namespace {

void replace_all(std::string& text, const std::string& word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
}

void replace_all(std::string& text, const std::string& word, std::int64_t value) {
  replace_all(text, word, std::to_string(value));
}

}  // namespace

std::string launch_line(const std::string& command, const JobShape& shape) {
  std::string line = command;
  replace_all(line, "{nodes}", shape.nodes);
  replace_all(line, "{ranks}", shape.ranks());
  replace_all(line, "{ranks_per_node}", shape.ranks_per_node);
  replace_all(line, "{threads}", shape.threads);
  replace_all(line, "{gpus_per_node}", shape.gpus_per_node);
  // The shell splits it into words; a job's script has set it, elsewhere it is nothing.
  replace_all(line, "{variables}", "${QUINTET_HAND_ON-} ${QUINTET_START:+-x QUINTET_START}");
  return line;
}

}  // namespace quintet
