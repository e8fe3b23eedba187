#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: tree.hpp.
namespace quintet {

class Tree;
struct Location;

}  // namespace quintet
