#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::sequence {

/// How training, validation and test windows are chosen.
enum class SplitKind {
  chronological,  ///< three periods, one after the other; every window lies in one of them
  random          ///< training and validation windows drawn from one period: they overlap (SC20's way)
};

struct SplitOptions {
  SplitKind kind = SplitKind::chronological;
  std::string train_from, train_until, validation_until, test_until;  ///< "2007-12-31"; "": see describe()
  double validation_share = 0.2;                                      ///< of random's windows
  std::int64_t seed = 1;                                              ///< of random's draw
  Irregular irregular = Irregular::avoid;
};
void describe(Schema& schema, SplitOptions& options);

/// Windows by what they may be used for.
struct Split {
  Rows constants;  ///< the training period: climatology, scaling and regressions know no other rows
  Windows train, validation, test;  ///< test may be empty where the record ends before
  Rows validation_rows, test_rows;
  std::vector<std::string>
      leaks;  ///< what makes its scores better than a forecast would be; printed with them
};

/// Split a series. Throws InputError: dates out of order or outside the record, a test period inside
/// training, a period too short for one window.
[[nodiscard]] Split make_split(const CoefficientSeries& series, const WindowShape& shape,
                               const SplitOptions& options);

}  // namespace quintet::sequence
