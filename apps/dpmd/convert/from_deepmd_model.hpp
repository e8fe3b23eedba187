#pragma once

#include <string>
#include <vector>

#include "apps/dpmd/convert/deepmd_source.hpp"
#include "io/config/tree.hpp"

namespace quintet::dpmd {

/// The section `model` of DeePMD-kit's input as ours, as translate_deepmd().
[[nodiscard]] Tree translate_model(Source from, std::vector<std::string>& warnings);

}  // namespace quintet::dpmd
