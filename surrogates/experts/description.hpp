#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "surrogates/experts/registry.hpp"

/// The command `expert MODEL` of an application: opens a model and describes it for a registry.
namespace quintet::experts {

/// Bytes that the allocator has given to this process and not got back.
[[nodiscard]] std::size_t allocated_bytes();

/// Call `open`, which returns the model as requests find it in memory, set `expert.memory` to the bytes that
/// it keeps, and print the description as JSON on standard output.
void describe_opened(Expert expert, const std::function<std::shared_ptr<void>()>& open);

}  // namespace quintet::experts
