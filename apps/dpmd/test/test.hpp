#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::dpmd {

/// Flags of `dpmd test`, in the order in which test() takes their values.
[[nodiscard]] std::vector<Application::Flag> test_flags();
/// `dpmd test --model M SYSTEM...`: how far a model is from the labels of systems, in NAME.json and, with
/// parity plots, in NAME.html; value by value in the files of `--detail`. Frames are shared over the ranks.
/// Collective.
void test(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::dpmd
