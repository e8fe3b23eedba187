#pragma once

#include <string>

namespace quintet::commands {

/// Train a router on a table (.csv) of requests: a column for each key, and `expert`, the ID of who answered
/// best; put it into the registry and say how often it is right about rows that it was not trained on. Throws
/// InputError (file, line, what).
void train_router_on(const std::string& registry, const std::string& table);

}  // namespace quintet::commands
