#pragma once

#include <string>

#include "surrogates/sequence/skill/bootstrap.hpp"

namespace quintet::podlstm {

/// "0.1035(42)" with the error in the last digits; "-" where the number is not known.
[[nodiscard]] std::string estimate_text(const sequence::Estimate& estimate, int digits = 4);

}  // namespace quintet::podlstm
