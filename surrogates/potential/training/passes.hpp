#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/model/parameters.hpp"
#include "surrogates/potential/training/frame.hpp"
#include "surrogates/potential/training/prediction.hpp"

namespace quintet::potential {

/// One of `size` who divide the atoms of frames among them.
struct Sharer {
  int rank = 0, size = 1;
};

/// A sharer's atoms of a frame: what of them needs networks, and the energies that need none.
struct AtomShare {
  std::vector<std::vector<int>> atoms;  ///< [type] those with networks
  double energy = 0;                    ///< biases (eV)
};
/// Blocks of eight atoms of a type, a tile of the matrix products, in turn.
[[nodiscard]] AtomShare share_of(const TrainingFrame& frame, const Model& model, Sharer sharer);

/// Engine of a training's steps in one precision: our kernels on the cores, or LibTorch on a device.
///
///     passes->refresh(frames, parameters, changed);
///     passes->predict(some, sharer, predictions, true);     // as many as frames_at_once() says
///     passes->differentiate(adjoints, gradient);            // of the frames predicted last
///     passes->collect(gradient);                            // once all frames are done
///
/// The gradient is that of S = sum_frames ge E + Edot, which TypedTrainer explains.
template <class Real>
class Passes {
 public:
  virtual ~Passes() = default;
  /// Make ready for neighbours as near as `closest` (angstrom).
  virtual void cover(double closest) = 0;
  /// Take the parameters of now, where they have changed, and make ready for the frames.
  virtual void refresh(std::span<const TrainingFrame* const> frames, const Real* parameters,
                       bool changed) = 0;
  /// How many of the frames, the first ones, pass through the networks together.
  [[nodiscard]] virtual std::size_t frames_at_once(std::span<const TrainingFrame* const> frames) const = 0;
  /// Predictions of the frames by a sharer's atoms. @param is_differentiated whether differentiate() follows
  virtual void predict(std::span<const TrainingFrame* const> frames, Sharer sharer,
                       std::span<Prediction> predictions, bool is_differentiated) = 0;
  virtual void differentiate(std::span<const TrainingFrame* const> frames, std::span<const Adjoint> adjoints,
                             Real* gradient) = 0;
  /// Add to the gradient [n_parameters] what was gathered for all frames at once, and start anew.
  virtual void collect(Real* gradient) = 0;
  /// Atoms met with more neighbours than sel holds, since the last call.
  [[nodiscard]] virtual int take_overflowing() = 0;
  /// Save, or load, what a restart to the last bit needs beside the parameters. Collective.
  virtual void save(hdf5::Group& group) const = 0;
  virtual void load(hdf5::Group& group, const Model& now) = 0;
};

/// Those of our kernels, on a core.
template <class Real>
[[nodiscard]] std::unique_ptr<Passes<Real>> make_kernel_passes(const Model& start,
                                                               const ParameterLayout& places, SelRule rule);

}  // namespace quintet::potential
