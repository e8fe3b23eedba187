#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::podlstm {

[[nodiscard]] std::vector<Application::Flag> expert_flags();
/// `podlstm expert MODEL`: what a registry is to know of a model, as JSON: leads, modes, precision, memory.
/// `quintet registry add` asks for it. Collective.
void expert(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::podlstm
