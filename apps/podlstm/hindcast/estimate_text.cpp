#include "apps/podlstm/hindcast/estimate_text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace quintet::podlstm {

std::string estimate_text(const sequence::Estimate& estimate, int digits) {
  if (std::isnan(estimate.value)) return "-";
  if (std::isnan(estimate.error)) return fmt::format("{:.{}f}", estimate.value, digits);
  return fmt::format("{:.{}f}({:.0f})", estimate.value, digits, estimate.error * std::pow(10, digits));
}

}  // namespace quintet::podlstm
