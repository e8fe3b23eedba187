#include "surrogates/training/stores/parameter_store.hpp"

#include <fmt/format.h>

namespace quintet {

HeldBytes& HeldBytes::operator+=(const HeldBytes& other) {
  values += other.values;
  gradients += other.gradients;
  optimiser += other.optimiser;
  live += other.live;
  workspace += other.workspace;
  expanded += other.expanded;
  return *this;
}

std::string bad_gradient_text(std::int64_t t, const std::string& block) {
  return fmt::format(
      "step {}: the gradient of block '{}' or one after it holds a number that is not finite; the "
      "weights are those of before; a lower learning rate may help",
      t, block);
}

}  // namespace quintet
