#pragma once

#include <memory>
#include <vector>

#include "physics/kinetics/advection/positivity.hpp"
#include "physics/kinetics/advection/vlasov_operator.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"
#include "physics/kinetics/space/velocity_edge.hpp"

namespace quintet::kinetics {

/// Options of a DeviceVlasov for a basis and a block; see VlasovOperator::make.
[[nodiscard]] DeviceVlasovOptions device_vlasov_options(const PhaseBasis& basis, const PhaseBlock& block,
                                                        Flux flux,
                                                        const std::array<std::array<bool, 2>, 6>& is_open);

/// VlasovOperator whose distributions are resident on a device.
///
/// The Distributions that it is called with are names of the device's: those of hold(), in this order. Their
/// host memory, where they have any, is only read and written by upload() and download(). So are traces:
/// those at walls, and those between ranks where MPI reads the device's memory. Moments and what leaves
/// through walls come to the host.
class ResidentOperator final : public VlasovOperator {
 public:
  ResidentOperator(const PhaseBlock& block, Flux flux, const std::array<std::array<bool, 2>, 6>& is_open,
                   std::unique_ptr<DeviceVlasov> device);

  /// Make `f` name the next buffer of the device.
  void hold(const Distribution& f);
  /// out += factor f.
  void add(const Exec& exec, double factor, const Distribution& f, const Distribution& out);
  /// Limit f as positivity.limit() does, in the memory that holds it.
  [[nodiscard]] Limited limit(const Exec& exec, const Positivity& positivity, const Distribution& f);
  [[nodiscard]] DeviceVlasov& device() const { return *device_; }
  /// The number of what f names.
  [[nodiscard]] int buffer(const Distribution& f) const;
  /// M0 and M1 of f to `moments`, as sum_moments(), begun: they are there after finish_moments(), which waits
  /// for them alone.
  void start_moments(const Exec& exec, const Distribution& f, const StageMoments& moments);
  void finish_moments();
  /// M0, M1 and M2, [n_conf, 2 + vdim, n_conf_modes].
  void sum_three_moments(const Exec& exec, const Distribution& f, const ConfField& moments) const;
  /// Summary of f for observers, over this rank's cells: as phase_integrals(), Positivity::negative_part()
  /// and velocity_end_sums() of f on the host.
  struct Summary {
    double l2 = 0, least_mean = 0, greatest_mean = 0, negative = 0;
    std::vector<VelocityEndSums> at_ends;  ///< [n_conf]
  };
  [[nodiscard]] Summary summarise(const Exec& exec, const Positivity& positivity,
                                  const Distribution& f) const;
  void upload(const Distribution& f);
  void download(const Distribution& f) const;

  void apply(const Exec& exec, const Stage& stage, const Distribution& f, const Distribution& f0,
             const ConfField& acceleration, const Distribution& out, const StageMoments& moments) override;
  void add_exterior(const Exec& exec, const Stage& stage, const FaceTraces& exterior,
                    const ConfField& acceleration, const Distribution& out,
                    const StageMoments& moments) override;
  void trace(const Exec& exec, const Distribution& f, int direction, int side,
             const Array<double>& out) const override;
  [[nodiscard]] std::size_t trace_size(int direction) const override;
  [[nodiscard]] Halo halo(int direction, int side) const override;
  void fence(const Exec& exec) const override;
  void mirror(const Exec& exec, int direction, const Array<double>& own, double share, bool add,
              const Array<double>& out) const override;
  void emit(const Exec& exec, const WallEmission& wall, const std::vector<double>& flux,
            const Array<double>& out) const override;
  [[nodiscard]] CountedOutflow outflow(const Exec& exec, Flux flux, int direction, int side,
                                       const Array<double>& inside,
                                       const Array<double>& outside) const override;
  [[nodiscard]] double frequency(const Exec& exec, const ConfField& acceleration) const override;
  void sum_moments(const Exec& exec, const Distribution& f, const StageMoments& moments) const override;

 private:
  std::unique_ptr<DeviceVlasov> device_;
  PhaseBlock block_;
  bool has_exterior_ = false;  ///< add_exterior() follows apply(), and sums moments for both
  int from_ = 0;               ///< what the last apply() advanced
  StageMoments started_;       ///< where what start_moments() began belongs; empty: nothing
  std::vector<Array<double>> held_;
};

}  // namespace quintet::kinetics
