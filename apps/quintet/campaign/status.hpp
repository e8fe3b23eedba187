#pragma once

#include <string>

#include "apps/campaign/graph.hpp"

namespace quintet::campaign {

/// `quintet campaign status`: how far each stage is, what runs where and since when, what is queued.
void print_status(const Graph& graph, const std::string& directory);

}  // namespace quintet::campaign
