#include "surrogates/sequence/hindcast/sea/heat_wave.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::sequence::heat_wave {

int least_steps(const TimeStep& step) {
  constexpr double round_off = 1e-9;
  return step.months > 0 ? 1 : std::max<int>(1, std::ceil(days / step.days - round_off));
}

bool is_within(std::span<const std::uint8_t> warm, int at, int least) {
  if (warm[at] == 0) return false;
  int first = at, last = at;
  while (first > 0 && warm[first - 1] != 0) --first;
  while (last + 1 < std::ssize(warm) && warm[last + 1] != 0) ++last;
  return last - first + 1 >= least;
}

}  // namespace quintet::sequence::heat_wave
