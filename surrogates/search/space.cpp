#include "surrogates/search/space.hpp"

#include <limits>
#include <set>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet::search {

Space::Space(std::vector<Gene> genes) : genes_(std::move(genes)) {
  QUINTET_CHECK(!genes_.empty(), "the search space has no genes: there is nothing to search");
  std::set<std::string> names;
  for (const auto& gene : genes_) {
    QUINTET_CHECK(!gene.choices.empty(), "gene '{}' has no choices: the search space is empty", gene.name);
    QUINTET_CHECK(names.insert(gene.name).second, "two genes of the search space are named '{}'", gene.name);
    QUINTET_CHECK(
        std::set<std::string>(gene.choices.begin(), gene.choices.end()).size() == gene.choices.size(),
        "gene '{}': a choice is given twice: {}", gene.name, fmt::join(gene.choices, ", "));
  }
}

std::uint64_t Space::size() const {
  std::uint64_t size = 1;
  for (const auto& gene : genes_)
    if (__builtin_mul_overflow(size, gene.choices.size(), &size))
      return std::numeric_limits<std::uint64_t>::max();
  return size;
}

Genes Space::sample(Draws& draws) const {
  Genes genes;
  for (const auto& gene : genes_) genes.push_back(draws.below(gene.choices.size()));
  return genes;
}

Genes Space::mutate(const Genes& genes, Draws& draws) const {
  std::vector<std::size_t> free;
  for (std::size_t g = 0; g < genes_.size(); ++g)
    if (genes_[g].choices.size() > 1) free.push_back(g);
  if (free.empty()) return genes;
  Genes child = genes;
  const std::size_t g = free[draws.below(free.size())];
  const int other = draws.below(static_cast<int>(genes_[g].choices.size()) - 1);
  child[g] = other < genes[g] ? other : other + 1;
  return child;
}

void Space::check(const Genes& genes, const std::string& what) const {
  QUINTET_CHECK(genes.size() == genes_.size(), "{}: {} genes; the search space has {}", what, genes.size(),
                genes_.size());
  for (std::size_t g = 0; g < genes.size(); ++g)
    QUINTET_CHECK(genes[g] >= 0 && genes[g] < std::ssize(genes_[g].choices),
                  "{}: gene '{}' has choice {}; expected 0 to {}", what, genes_[g].name, genes[g],
                  genes_[g].choices.size() - 1);
}

std::string Space::text(const Genes& genes) const {
  std::vector<std::string> parts;
  for (std::size_t g = 0; g < genes.size(); ++g)
    parts.push_back(fmt::format("{}: {}", genes_[g].name, genes_[g].choices[genes[g]]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> Space::signature() const {
  std::vector<std::string> lines;
  for (const auto& gene : genes_)
    lines.push_back(fmt::format("{}: {}", gene.name, fmt::join(gene.choices, " | ")));
  return lines;
}

}  // namespace quintet::search
