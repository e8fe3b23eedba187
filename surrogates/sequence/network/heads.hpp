#pragma once

#include <span>

#include "surrogates/sequence/network/architecture.hpp"

namespace quintet::sequence {

/// A head by its name in input files and models.
struct HeadRow {
  Head value;
  const char *name, *doc;
};
[[nodiscard]] std::span<const HeadRow> heads();

}  // namespace quintet::sequence
