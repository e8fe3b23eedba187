#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::dpmd {

[[nodiscard]] std::vector<Application::Flag> expert_flags();
/// `dpmd expert MODEL`: what a registry is to know of a model, as JSON: types, precision, memory of an
/// evaluation. `quintet registry add` asks for it. Collective.
void expert(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::dpmd
