#include "bridges/density/density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/blas_threads.hpp"
#include "physics/electronic/density/density_errors.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/energy_weighted_density.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"
#include "physics/electronic/submatrix/frontier.hpp"
#include "physics/electronic/submatrix/local_basis.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::bridges {

using namespace electronic;

namespace {

constexpr int always_dense = 250;      // rows: below, S^-1/2 alone takes as long
constexpr int most_rows_dense = 5000;  // in place of submatrices that were refused: some 1 GB, half a minute
constexpr double asymmetry = 1e-8;     // of K and S, taken for noise

/// Submatrices are not what this K and S want.
struct DenseIsCheaper {};

/// While solvers are at work BLAS has one thread, and then as many again as the host wants: also where two
/// solvers of two threads begin and end in any order.
class OneBlasThread {
 public:
  OneBlasThread() {
    const std::lock_guard lock(gate());
    if (users()++ == 0) setting().emplace(1);
  }
  ~OneBlasThread() {
    const std::lock_guard lock(gate());
    if (--users() == 0) setting().reset();
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  static std::mutex& gate() {
    static std::mutex mutex;
    return mutex;
  }
  static int& users() {
    static int n = 0;
    return n;
  }
  static std::optional<BlasThreads>& setting() {
    static std::optional<BlasThreads> threads;
    return threads;
  }
};

/// A text of the method's with the setting of ours in the place of the input file's key.
std::string with_our_setting(std::string_view text) {
  constexpr std::string_view key = "method.dense: always";
  const auto at = text.find(key);
  return at == std::string::npos
             ? std::string(text)
             : fmt::format("{}\"dense\" 1{}", text.substr(0, at), text.substr(at + key.size()));
}

/// Throws InputError where P at temperature 0 is not that of the lowest `n_pairs` levels. Returns these.
FrontierLevels checked_levels(const Orthogonalised& basis, const SubmatrixResult& sign, double n_pairs) {
  constexpr double most_off = 0.1, least_gap = 0.005;
  const FrontierLevels levels = frontier_levels(basis.a, sign.p, sign.mu);
  const double n = levels.n_below >= 0 ? levels.n_below : sign.n_pairs;
  QUINTET_CHECK(std::abs(n - n_pairs) < most_off,
                "{:.6g} orbitals lie below mu = {:.6g} hartree, where {:.6g} are to be full: submatrices do "
                "not resolve the band that the number of electrons cuts into; give a temperature",
                n, sign.mu, n_pairs);
  QUINTET_CHECK(
      !(levels.lumo - levels.homo < least_gap),
      "the levels around mu, {:.6g} and {:.6g} hartree, are closer than {} hartree: submatrices do not "
      "resolve them; give a temperature, or let \"dense\" be 1",
      levels.homo, levels.lumo, least_gap);
  QUINTET_CHECK(
      sign.error.n_columns == 0 || sign.error.n_pairs < 0.5,
      "the submatrices miss about {:.2g} orbitals by estimate: take a smaller threshold, larger blocks or a "
      "temperature",
      sign.error.n_pairs);
  return levels;
}

/// Why a result should not be used as it is, or "".
std::string doubt_of(const SubmatrixResult& sign, const DensityErrors& errors) {
  constexpr double most_inside = 0.02, most_energy = 1e-4;  // of the orbitals; hartree a pair
  const double pairs = std::max(1.0, sign.n_pairs);
  if (sign.error.n_columns == 0) return {};
  if (sign.error.p_inside > most_inside * std::sqrt(pairs))
    return fmt::format(
        "{:.0f} % of the density matrix is wrong by estimate: take a smaller threshold or larger blocks",
        100 * sign.error.p_inside / std::sqrt(pairs));
  if (errors.energy > most_energy * pairs)
    return fmt::format(
        "the energy of one spin is off by {:.1e} hartree by estimate: take a smaller threshold or larger "
        "blocks",
        errors.energy);
  return {};
}

}  // namespace

Density::Density(Comm comm) : comm_(std::move(comm)) {
  static std::once_flag once;  // a library does not print
  std::call_once(once, [] { log::configure({.speaks = false, .quiet = true, .file = ""}); });
}

// Settings by name, so that the C interface grows without new functions; what a setting makes invalid (the
// plan, S^-1/2) is dropped.
void Density::set(const std::string& name, double value) {
  const auto whole = [&](double least, double most) {
    QUINTET_CHECK(value >= least && value <= most && value == std::round(value),
                  "{} = {}: expected a whole number from {} to {}", name, value, least, most);
    return value;
  };
  const auto least = [&](double minimum) {
    QUINTET_CHECK(std::isfinite(value) && value >= minimum, "{} = {}: expected {} or more", name, value,
                  minimum);
    return value;
  };
  if (name == "electrons") {
    settings_.electrons = least(0);
  } else if (name == "temperature") {
    settings_.temperature = least(0);
  } else if (name == "threshold") {
    QUINTET_CHECK(value >= 0 && value <= 1, "threshold = {}: expected 0 to 1 (hartree)", value);
    settings_.threshold = value;
  } else if (name == "spin_degeneracy") {
    settings_.spin_degeneracy = whole(1, 2);
  } else if (name == "rows_per_block") {
    settings_.rows_per_block = whole(1, 100000);
    plan_.reset();
  } else if (name == "dense") {
    settings_.dense = whole(-1, 1);
  } else if (name == "estimate_error") {
    settings_.estimate_error = whole(0, 1);
  } else {
    throw InputError(
        fmt::format("there is no setting '{}': expected electrons, temperature, threshold, "
                    "spin_degeneracy, rows_per_block, dense or estimate_error",
                    name));
  }
}

void Density::set_blocks(std::vector<int> rows) {
  for (const int n : rows) QUINTET_CHECK(n > 0, "a block has {} rows: expected 1 or more", n);
  block_rows_ = std::move(rows);
  plan_.reset();
}

void Density::set_pattern(int n_rows, int nnz, int n_columns, const int* row_ind, const int* col_ptr) {
  CscPattern pattern = csc_pattern(comm_, n_rows, nnz, n_columns, row_ind, col_ptr);
  const bool same = pattern_ && *pattern_ == pattern;
  pattern_ = std::move(pattern);
  energy_weighted_ = nullptr;
  numbers_.clear();
  if (comm_.any(!same)) plan_.reset();
}

void Density::check_settings() const {
  QUINTET_CHECK(pattern_, "the pattern of the matrices is not known: call quintet_density_set_csc first");
  // first: what one rank alone refuses would leave the others in the next collective call
  double of_ranks[] = {settings_.electrons,      settings_.temperature,
                       settings_.threshold,      settings_.spin_degeneracy,
                       settings_.dense,          settings_.rows_per_block,
                       settings_.estimate_error, static_cast<double>(block_rows_.size())};
  comm_.broadcast(std::span<double>(of_ranks));
  const bool same = of_ranks[0] == settings_.electrons && of_ranks[1] == settings_.temperature &&
                    of_ranks[2] == settings_.threshold && of_ranks[3] == settings_.spin_degeneracy &&
                    of_ranks[4] == settings_.dense && of_ranks[5] == settings_.rows_per_block &&
                    of_ranks[6] == settings_.estimate_error &&
                    of_ranks[7] == static_cast<double>(block_rows_.size());
  constexpr const char* differ = "the settings of the ranks differ";
  QUINTET_CHECK(!comm_.any(!same), "{}", differ);
  std::vector<int> blocks_of_ranks = block_rows_;
  comm_.broadcast(std::span<int>(blocks_of_ranks));
  QUINTET_CHECK(!comm_.any(blocks_of_ranks != block_rows_), "{}", differ);
  QUINTET_CHECK(settings_.electrons >= 0, "the number of electrons is not known: set \"electrons\"");
  const int n_rows = pattern_->n_rows;
  QUINTET_CHECK(n_pairs() <= n_rows, "{} electrons do not fit into {} orbitals of {} each",
                settings_.electrons, n_rows, settings_.spin_degeneracy);
  QUINTET_CHECK(
      settings_.temperature > 0 || std::abs(n_pairs() - std::round(n_pairs())) < 1e-9,
      "{} electrons fill {} orbitals, which is no whole number: give a temperature, or \"spin_degeneracy\" 1",
      settings_.electrons, n_pairs());
  if (!block_rows_.empty()) {
    const auto sum = std::accumulate(block_rows_.begin(), block_rows_.end(), std::int64_t{0});
    QUINTET_CHECK(sum == n_rows, "the blocks have {} rows in all, but the matrix has {}", sum, n_rows);
  }
}

BlockMatrix Density::assembled(const Plan& plan, const std::vector<Triplet>& elements,
                               const char* name) const {
  try {
    return assemble(comm_, plan.blocking, elements, plan.shares, asymmetry);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

void Density::make_plan(const std::vector<Triplet>& k_elements) {
  const int n_rows = pattern_->n_rows;
  const Blocking blocking = block_rows_.empty() ? graph_blocking(comm_, uniform_blocking(n_rows, 1),
                                                                 k_elements, settings_.rows_per_block)
                                                : blocking_of_sizes(n_rows, block_rows_);
  Plan plan{std::make_shared<const Blocking>(blocking), share_columns(comm_, blocking)};
  if (comm_.size() > 1) {
    SubmatrixOptions options;
    options.threshold = settings_.threshold;
    const BlockMatrix k = assembled(plan, k_elements, "ham");
    plan.shares = share_columns(comm_, blocking, predicted_costs(k, options));
  }
  plan_ = std::move(plan);
}

bool Density::make_root(const BlockMatrix& s) {
  const double threshold = settings_.threshold;
  if (root_ && root_->threshold == threshold && same_matrix(root_->s, s)) return true;
  root_.reset();
  try {
    root_ = Root{s, std::nullopt, inverse_sqrt(s, threshold), threshold};
  } catch (const IllConditioned&) {
    const BlockMatrix basis = local_basis(s);
    root_ = Root{s, basis, inverse_sqrt(in_local_basis(s, basis), threshold), threshold};
  }
  return false;
}

Density::Found Density::by_submatrices(const BlockMatrix& k_user, const BlockMatrix& s_user) {
  const double threshold = settings_.threshold, spins = settings_.spin_degeneracy;
  const bool kept = make_root(s_user);
  const auto local = root_->local;
  const BlockMatrix k = local ? in_local_basis(k_user, *local) : k_user,
                    s = local ? in_local_basis(s_user, *local) : s_user;
  const auto basis = std::make_shared<const Orthogonalised>(orthogonalise(k, root_->made, threshold));
  SubmatrixOptions options;
  options.threshold = threshold;
  options.n_pairs = settings_.temperature > 0 ? n_pairs() : std::round(n_pairs());
  options.temperature = settings_.temperature;
  options.estimate_error = settings_.estimate_error != 0;
  if (settings_.dense == 0) {
    constexpr double beside_kernels = 2;  // moments, edges of the spectrum, samples for the errors
    const auto costs = predicted_costs(basis->a, options);
    const double seconds = beside_kernels * std::accumulate(costs.begin(), costs.end(), 0.0) / comm_.size();
    if (comm_.any(dense_seconds(k.blocking->n_rows()) < seconds)) throw DenseIsCheaper();
  }
  const auto sign = std::make_shared<const SubmatrixResult>(evaluate_submatrices(basis->a, options));
  const DensityResult density = density_matrix(*sign, *basis, k, s, threshold);
  const DensityErrors errors = errors_of(*sign, density);
  numbers_ = {{"mu", sign->mu},
              {"electrons", spins * density.n_pairs},
              {"entropy", spins * sign->entropy},
              {"overlap_kept", kept ? 1 : 0},
              {"overlap_condition", basis->condition},
              {"dense", 0},
              {"submatrix_rows", sign->n_mean}};
  if (!local) numbers_["rest"] = spins * density.rest;
  const bool none_or_all = *options.n_pairs == 0 || *options.n_pairs == k.blocking->n_rows();
  if (settings_.temperature == 0 && !none_or_all) {
    const FrontierLevels levels = checked_levels(*basis, *sign, *options.n_pairs);
    numbers_["gap"] = levels.lumo - levels.homo;
    numbers_["mu"] = 0.5 * (levels.homo + levels.lumo);
  }
  if (sign->error.n_columns > 0) {
    numbers_["energy_error"] = spins * errors.energy;
    numbers_["electrons_error"] = spins * errors.n_pairs;
    if (errors.mu > 0) numbers_["mu_error"] = errors.mu;
    if (!local) numbers_["density_error"] = spins * errors.density;
  }
  warning_ = doubt_of(*sign, errors);
  const auto of_user = [local](BlockMatrix m) { return local ? in_local_basis(m, *local) : m; };
  const BlockMatrix pattern = density.d;
  return {of_user(density.d), [sign, basis, of_user, pattern, threshold] {
            return of_user(energy_weighted_density(*sign, *basis, pattern, threshold));
          }};
}

// D = sum over orbitals of f_i c_i c_i^T in the pattern of K and S: the whole matrix is diagonalised, and
// only the pattern leaves something out.
Density::Found Density::densely(const BlockMatrix& k, const BlockMatrix& s) {
  const double spins = settings_.spin_degeneracy;
  const auto orbitals = std::make_shared<const Orbitals>(orbitals_of(k, s));
  const Filling filling =
      fill(orbitals->level, std::nullopt, settings_.temperature > 0 ? n_pairs() : std::round(n_pairs()),
           settings_.temperature);
  const BlockMatrix pattern = add(0, k, 0, s);
  BlockMatrix d = sum_over_orbitals(*orbitals, filling.occupation, pattern);
  numbers_ = {{"mu", filling.mu},
              {"electrons", spins * filling.n_pairs},
              {"entropy", spins * filling.entropy},
              {"overlap_kept", 0},
              {"overlap_condition", orbitals->condition},
              {"dense", 1},
              {"rest", spins * norm_outside(*orbitals, filling.occupation, d)},
              {"electrons_error", 0},
              {"submatrix_rows", static_cast<double>(orbitals->level.size())}};
  numbers_["density_error"] = numbers_["rest"];
  std::vector<double> root, energies;
  for (std::size_t i = 0; i < orbitals->level.size(); ++i) {
    root.push_back(std::sqrt(filling.occupation[i]));
    energies.push_back(filling.occupation[i] * orbitals->level[i]);
  }
  numbers_["energy_error"] =
      spins * rounding_defect(*orbitals, root, k, orbitals->level) * std::sqrt(filling.n_pairs);
  if (settings_.temperature == 0 && std::isfinite(filling.lumo - filling.homo))
    numbers_["gap"] = filling.lumo - filling.homo;
  return {std::move(d),
          [orbitals, energies, pattern] { return sum_over_orbitals(*orbitals, energies, pattern); }};
}

Density::Found Density::by_any(const BlockMatrix& k, const BlockMatrix& s) {
  const int n_rows = k.blocking->n_rows();
  if (settings_.dense == 1 || (settings_.dense == 0 && n_rows <= always_dense)) return densely(k, s);
  std::string refused;
  const bool only = settings_.dense < 0 || n_rows > most_rows_dense;  // no other way
  try {
    Found found = by_submatrices(k, s);
    if (only || warning_.empty()) return found;
    refused = warning_;
  } catch (const DenseIsCheaper&) {
  } catch (const InputError& error) {
    refused = with_our_setting(error.what());
    if (only) throw InputError(refused);
  } catch (const NumericalError& error) {
    if (only || comm_.size() > 1) throw;
    refused = error.what();
  }
  Found found = densely(k, s);
  warning_ =
      refused.empty() ? "" : "the whole matrix was diagonalised, as submatrices were refused: " + refused;
  return found;
}

double Density::compute(const double* k, const double* s, double* dm) {
  const auto forget = [&] {
    numbers_.clear();
    warning_.clear();
    energy_weighted_ = nullptr;
  };
  forget();
  const OneBlasThread one;
  try {
    return compute_anew(k, s, dm);
  } catch (...) {
    forget();
    throw;
  }
}

double Density::compute_anew(const double* k, const double* s, double* dm) {
  check_settings();
  together(comm_, [&] { QUINTET_CHECK(dm != nullptr || pattern_->row.empty(), "dm is NULL"); });
  const auto k_elements = elements_of(comm_, *pattern_, k, "ham");
  std::vector<Triplet> s_elements;
  const bool unit = !comm_.any(s != nullptr);
  if (!unit) {
    s_elements = elements_of(comm_, *pattern_, s, "ovlp");
  } else {
    for (int c = pattern_->first[comm_.rank()]; c < pattern_->first[comm_.rank() + 1]; ++c)
      s_elements.push_back({c, c, 1.0});
  }
  if (!plan_) make_plan(k_elements);
  const BlockMatrix k_blocks = assembled(*plan_, k_elements, "ham"),
                    s_blocks = assembled(*plan_, s_elements, "ovlp");
  Found found = by_any(k_blocks, s_blocks);
  const double energy = settings_.spin_degeneracy * dot(found.d, k_blocks);
  QUINTET_CHECK(std::isfinite(energy), "Tr(D K) is {}", energy);
  put(found.d, *pattern_, settings_.spin_degeneracy, dm);
  energy_weighted_ = std::move(found.energy_weighted);
  numbers_["energy"] = energy;
  numbers_["free_energy"] = energy - settings_.temperature * numbers_["entropy"];
  numbers_["blocks"] = plan_->blocking->n_blocks();
  return energy;
}

void Density::energy_weighted(double* edm) const {
  QUINTET_CHECK(energy_weighted_, "there is no result yet: call quintet_density_dm_real_sparse first");
  together(comm_, [&] { QUINTET_CHECK(edm != nullptr || pattern_->row.empty(), "edm is NULL"); });
  put(energy_weighted_(), *pattern_, settings_.spin_degeneracy, edm);
}

double Density::number(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

}  // namespace quintet::bridges
