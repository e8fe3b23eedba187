#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "physics/transforms/frame_transform.hpp"

namespace quintet {

/// Where the frames of a signal lie: frame f begins at sample f hop, or is centred there, the signal being
/// mirrored at its ends (x_-j = x_j).
enum class FramePlaces { within, centred };

/// A signal's frames as its samples come, in memory of about two frames.
///
/// Frames are those of the whole signal, to the bit, however the samples are parted.
class FrameStream {
 public:
  /// Takes the numbers [size()] of the next frame.
  using Sink = std::function<void(std::span<const std::complex<double>>)>;
  /// Throws InputError if hop < 1.
  FrameStream(std::shared_ptr<FrameTransform> transform, int hop, FramePlaces places);

  void push(std::span<const double> samples, const Sink& sink);
  /// The frames that reach beyond the end of a signal that is centred. Throws InputError if it was too short
  /// to be mirrored. Nothing may be pushed afterwards.
  void finish(const Sink& sink);
  [[nodiscard]] const FrameTransform& transform() const { return *transform_; }

 private:
  void take_frames(const Sink& sink);

  std::shared_ptr<FrameTransform> transform_;
  std::size_t hop_, mirrored_;  ///< samples between frames; samples mirrored at either end
  bool begun_ = false;          ///< the first samples have been mirrored
  std::size_t next_ = 0;        ///< where in held_ the next frame begins; beyond its end: later
  std::vector<double> held_;    ///< the latest samples
  std::vector<std::complex<double>> out_;
};

}  // namespace quintet
