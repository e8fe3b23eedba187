#pragma once

#include <functional>

namespace quintet::emulation {
using Work = std::function<void()>;
/// Does the work when the stream comes to it.
void enqueue(void* stream, Work work);
}  // namespace quintet::emulation
