#include "io/parallel/rank_texts.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "io/parallel/comm.hpp"

namespace quintet {

std::vector<std::string> gather_texts(const Comm& comm, const std::string& text) {
  const std::size_t length = text.size();
  const auto lengths = comm.gather(std::span(&length, 1));
  const auto all = comm.gather(std::span<const char>(text));
  std::vector<std::string> texts;
  auto at = all.begin();
  for (const std::size_t n : lengths) {
    const auto end = at + static_cast<std::ptrdiff_t>(n);
    texts.emplace_back(at, end);
    at = end;
  }
  return texts;
}

std::vector<std::string> words_of_ranks(const Comm& comm, const std::string& text) {
  std::vector<std::string> words;
  for (auto& one : gather_texts(comm, text))
    if (!one.empty() && std::find(words.begin(), words.end(), one) == words.end())
      words.push_back(std::move(one));
  return words;
}

}  // namespace quintet
