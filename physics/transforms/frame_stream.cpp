#include "physics/transforms/frame_stream.hpp"

#include <algorithm>

#include "io/log/error.hpp"

namespace quintet {

FrameStream::FrameStream(std::shared_ptr<FrameTransform> transform, int hop, FramePlaces places)
    : transform_(std::move(transform)),
      hop_(hop),
      mirrored_(places == FramePlaces::centred ? static_cast<std::size_t>(transform_->width() / 2) : 0),
      begun_(mirrored_ == 0) {
  QUINTET_CHECK(hop >= 1, "{} samples between frames; expected 1 or more", hop);
}

void FrameStream::push(std::span<const double> samples, const Sink& sink) {
  const std::size_t width = transform_->width();
  while (!samples.empty()) {  // long signals in pieces
    const auto piece = samples.first(std::min(samples.size(), std::max(width, 16 * hop_)));
    samples = samples.subspan(piece.size());
    held_.insert(held_.end(), piece.begin(), piece.end());
    if (!begun_ && held_.size() > mirrored_) {
      const std::vector<double> mirror(held_.begin() + 1, held_.begin() + mirrored_ + 1);
      held_.insert(held_.begin(), mirror.rbegin(), mirror.rend());
      begun_ = true;
    }
    if (begun_) take_frames(sink);
  }
}

void FrameStream::finish(const Sink& sink) {
  if (mirrored_ == 0) return;
  QUINTET_CHECK(begun_, "a series of {} samples is too short for frames of {}: expected more than {}",
                held_.size(), transform_->width(), mirrored_);
  std::vector<double> mirror;
  for (std::size_t j = 1; j <= mirrored_; ++j) mirror.push_back(held_[held_.size() - 1 - j]);
  held_.insert(held_.end(), mirror.begin(), mirror.end());
  take_frames(sink);
}

void FrameStream::take_frames(const Sink& sink) {
  const std::size_t width = transform_->width(), size = transform_->size();
  if (held_.size() >= next_ + width) {
    const std::size_t n = (held_.size() - next_ - width) / hop_ + 1;
    out_.resize(n * size);
    transform_->transform(held_.data() + next_, hop_, n, out_.data());
    for (std::size_t f = 0; f < n; ++f)
      sink(std::span<const std::complex<double>>(out_).subspan(f * size, size));
    next_ += n * hop_;
  }
  // What no frame needs, nor the mirror at the end.
  const std::size_t keep = mirrored_ + 1;
  const std::size_t gone = std::min(next_, held_.size() - std::min(held_.size(), keep));
  held_.erase(held_.begin(), held_.begin() + gone);
  next_ -= gone;
}

}  // namespace quintet
