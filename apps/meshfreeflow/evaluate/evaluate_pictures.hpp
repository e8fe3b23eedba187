#pragma once

#include <string>
#include <vector>

#include "apps/meshfreeflow/evaluate/case_data.hpp"

namespace quintet::meshfreeflow {

/// Frames of one field of a case as the coarse data, the truth and the predictions have it, on equal pixels:
/// side by side for the middle frame, and as a film.
class CasePictures {
 public:
  CasePictures(const CaseData& data, int field);

  /// This rank's frames of truth or of a prediction.
  void add(const CaseFields& fields);
  /// Side by side, errors below, and a film of the first model. Collective.
  void report(Context& context, const std::string& case_name) const;

 private:
  const CaseData* data_;
  int field_;
  int n_x_, n_y_;
  std::vector<int> frames_;  ///< of the film, this rank's
  struct Strip {
    std::string name;
    std::vector<double> pixels;  ///< [frame of the film][y][x]
  };
  std::vector<Strip> strips_;
};

}  // namespace quintet::meshfreeflow
