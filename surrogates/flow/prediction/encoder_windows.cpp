#include "surrogates/flow/prediction/encoder_windows.hpp"

#include <algorithm>

namespace quintet::flow {

AxisWindows cover_axis(int n, int block, bool periodic, bool seamless) {
  AxisWindows windows{n, std::min(n, block), {}};
  const int stride = std::max(1, windows.length / 2);
  if (periodic) {
    const bool single = windows.length == n && seamless;
    for (int start = 0; start < (single ? 1 : n); start += stride) windows.starts.push_back(start);
    return windows;
  }
  for (int start = 0; start + windows.length < n; start += stride) windows.starts.push_back(start);
  windows.starts.push_back(n - windows.length);
  return windows;
}

}  // namespace quintet::flow
