#include "physics/kinetics/moments/moment_sweep.hpp"

#include <algorithm>

#include "io/log/error.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;
using Value = Pack<double>;

/// sum[a] += sum over packs of weight * f[a], a < N.
template <int N>
void add_row(const double* f, int stride, const double* weight, int first, int last, Value* sum) {
  Value s[N];
  for (int a = 0; a < N; ++a) s[a] = sum[a];
  for (int p = first; p < last; ++p) {
    const Value w = load(weight + p * lanes);
    for (int a = 0; a < N; ++a) s[a] += w * load(f + p * stride + a * lanes);
  }
  for (int a = 0; a < N; ++a) sum[a] = s[a];
}

void add_row(int n, const double* f, int stride, const double* weight, int first, int last, Value* sum) {
  switch (n) {
    case 2:
      return add_row<2>(f, stride, weight, first, last, sum);
    case 3:
      return add_row<3>(f, stride, weight, first, last, sum);
    case 4:
      return add_row<4>(f, stride, weight, first, last, sum);
    case 8:
      return add_row<8>(f, stride, weight, first, last, sum);
    default:
      for (int a = 0; a < n; ++a) add_row<1>(f + a * lanes, stride, weight, first, last, sum + a);
  }
}

}  // namespace

MomentSweep::MomentSweep(const PhaseBasis& basis, const PhaseBlock& block,
                         const std::vector<FunctionalSum>& components)
    : vdim_(basis.vdim()), n_conf_modes_(basis.conf().size()), n_components_(components.size()) {
  n_degrees_ = 1;
  for (int g = 0; g < basis.n_groups(); ++g) n_degrees_ = std::max(n_degrees_, basis.group(g)[0] + 1);
  for (int c = 0; c < n_components_; ++c)
    for (const auto& term : components[c]) add_term(basis, block, term, c);
  if (components.size() > max_components || row_sums_.size() > max_row_sums || uses_.size() > max_uses)
    throw InternalError(fmt::format("{} moments need {} row sums and {} uses, more than the sweep holds",
                                    components.size(), row_sums_.size(), uses_.size()));
}

const double* MomentSweep::weights(const PhaseBlock& block, Functional functional, int d, int degree) {
  const auto found = std::find_if(tables_.begin(), tables_.end(), [&](const auto& table) {
    return table->functional == functional && table->d == d;
  });
  const Table* table = found == tables_.end() ? nullptr : found->get();
  if (table == nullptr) {
    const auto values = velocity_weights(functional, block, d, n_degrees_);
    tables_.push_back(std::make_unique<Table>(Table{functional, d, {values.begin(), values.end()}}));
    table = tables_.back().get();
  }
  return table->values.data() + degree * (table->values.size() / n_degrees_);
}

int MomentSweep::row_sum(const PhaseBasis& basis, const PhaseBlock& block, const RowSum& wanted) {
  const auto found = std::find(row_sums_.begin(), row_sums_.end(), wanted);
  if (found != row_sums_.end()) return found - row_sums_.begin();
  const int number = row_sums_.size();
  row_sums_.push_back(wanted);
  const int last = vdim_ - 1;
  for (int k = 0; k < n_degrees_; ++k) {
    MultiIndex degrees = wanted.degrees;
    degrees[last] = k;
    const int g = basis.find_group(degrees);
    if (g < 0) continue;
    Part part{basis.offset(g), basis.n_conf(g), number, weights(block, wanted.last, last, k), 0,
              block.n_packs()};
    const auto zero = [&](int p) {
      return std::all_of(part.weight + p * lanes, part.weight + (p + 1) * lanes,
                         [](double w) { return w == 0; });
    };
    while (part.first_pack < part.last_pack && zero(part.first_pack)) ++part.first_pack;
    while (part.first_pack < part.last_pack && zero(part.last_pack - 1)) --part.last_pack;
    // The ends of the box: only the first and the last pack count, the pass between them would add zeros.
    const bool hollow = part.last_pack - part.first_pack > 2 && zero(part.first_pack + 1);
    if (hollow) {
      Part front = part;
      front.last_pack = part.first_pack + 1;
      parts_.push_back(front);
      part.first_pack = part.last_pack - 1;
    }
    if (part.first_pack < part.last_pack) parts_.push_back(part);
  }
  return number;
}

void MomentSweep::add_term(const PhaseBasis& basis, const PhaseBlock& block,
                           const std::array<Functional, 3>& term, int component) {
  // All degrees in the directions before the last that the basis has.
  int n_all = 1;
  for (int d = 0; d < vdim_ - 1; ++d) n_all *= n_degrees_;
  for (int number = 0; number < n_all; ++number) {
    RowSum wanted{{}, term[vdim_ - 1]};
    Use use{0, component, {}};
    bool any = true;
    for (int d = 0, rest = number; d < vdim_ - 1; ++d, rest /= n_degrees_) {
      wanted.degrees[d] = rest % n_degrees_;
      use.weight[d] = weights(block, term[d], d, wanted.degrees[d]);
      any = any && std::any_of(use.weight[d], use.weight[d] + block.extent[block.grid.cdim + d],
                               [](double w) { return w != 0; });
    }
    if (!any || basis.find_group(wanted.degrees) < 0) continue;
    use.row_sum = row_sum(basis, block, wanted);
    uses_.push_back(use);
  }
}

bool MomentSweep::row_factors(const PhaseBlock& block, int row, double* factors) const {
  const auto index = block.row_index(row);
  bool any = false;
  for (std::size_t u = 0; u < uses_.size(); ++u) {
    factors[u] = 1;
    for (int d = 0; d < vdim_ - 1; ++d) factors[u] *= uses_[u].weight[d][index[d]];
    any = any || factors[u] != 0;
  }
  return any;
}

void MomentSweep::run_cell(const Distribution& f, const ConfField& out, int first, int conf) const {
  const int n = n_conf_modes_, stride = f.n_modes * lanes;
  Value total[max_components * max_conf_modes]{}, sums[max_row_sums * max_conf_modes];
  double factors[max_uses];
  for (int row = 0; row < f.block.n_rows(); ++row) {
    if (!row_factors(f.block, row, factors)) continue;
    std::fill(sums, sums + row_sums_.size() * n, Value{});
    const double* cells = f.pack(conf, row, 0);
    for (const auto& part : parts_)
      add_row(part.n_conf, cells + part.offset * lanes, stride, part.weight, part.first_pack, part.last_pack,
              sums + part.row_sum * n);
    for (std::size_t u = 0; u < uses_.size(); ++u) {
      if (factors[u] == 0) continue;
      for (int a = 0; a < n; ++a)
        total[uses_[u].component * n + a] += factors[u] * sums[uses_[u].row_sum * n + a];
    }
  }
  for (int c = 0; c < n_components_; ++c)
    for (int a = 0; a < n; ++a) out(conf, first + c, a) = horizontal_sum<double>(total[c * n + a]);
}

void MomentSweep::run(const Exec& exec, const Distribution& f, const ConfField& out, int first) const {
  Kokkos::parallel_for("kinetics::moments", Kokkos::RangePolicy<Exec>(exec, 0, f.block.n_conf()),
                       [this, &f, &out, first](int conf) { run_cell(f, out, first, conf); });
}

}  // namespace quintet::kinetics
