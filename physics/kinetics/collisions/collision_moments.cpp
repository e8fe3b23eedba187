#include "physics/kinetics/collisions/collision_moments.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/dense_lu.hpp"

namespace quintet::kinetics {

namespace {

using Term = std::array<Functional, 3>;

/// `functional` in direction d, int dv in the others.
Term along(int d, Functional functional) {
  Term term{Functional::v0, Functional::v0, Functional::v0};
  if (d >= 0) term[d] = functional;
  return term;
}

FunctionalSum over_directions(int vdim, Functional functional) {
  FunctionalSum sum;
  for (int d = 0; d < vdim; ++d) sum.push_back(along(d, functional));
  return sum;
}

bool lacks_square(const PhaseBasis& basis) { return basis.find_group({2}) < 0; }

}  // namespace

/// In the order M0, M1, M2; for drag F, then ends_v, or else E, P and the star spread.
std::vector<FunctionalSum> CollisionMoments::components(const PhaseBasis& basis, bool for_drag) {
  const int vdim = basis.vdim();
  std::vector<FunctionalSum> list{{along(-1, Functional::v0)}};
  for (int d = 0; d < vdim; ++d) list.push_back({along(d, Functional::v1)});
  list.push_back(over_directions(vdim, Functional::v2));
  if (!for_drag) return list;
  for (int d = 0; d < vdim; ++d) list.push_back({along(d, Functional::ends)});
  if (!lacks_square(basis)) {
    list.push_back(over_directions(vdim, Functional::ends_v));
    return list;
  }
  list.push_back(over_directions(vdim, Functional::star0));
  list.push_back(over_directions(vdim, Functional::star2));
  for (int d = 0; d < vdim; ++d) list.push_back({along(d, Functional::star1)});
  return list;
}

std::string describe_place(const PhaseBlock& block, int conf) {
  const auto index = block.conf_index(conf);
  std::vector<int> cell;
  std::vector<double> x;
  for (int d = 0; d < block.grid.cdim; ++d) {
    cell.push_back(block.begin[d] + index[d]);
    x.push_back(block.grid.centre(d, cell.back()));
  }
  return fmt::format("configuration cell ({}) at x = ({:.6g})", fmt::join(cell, ", "), fmt::join(x, ", "));
}

DragPlaces CollisionMoments::places(const PhaseBasis& basis) {
  const int vdim = basis.vdim();
  const bool star = lacks_square(basis);
  return {star, star ? 2 * vdim + 4 : 1, vdim + 2, star ? 2 * vdim + 3 : vdim + 1, 2 * vdim + 2};
}

CollisionMoments::CollisionMoments(const PhaseBasis& basis, const PhaseBlock& block, bool for_drag,
                                   std::unique_ptr<MomentSums> sums)
    : vdim_(basis.vdim()),
      places_(places(basis)),
      sweep_(std::move(sums)),
      sums_(make_view<ConfField>("collision moments", static_cast<std::size_t>(block.n_conf()),
                                 components(basis, for_drag).size(),
                                 static_cast<std::size_t>(basis.conf().size()))) {}

void CollisionMoments::compute(const Exec& exec, const Comm& velocity_comm, const Distribution& f,
                               bool read_here) {
  const bool shared = velocity_comm.size() > 1;
  sweep_->sum(exec, f, sums_);
  if (read_here || shared) sweep_->fetch(sums_);
  exec.fence();
  if (!shared) return;
  velocity_comm.reduce(std::span(sums_.data(), sums_.size()), Comm::Reduction::sum);
  sweep_->replace(sums_);
}

bool CollisionMoments::solve_cell(int conf, const ConfProducts& products, const MomentGain& gain,
                                  const DragDiffusion& coefficients) const {
  constexpr int most = 4 * 9;
  const int n = products.size(), size = (vdim_ + 1) * n;
  double matrix[most * most], right[most] = {};
  int pivot[most];
  std::fill(matrix, matrix + size * size, 0.0);
  const double* rate = &coefficients(conf, 0, 0);
  if (std::all_of(rate, rate + n, [](double a) { return a == 0; })) {
    std::fill_n(&coefficients(conf, 1, 0), size, 0.0);
    return true;
  }
  const auto block = [&](int row, int column) { return matrix + row * n * size + column * n; };
  for (int d = 0; d < vdim_; ++d) {
    products.add_matrix(density(conf), 1, block(d, d), size);
    products.add_matrix(&sums_(conf, places_.end + d, 0), -1, block(d, vdim_), size);
    products.add_matrix(&sums_(conf, places_.drag + d, 0), 1, block(vdim_, d), size);
    products.add_product(rate, momentum(conf, d), 1, right + d * n);
  }
  if (!places_.star) products.add_matrix(density(conf), vdim_, block(vdim_, vdim_), size);
  products.add_matrix(&sums_(conf, places_.spread, 0), places_.star ? 1 : -1, block(vdim_, vdim_), size);
  products.add_product(rate, &sums_(conf, places_.energy, 0), 1, right + vdim_ * n);
  for (int i = 0; i < size && gain.size() > 0; ++i) right[i] += gain(conf, i / n, i % n);
  if (!lu_factorise(matrix, pivot, size)) return false;
  lu_solve(matrix, pivot, right, size);
  for (int i = 0; i < size; ++i) coefficients(conf, 1 + i / n, i % n) = right[i];
  return density(conf)[0] > 0 && coefficients(conf, 1 + vdim_, 0) > 0;
}

void CollisionMoments::solve(const Exec& exec, const PhaseBlock& block, const ConfProducts& products,
                             const MomentGain& gain, const std::string& species,
                             const DragDiffusion& coefficients) const {
  int bad = std::numeric_limits<int>::max();
  Kokkos::parallel_reduce(
      "kinetics::primitive_moments", Kokkos::RangePolicy<Exec>(exec, 0, block.n_conf()),
      [&](int conf, int& first) {
        if (!solve_cell(conf, products, gain, coefficients)) first = std::min(first, conf);
      },
      Kokkos::Min<int>(bad));
  exec.fence();
  if (bad != std::numeric_limits<int>::max()) refuse(block, products, species, coefficients, bad);
}

void CollisionMoments::refuse(const PhaseBlock& block, const ConfProducts& products,
                              const std::string& species, const DragDiffusion& coefficients, int bad) const {
  sweep_->fetch(sums_);
  const double constant = products.constant();
  throw NumericalError(
      fmt::format("collisions of {}: density {:.6g} and vth^2 {:.6g} in {}: both must be positive (mean "
                  "values; refine the "
                  "velocity grid or shorten the step)",
                  species, density(bad)[0] * constant,
                  coefficients(bad, 1 + vdim_, 0) / coefficients(bad, 0, 0), describe_place(block, bad)));
}

}  // namespace quintet::kinetics
