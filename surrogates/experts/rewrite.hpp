#pragma once

#include <functional>
#include <string>

namespace quintet::experts {

/// Change a registry by way of a copy that is whole and on the disk before it takes the name: whatever
/// happens on the way, the old one stays. One writer at a time; others wait. Throws ResourceError.
/// @param change of the copy; whether there was a registry
void rewrite_registry(const std::string& registry,
                      const std::function<void(const std::string& copy, bool is_there)>& change);

}  // namespace quintet::experts
