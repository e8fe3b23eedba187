#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/search/candidates.hpp"

namespace quintet::podlstm {

/// A reference's R2 (paper) on the validation windows.
struct ReferenceScore {
  std::string name;
  double r2 = 0;
};

/// The best candidates so far, live: a line in the log for each new best, the table once a minute, and
/// leaderboard.csv and trials.csv as often. Of rank 0; the others do nothing.
class Leaderboard {
 public:
  Leaderboard(Context& context, const Candidates& candidates, const std::vector<ReferenceScore>& references,
              int rows);
  /// After an evaluation.
  void look(const search::Search& search);
  /// Table and files as they stand at the end.
  void finish(const search::Search& search);

 private:
  void write(const search::Search& search);
  void tell(const search::Search& search) const;

  const Candidates& candidates_;
  const std::vector<ReferenceScore>& references_;
  std::size_t rows_;
  bool speaks_;
  std::string leaderboard_path_, trials_path_;
  std::int64_t best_ = -1;
  std::chrono::steady_clock::time_point written_;
};

}  // namespace quintet::podlstm
