#include "physics/kinetics/system_needs.hpp"

#include <algorithm>

#include "io/config/table.hpp"
#include "physics/kinetics/advection/vlasov_operator.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/space/conf_modes.hpp"
#include "physics/kinetics/space/rank_grids.hpp"
#include "physics/kinetics/system_state.hpp"

namespace quintet::kinetics {
namespace {

/// Neighbours of a rank along a direction: periodic ones wrap around, and of two ranks each is the other's
/// twice.
int neighbours_along(const PhaseGrid& grid, int d, int ranks, int coordinate) {
  if (ranks == 1) return 0;
  if (d < grid.cdim && grid.periodic[d]) return 2;
  return (coordinate > 0 ? 1 : 0) + (coordinate + 1 < ranks ? 1 : 0);
}

int ranks_between(const std::array<int, 6>& ranks, int first, int last) {
  int n = 1;
  for (int d = first; d < last; ++d) n *= ranks[d];
  return n;
}

/// Traces of f (Exterior) that each stage sends.
void add_traces(const PhaseBasis& basis, const PhaseBlock& block, const SystemOptions& options,
                const std::array<int, 6>& ranks, const std::array<int, 6>& coordinates, RankNeeds& needs) {
  const auto vlasov = VlasovOperator::make(basis, block, options.flux, {});
  for (int d = 0; d < basis.dim(); ++d) {
    const std::size_t i = d;
    const double n = 3 * neighbours_along(block.grid, d, ranks[i], coordinates[i]);
    needs.neighbours.messages += n;
    needs.neighbours.bytes += n * 8 * vlasov->trace_size(d);
  }
}

/// Traces of the field (Maxwell) that each stage sends.
void add_field_traces(const PhaseBasis& basis, const PhaseBlock& block, const std::array<int, 6>& ranks,
                      const std::array<int, 6>& coordinates, RankNeeds& needs) {
  const ConfModes modes(basis.conf());
  for (int d = 0; d < basis.cdim(); ++d) {
    const std::size_t i = d;
    const double n = 3 * neighbours_along(block.grid, d, ranks[i], coordinates[i]);
    needs.neighbours.messages += n;
    needs.neighbours.bytes += n * 8 * int{n_field} * modes.n_face[d] * (block.n_conf() / block.extent[i]);
  }
}

/// How often a step compares the ranks' rates of collisions.
double rates_compared(const SystemOptions& options) {
  if (!options.collisions) return 0;
  if (options.collisions->split)
    return row_of(collision_operators(), options.collisions->kind).relaxes_exactly ? 0 : 2;
  return options.collisions->profile_changes ? 3 : 1;
}

}  // namespace

void RankNeeds::cover(const RankNeeds& other) {
  cells = std::max(cells, other.cells);
  bytes = std::max(bytes, other.bytes);
  for (const auto sent :
       {&RankNeeds::neighbours, &RankNeeds::velocity_sums, &RankNeeds::conf_sums, &RankNeeds::all_sums}) {
    (this->*sent).messages = std::max((this->*sent).messages, (other.*sent).messages);
    (this->*sent).bytes = std::max((this->*sent).bytes, (other.*sent).bytes);
  }
}

RankNeeds needs_of(const PhaseBasis& basis, const std::vector<Species>& species, const SystemOptions& options,
                   const std::array<int, 6>& ranks, const std::array<int, 6>& coordinates) {
  RankNeeds needs;
  const int cdim = basis.cdim(), dim = basis.dim();
  const bool splits = options.collisions && options.collisions->split;
  // Of a step: after each stage, where split collisions stand in for the last one and act twice.
  const double n_sums = splits ? 4 : 3;
  const bool third = options.collisions && Collisions::n_work(*options.collisions) > 2;
  for (const auto& s : species) {
    const PhaseBlock block = block_of(s.grid, ranks, coordinates);
    const double packs = static_cast<double>(block.n_conf()) * block.n_rows() * block.n_packs();
    const double conf_numbers = static_cast<double>(block.n_conf()) * basis.conf().size();
    needs.cells += packs * PhaseBlock::lanes;
    needs.bytes += (options.device ? 1 : third ? 4 : 3) * 8.0 * packs * PhaseBlock::lanes * basis.size();
    needs.bytes += 8 * conf_numbers * (6 + 3 + 3 * (1 + basis.vdim()));
    add_traces(basis, block, options, ranks, coordinates, needs);
    if (ranks_between(ranks, cdim, dim) == 1) continue;
    needs.velocity_sums.messages += n_sums;
    needs.velocity_sums.bytes += n_sums * 8 * conf_numbers * (1 + basis.vdim());
  }
  const PhaseBlock block = block_of(species.front().grid, ranks, coordinates);
  needs.bytes += 8.0 * block.n_conf() * basis.conf().size() * 5 * int{n_field};
  if (options.field == FieldModel::maxwell) add_field_traces(basis, block, ranks, coordinates, needs);
  if (options.field == FieldModel::poisson && ranks_between(ranks, 0, cdim) > 1)
    needs.conf_sums = {
        n_sums, n_sums * 8 * Poisson::numbers_summed(species.front().grid, basis.conf(), options.poisson)};
  const double n_greatest = 1 + rates_compared(options);
  if (ranks_between(ranks, 0, dim) > 1) {
    needs.all_sums = {n_greatest, 8 * n_greatest};
    if (options.field != FieldModel::none) {
      const int n_responses = options.external_current ? 2 : 1;  // at both ends of the step
      needs.all_sums.messages += n_responses;
      needs.all_sums.bytes += 8 * n_responses * FieldResponse::n_compared;
    }
  }
  return needs;
}

RankNeeds greatest_needs(const PhaseBasis& basis, const std::vector<Species>& species,
                         const SystemOptions& options, const std::array<int, 6>& ranks) {
  std::array<int, 6> middle{};
  for (std::size_t d = 0; d < ranks.size(); ++d) middle[d] = ranks[d] > 2 ? 1 : 0;
  RankNeeds needs = needs_of(basis, species, options, ranks, {});
  needs.cover(needs_of(basis, species, options, ranks, middle));
  return needs;
}

std::string what_needs_lack(const SystemOptions& options, const std::array<int, 6>& ranks, int cdim) {
  if (!options.device && ranks_between(ranks, cdim, 6) > 1 && options.collisions)
    return "collisions between parts of velocity space";
  if (options.device && ranks_between(ranks, 0, 6) > 1) return "what several ranks send with f on a device";
  return "";
}

}  // namespace quintet::kinetics
