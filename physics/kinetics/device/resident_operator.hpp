#pragma once

#include <memory>
#include <vector>

#include "physics/kinetics/advection/positivity.hpp"
#include "physics/kinetics/advection/vlasov_operator.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"

namespace quintet::kinetics {

/// What a DeviceVlasov needs to know of a basis and a block; see VlasovOperator::make.
[[nodiscard]] DeviceVlasovOptions device_vlasov_options(const PhaseBasis& basis, const PhaseBlock& block,
                                                        Flux flux,
                                                        const std::array<std::array<bool, 2>, 6>& is_open);

/// VlasovOperator whose distributions are resident on a device.
///
/// The Distributions that it is called with are names of the device's: those of hold(), in this order. Their
/// host memory, where they have any, is only read and written by upload() and download(). Traces at walls and
/// moments come to the host, where walls are made by the same code for all operators; those between ranks do
/// so where MPI reads no memory of the device.
class ResidentOperator final : public VlasovOperator {
 public:
  ResidentOperator(const PhaseBasis& basis, const PhaseBlock& block, Flux flux,
                   const std::array<std::array<bool, 2>, 6>& is_open, std::unique_ptr<DeviceVlasov> device);

  /// From now on `f` names the next buffer of the device.
  void hold(const Distribution& f);
  /// out += factor f.
  void add(const Exec& exec, double factor, const Distribution& f, const Distribution& out);
  /// As positivity.limit(), where f is.
  [[nodiscard]] Limited limit(const Exec& exec, const Positivity& positivity, const Distribution& f);
  [[nodiscard]] DeviceVlasov& device() const { return *device_; }
  /// The number of what f names.
  [[nodiscard]] int buffer(const Distribution& f) const;
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
  /// Names of the device's memory where MPI reads it, else the host's.
  [[nodiscard]] Halo halo(int direction, int side) const override;
  void fence(const Exec& exec) const override;
  void mirror(const Exec& exec, int direction, const Array<double>& own,
              const Array<double>& out) const override;
  [[nodiscard]] Amount outflow(const Exec& exec, int direction, int side, const Array<double>& inside,
                               const Array<double>& outside) const override;
  [[nodiscard]] std::vector<double> particle_outflow(int direction, int side, const Array<double>& inside,
                                                     const Array<double>& outside) const override;
  [[nodiscard]] double frequency(const Exec& exec, const ConfField& acceleration) const override;
  void sum_moments(const Exec& exec, const Distribution& f, const StageMoments& moments) const override;

 private:
  std::unique_ptr<DeviceVlasov> device_;
  std::unique_ptr<VlasovOperator> edges_;  ///< for what happens at walls
  int dim_;
  bool has_exterior_ = false;  ///< add_exterior() follows apply(), and sums moments for both
  int from_ = 0;               ///< what the last apply() advanced
  std::vector<Array<double>> held_;
};

}  // namespace quintet::kinetics
