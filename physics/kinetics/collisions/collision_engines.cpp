#include "physics/kinetics/collisions/collision_engines.hpp"

#include <array>

#include "io/log/error.hpp"

namespace quintet::kinetics {

namespace {

class HostCollisionEngines final : public CollisionEngines {
 public:
  HostCollisionEngines(const Decomposition& decomposition, const PhaseBasis& basis,
                       const std::vector<Species>& species)
      : decomposition_(decomposition), basis_(basis) {
    for (const auto& one : species) blocks_.push_back(decomposition.block(one.grid));
  }
  [[nodiscard]] std::unique_ptr<MomentSums> moment_sums(
      int s, const std::vector<FunctionalSum>& components) override {
    return std::make_unique<MomentSweep>(basis_, blocks_[s], components);
  }
  [[nodiscard]] std::unique_ptr<DragDiffusionSweep> drag_diffusion(int s, bool uniform_rate) override {
    return std::make_unique<LenardBernstein>(decomposition_, basis_, blocks_[s], uniform_rate);
  }
  [[nodiscard]] std::unique_ptr<RelaxationSweep> relaxation(int s, bool uniform_rate) override {
    return std::make_unique<Bgk>(basis_, blocks_[s], uniform_rate);
  }
  void combine(const Exec& exec, int, const Distribution& out, std::span<const Term> terms) override {
    switch (terms.size()) {
      case 0:
        return Kokkos::deep_copy(exec, out.data, 0.0);
      case 1:
        return combine<1>(exec, out, terms);
      case 2:
        return combine<2>(exec, out, terms);
      case 4:
        return combine<4>(exec, out, terms);
      default:
        throw InternalError("a combination of so many distributions is not made");
    }
  }

 private:
  template <int N>
  static void combine(const Exec& exec, const Distribution& out, std::span<const Term> terms) {
    std::array<double, N> factor;
    std::array<const double*, N> f;
    for (int i = 0; i < N; ++i) {
      factor[i] = terms[i].factor;
      f[i] = terms[i].f.data.data();
    }
    double* const to = out.data.data();
    Kokkos::parallel_for("kinetics::combine", Kokkos::RangePolicy<Exec>(exec, 0, out.data.size()),
                         [=](std::size_t k) {
                           double sum = 0;
                           for (int i = 0; i < N; ++i) sum += factor[i] * f[i][k];
                           to[k] = sum;
                         });
    exec.fence();
  }

  Decomposition decomposition_;
  const PhaseBasis basis_;
  std::vector<PhaseBlock> blocks_;
};

}  // namespace

std::unique_ptr<CollisionEngines> host_collision_engines(const Decomposition& decomposition,
                                                         const PhaseBasis& basis,
                                                         const std::vector<Species>& species) {
  return std::make_unique<HostCollisionEngines>(decomposition, basis, species);
}

}  // namespace quintet::kinetics
