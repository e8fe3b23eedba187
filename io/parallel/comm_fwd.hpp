#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: comm.hpp.
namespace quintet {

class Comm;

}  // namespace quintet
