#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/sparse/layout.hpp"

namespace quintet {

namespace {

using Count = std::function<std::vector<SpmmTraffic>(const SpmmLayout&)>;

/// The layout of least time of its worst rank, by what each rank receives in a product.
SpmmChoice best_of(const RowShares& shares, int f, const std::vector<SpmmLayout>& layouts,
                   const MessageCosts& costs, bool weighs_rows, const Count& count) {
  QUINTET_CHECK(costs.message >= 0 && costs.word >= 0,
                "a message of {} s and a word of {} s: expected 0 or more", costs.message, costs.word);
  struct Candidate {
    SpmmLayout layout;
    SpmmTraffic worst;
    double seconds;
  };
  std::vector<Candidate> possible;
  std::string impossible;
  for (const auto& layout : layouts) {
    try {
      check_shares(shares, layout);
    } catch (const InputError& error) {
      impossible = error.what();
      continue;
    }
    Candidate one{layout, {}, -1};
    auto counts = count(layout);
    if (weighs_rows) {
      const auto parts = count_row_parts(shares, layout, f);
      for (std::size_t r = 0; r < parts.size(); ++r) counts[r] += parts[r];
    }
    for (const auto& traffic : counts) {
      const double seconds =
          traffic.messages * costs.message + (traffic.dense_words + traffic.nonzeros) * costs.word;
      if (seconds > one.seconds) one = {layout, traffic, seconds};
    }
    possible.push_back(one);
  }
  if (possible.empty()) throw InputError(impossible);
  const auto better = [](const Candidate& x, const Candidate& y) { return x.seconds < y.seconds; };
  const Candidate best = *std::min_element(possible.begin(), possible.end(), better);
  const auto text = [&](const Candidate& one) {
    return fmt::format("{} ({} messages, {} words of H, {} of A on the worst rank: {:.3g} us)",
                       one.layout.name(), one.worst.messages, one.worst.dense_words, one.worst.nonzeros,
                       1e6 * one.seconds);
  };
  if (shares.n_ranks() == 1) return {best.layout, "one rank: nothing travels"};
  std::string reason = text(best);
  std::erase_if(possible, [&](const Candidate& one) { return one.layout.kind == best.layout.kind; });
  if (!possible.empty())
    reason += ", next " + text(*std::min_element(possible.begin(), possible.end(), better));
  else
    reason += ", the only kind";
  reason += fmt::format("; a product of {} columns{}, {:.3g} us a message and {:.3g} ns a word, {}", f,
                        weighs_rows ? " and one with weights" : "", 1e6 * costs.message, 1e9 * costs.word,
                        costs.source);
  return {best.layout, reason};
}

}  // namespace

SpmmChoice choose_layout(const Comm& comm, const SparseRows& a, int f, SpmmKind kind,
                         const MessageCosts& costs) {
  return choose_layout(comm, a, f, layouts_of(kind, comm.size()), costs);
}

SpmmChoice choose_layout(const Comm& comm, const SparseRows& a, int f, const std::vector<SpmmLayout>& layouts,
                         const MessageCosts& costs, bool weighs_rows) {
  return best_of(a.shares, f, layouts, costs, weighs_rows,
                 [&](const SpmmLayout& layout) { return count_traffic(comm, a, layout, f); });
}

SpmmChoice choose_layout(const SparseRows& whole, int f, const std::vector<SpmmLayout>& layouts,
                         const MessageCosts& costs, bool weighs_rows) {
  return best_of(whole.shares, f, layouts, costs, weighs_rows,
                 [&](const SpmmLayout& layout) { return count_traffic(whole, layout, f); });
}

}  // namespace quintet
