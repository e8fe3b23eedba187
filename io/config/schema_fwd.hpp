#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: schema.hpp.
namespace quintet {

class Describe;
class Schema;

}  // namespace quintet
