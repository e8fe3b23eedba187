#pragma once

#include <functional>
#include <string>

namespace quintet::hdf5 {

/// Set an action to run before ranks that wait for one another on a full disk are ended with
/// ExitCode::resource (see Watch in detail.hpp): leave a last word. It is called from a thread of its own, on
/// the rank that ends the job, with the message, and must not communicate. Null: nothing.
void before_stuck_ranks_end(std::function<void(const std::string& message)> action);

}  // namespace quintet::hdf5
