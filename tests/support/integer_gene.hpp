#pragma once

#include <string>

#include "surrogates/search/space.hpp"

namespace quintet::search {

/// Make a gene whose choices are the integers lowest, lowest + step, ... up to highest.
[[nodiscard]] inline Gene integer_gene(const std::string& name, int lowest, int highest, int step = 1) {
  Gene gene{name, {}};
  for (int value = lowest; value <= highest; value += step) gene.choices.push_back(std::to_string(value));
  return gene;
}

}  // namespace quintet::search
