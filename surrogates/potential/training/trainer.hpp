#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/device/device.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/training/frame.hpp"
#include "surrogates/training/flat_parameters.hpp"
#include "surrogates/training/schedule/weight_average.hpp"

namespace quintet::potential {

/// Prefactors of the loss of a batch of n frames of N atoms,
///
///     L = 1/n sum_frames [ p_e dE^2/N + p_f |dF|^2/(3N) + p_v |dV|^2/(9N) ],
///
/// dE, dF, dV: model minus label; a label that is missing, or a prefactor 0, leaves its term out. A term with
/// a Huber width delta is instead p times the mean over its numbers of h(dE/N), h(dF), h(dV/N) (components),
///
///     h(x) = x^2/2 for |x| <= delta, else delta (|x| - delta/2).
///
/// Sources: DeePMD-kit's energy loss ("mse", "use_huber"); Huber 1964 (Ann. Math. Stat. 35).
struct LossPrefactors {
  double energy = 0, force = 0, virial = 0;
  bool intensive = false;  ///< energy and virial terms divided by N^2 instead of N
  /// Widths (eV an atom, eV/angstrom, eV an atom); 0: squares.
  double energy_huber = 0, force_huber = 0, virial_huber = 0;
};

/// Sums over frames, from which means and root mean squares follow; add up over batches and ranks.
struct Deviations {
  std::int64_t frames = 0, with_energy = 0, with_force = 0, with_virial = 0;  ///< frames
  double loss = 0;                                                            ///< sum of the frames' losses
  double energy = 0;                                                          ///< sum (dE/N)^2 (eV^2)
  double force = 0;              ///< sum over frames of |dF|^2/(3N) (eV^2/angstrom^2)
  double virial = 0;             ///< sum over frames of |dV/N|^2/9 (eV^2)
  std::int64_t overflowing = 0;  ///< atoms with more neighbours than sel holds
  Deviations& operator+=(const Deviations& other);
  [[nodiscard]] double rmse_energy() const;  ///< an atom (eV); 0 without labels
  [[nodiscard]] double rmse_force() const;   ///< a component (eV/angstrom)
  [[nodiscard]] double rmse_virial() const;  ///< a component, an atom (eV)
};
/// Sum over ranks. Collective.
[[nodiscard]] Deviations sum(const Comm& comm, Deviations part);

/// How ranks divide a batch.
enum class Sharing {
  frames,  ///< each is given frames of its own: nothing is sent before the gradient is summed
  atoms,   ///< all are given the same frames and take part of the atoms: forces are summed frame by frame
};

/// Support of this trainer for section `parallel`.
inline constexpr TrainerTraits trainer_traits{
    .no_stage_3 =
        "gives weights back while others compute, but a frame's forces pass through all networks, "
        "whose kernels keep their own copy: it would save nothing",
    .one_unit =
        "a frame's gradient reaches all networks, which are one unit here: nothing travels in parts or "
        "beside their blocks; leave it out"};

/// Where a training's steps are computed.
struct TrainingDevice {
  DeviceSession session{};                        ///< not the cpu: by LibTorch there
  std::size_t kept_bytes = std::size_t{4} << 30;  ///< of frames that stay there between steps, at most
};

/// A model in training: parameters, their gradient and Adam's moments, in the model's precision
/// (FlatParameters), in the memory of the device where there is one.
///
///     trainer->gradient(frames, prefactors, batch_size);  // adds to this rank's gradient, any number of
///     times trainer->update(learning_rate);                     // sums over ranks; the gradient is 0 again
///
/// Gradients of energies, forces and virials, on the cpu by hand-written passes: values, adjoint (forces),
/// tangent along dL/dF, adjoint of the tangent; no graph, no padding, G(s) through its samples on a few
/// intervals. On a device by LibTorch's operators, to round-off the same.
class Trainer {
 public:
  virtual ~Trainer() = default;
  /// @param start weights, statistics, biases, sel...; its precision is the training's. The same on all
  /// ranks.
  /// @param comm ranks that share the batches' frames out. Collective.
  /// @param parallel,offload who holds the arrays, and where; stages 0 to 2: the kernels keep all weights in
  /// a layout of their own, and a frame's gradient reaches all networks. Throws what FlatParameters throws.
  /// @param device of the steps, where values, gradients and moments are, too, up to stage 1 and without
  /// offload (FlatParameters).
  [[nodiscard]] static std::unique_ptr<Trainer> create(const Model& start, SelRule rule,
                                                       const OptimiserOptions& adam = {},
                                                       const Comm& comm = Comm::self(),
                                                       const ParallelOptions& parallel = {},
                                                       const OffloadOptions& offload = {},
                                                       const TrainingDevice& device = {});

  [[nodiscard]] virtual std::size_t n_parameters() const = 0;
  /// Make ready for neighbours as near as `closest` (angstrom). Without it each new least distance of a frame
  /// costs a new choice of intervals, and ranks with other frames choose differently (a difference of
  /// round-off).
  virtual void cover(double closest) = 0;
  /// Add the gradient of 1/batch_size sum over `frames` of their losses.
  /// @param batch_size frames of the whole batch, all ranks together. @param sharing what the ranks share
  /// out.
  virtual Deviations gradient(std::span<const TrainingFrame* const> frames, const LossPrefactors& prefactors,
                              int batch_size, Sharing sharing = Sharing::frames) = 0;
  /// Deviations without gradient (validation).
  virtual Deviations evaluate(std::span<const TrainingFrame* const> frames,
                              const LossPrefactors& prefactors) = 0;
  /// The same of other parameters: the training goes on as if nothing had been looked at.
  virtual Deviations evaluate_at(std::span<const double> parameters,
                                 std::span<const TrainingFrame* const> frames,
                                 const LossPrefactors& prefactors) = 0;
  /// One step of Adam with the sum of all ranks' gradients; clears them. Collective. Throws NumericalError on
  /// all ranks, with the parameters of before, where the sum is not finite.
  virtual void update(double learning_rate) = 0;
  /// Delayed updates (OffloadOptions): begin to apply the gradient that waits while others are formed with
  /// the parameters of before; update() ends it, or settle() without an update. Else nothing happens.
  virtual void begin_update() = 0;
  virtual void settle() = 0;
  /// The model with the weights of now.
  [[nodiscard]] virtual Model model() const = 0;
  [[nodiscard]] virtual FlatAccount account() const = 0;
  /// All ranks' gradient as float64, in the order of parameters() (tests; stages 0 and 1). Collective.
  [[nodiscard]] virtual std::vector<double> gradient_values() = 0;
  [[nodiscard]] virtual std::vector<double> parameters() const = 0;
  /// Add the parameters of now to their mean.
  virtual void add_to(WeightAverage& average) const = 0;
  virtual void set_parameters(std::span<const double> values) = 0;  ///< collective

  /// Parameters, Adam's moments, a gradient that waits and the step's number, bit for bit; they go on at any
  /// stage and place. Collective.
  virtual void save(hdf5::Group& group) const = 0;
  virtual void load(hdf5::Group& group) = 0;
};

}  // namespace quintet::potential
