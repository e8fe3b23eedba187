#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::dpmd {

/// Flags of `dpmd compress`, in the order in which compress() takes their values.
[[nodiscard]] std::vector<Application::Flag> compress_flags();
/// `dpmd compress MODEL.dp --output OUT.dp`: the model with DeePMD-kit's tables of its embedding networks,
/// for programs that need them (dpmd makes better ones by itself). Collective; rank 0 works.
///
/// The least distance between atoms, which the range of the tables follows from, is that of the flag, else
/// that in the data given, else the one that the model remembers from its training.
void compress(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::dpmd
