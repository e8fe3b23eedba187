#pragma once

#include <string>
#include <vector>

#include "physics/ocean/record.hpp"

namespace quintet::ocean {

/// A record whose fields have modes in common with those of others.
struct JointRecord {
  const Record* record = nullptr;
  std::string name{};  ///< of a further variable; empty: of the first
  double weight = 1;   ///< of its total variance, where that of the first counts 1
};
/// Records of several variables, the first of which gives coefficients their units.
using JointRecords = std::vector<JointRecord>;

/// "", or for messages what a further variable is: "fields.also: NAME: ".
[[nodiscard]] std::string told_by_name(const std::string& name);

/// Throws InputError, with dates, where a record has other times than the first, and where one has the
/// first's name. Times are the same to a hundredth of a day; those of months by their month, as files date
/// them by its first day, its middle or its end.
void check_joint(const JointRecords& records);

/// First day of a further variable's record that begins with the time number `first` of the first's.
[[nodiscard]] double joint_from(const std::vector<double>& days, std::size_t first);

}  // namespace quintet::ocean
