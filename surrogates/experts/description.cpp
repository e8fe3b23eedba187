#include "surrogates/experts/description.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdio>

namespace quintet::experts {

std::size_t allocated_bytes() {
  const auto state = ::mallinfo2();
  return state.uordblks + state.hblkhd;
}

void describe_opened(Expert expert, const std::function<std::shared_ptr<void>()>& open) {
  const std::size_t before = allocated_bytes();
  const auto opened = open();
  const std::size_t after = allocated_bytes();
  expert.memory = std::max<std::size_t>(after > before ? after - before : 0, 1);
  std::puts(to_json(to_tree(expert), 0).c_str());
}

}  // namespace quintet::experts
