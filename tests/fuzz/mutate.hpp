#pragma once

#include <random>
#include <string>
#include <vector>

namespace quintet::fuzz {

/// A damaged copy of one of `corpus`: bits, bytes, numbers and pieces of it changed, cut out, doubled, or
/// exchanged for those of another. The same for the same state of `random`.
std::string mutated(const std::vector<std::string>& corpus, std::mt19937_64& random);

}  // namespace quintet::fuzz
