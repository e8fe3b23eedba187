#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "surrogates/search/draws.hpp"

namespace quintet::search {

/// One decision of a candidate.
struct Gene {
  std::string name;
  std::vector<std::string> choices;  ///< what may be decided, as people read it
};

/// A candidate: for each gene the number of its choice.
using Genes = std::vector<int>;

/// All candidates of a search: the product of its genes' choices.
class Space {
 public:
  /// Throws InputError for a space of size zero (no genes, a gene without choices) and for names that occur
  /// twice.
  explicit Space(std::vector<Gene> genes);

  [[nodiscard]] const std::vector<Gene>& genes() const { return genes_; }
  [[nodiscard]] int n_genes() const { return genes_.size(); }
  /// Number of candidates; the largest number where there are more than 64 bits count.
  [[nodiscard]] std::uint64_t size() const;

  /// Every candidate equally likely.
  [[nodiscard]] Genes sample(Draws& draws) const;
  /// One gene, chosen uniformly among those with more than one choice, gets another of its choices, each
  /// equally likely. A space of one candidate gives that.
  [[nodiscard]] Genes mutate(const Genes& genes, Draws& draws) const;

  /// Throws InputError with `what` in front unless these are genes of this space.
  void check(const Genes& genes, const std::string& what) const;
  /// "node 1: 64, skip 0-1: on": for tables and logs.
  [[nodiscard]] std::string text(const Genes& genes) const;
  /// Signature that tells spaces apart: gene by gene "name: a | b | c".
  [[nodiscard]] std::vector<std::string> signature() const;

 private:
  std::vector<Gene> genes_;
};

}  // namespace quintet::search
