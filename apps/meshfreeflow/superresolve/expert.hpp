#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::meshfreeflow {

[[nodiscard]] std::vector<Application::Flag> expert_flags();
/// `meshfreeflow expert MODEL`: what a registry is to know of a model, as JSON: the flow's parameters in its
/// training, memory. `quintet registry add` asks for it. Collective.
void expert(const Comm& comm, const Application::Arguments& arguments);

}  // namespace quintet::meshfreeflow
