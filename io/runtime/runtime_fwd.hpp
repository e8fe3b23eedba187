#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: runtime.hpp.
namespace quintet {

class Runtime;
class StopRequest;
struct Subsystem;
struct Threads;

}  // namespace quintet
