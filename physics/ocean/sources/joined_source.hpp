#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "physics/ocean/sources/field_source.hpp"

namespace quintet::ocean {

/// Join sources that follow each other in time to one. One of them is open at a time.
///
/// What their files take for granted becomes notes, each text once. Throws InputError that names the file:
/// other grids, units or quantities from file to file, times that overlap or come twice.
[[nodiscard]] std::unique_ptr<FieldSource> joined(std::vector<std::unique_ptr<FieldSource>> sources);

/// Times that a source reads at once, each by a thread of its own.
[[nodiscard]] int times_at_once();
/// Call action(0) to action(n - 1), threads sharing them; what one throws is thrown where all have ended.
void each_at_once(int n, const std::function<void(int)>& action);

/// Steps between times, and the middle one of them: the usual step (days); 0 of a single time.
[[nodiscard]] double usual_step(const std::vector<double>& days);

/// First entries of a list as one text, with the number of the others.
[[nodiscard]] std::string some_of(std::vector<std::string> texts);

}  // namespace quintet::ocean
