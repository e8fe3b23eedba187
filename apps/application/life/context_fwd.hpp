#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: context.hpp.
namespace quintet {

class Context;

}  // namespace quintet
