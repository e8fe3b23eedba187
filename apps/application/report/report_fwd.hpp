#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: report.hpp.
namespace quintet {

class Report;

}  // namespace quintet
