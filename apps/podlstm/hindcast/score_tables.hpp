#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "surrogates/sequence/hindcast/pooled_scores.hpp"

namespace quintet::podlstm {

/// What is judged and in which words.
struct Judged {
  std::vector<std::string> measures;  ///< "all points", "Niño 3.4" ...
  std::vector<std::string> units;     ///< of their errors
  int against = 0;                    ///< method that all are compared with
  int climatology = -1;               ///< method whose CRPS skill is counted from; -1: none
  sequence::LeadRange leads;          ///< judged together
  std::string period, leak;           ///< goes with every table
  [[nodiscard]] std::string words() const;
};

/// Tables, curves and reliability of all methods into report and log, numbers into the summary, and all
/// scores into scores.csv, `lines` of other scores after them.
void report_scores(Context& context, const sequence::Hindcasts& hindcasts,
                   const sequence::PooledScores& scores, const Judged& judged, const std::string& lines);

/// What was learned on the way: weights of the mixture, and whether networks stayed.
/// @param verdict on networks over all judged windows, a sentence; "": none
void report_learned(Context& context, const std::vector<std::string>& parts,
                    const std::vector<sequence::MixtureWeights>& weights,
                    const std::vector<sequence::Earned>& earned, const std::string& unit,
                    const std::string& verdict);

}  // namespace quintet::podlstm
