#include "io/fields/frame_checksums.hpp"

#include <span>
#include <type_traits>

#include "io/hdf5/checksum.hpp"
#include "io/hdf5/seal.hpp"
#include "io/parallel/together.hpp"

namespace quintet::field_layout {
namespace {

/// Places of a rank's values in their frame: runs of values that follow one another, in order.
template <class Real>
std::uint64_t part_of_stored(const FieldSeriesHeader& header, const FieldDataset& dataset,
                             const std::vector<Real>& values, const hdf5::Box& box) {
  const auto seed = hdf5::RowChecksum::seed(dataset.path());
  const auto shape = header.shape();
  const std::uint64_t width = dataset.fields.size(), row = box.count.back() * width;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; row > 0 && i < values.size() / row; ++i) {
    std::uint64_t index = 0, stride = shape.back(), rest = i;
    for (std::size_t d = shape.size() - 1; d-- > 0; rest /= box.count[d]) {
      index += (box.start[d] + rest % box.count[d]) * stride;
      stride *= shape[d];
    }
    sum += hdf5::RowChecksum::part<Real>(seed, std::span(values).subspan(i * row, row),
                                         (index + box.start.back()) * width);
  }
  return sum;
}

}  // namespace

void FrameChecksums::make(hdf5::Group& root, std::uint64_t n_times) const {
  if (!root.has(checksum_name)) {
    root.make_growing<std::uint64_t>(
        checksum_name, {header_.n_samples, 0}, 1, {1, 1024},
        {"1", {"sample", "time"}, "Checksum of the frame; 2^64 - 1: an earlier version wrote it."});
    std::vector<std::string> paths;
    for (const auto& dataset : datasets_of(header_)) paths.push_back(dataset.path());
    hdf5::set_covered(root, checksum_name, paths);
  }
  const std::uint64_t before = root.shape(checksum_name).back();
  if (n_times <= before) return;
  resize(root, n_times);
  const std::uint64_t n = comm_.is_root() ? header_.n_samples : 0, lacking = n_times - before;
  const std::vector<std::uint64_t> none(n * lacking, hdf5::no_checksum);
  root.write_box<std::uint64_t>(checksum_name, none, {{0, before}, {n, lacking}});
}

void FrameChecksums::resize(hdf5::Group& root, std::uint64_t n_times) const {
  root.resize(checksum_name, {header_.n_samples, n_times});
}

template <class Real>
std::uint64_t FrameChecksums::part(const FieldDataset& dataset, const std::vector<Real>& values,
                                   const hdf5::Box& box) const {
  if (header_.double_precision == std::is_same_v<Real, double>)
    return part_of_stored(header_, dataset, values, box);
  using Stored = std::conditional_t<std::is_same_v<Real, double>, float, double>;
  return part_of_stored(header_, dataset, std::vector<Stored>(values.begin(), values.end()), box);
}
template std::uint64_t FrameChecksums::part<float>(const FieldDataset&, const std::vector<float>&,
                                                   const hdf5::Box&) const;
template std::uint64_t FrameChecksums::part<double>(const FieldDataset&, const std::vector<double>&,
                                                    const hdf5::Box&) const;

void FrameChecksums::write(hdf5::Group& root, std::uint64_t sample, std::uint64_t frame,
                           std::uint64_t part) const {
  const std::uint64_t sum = comm_.sum(part), n = comm_.is_root() ? 1 : 0;
  root.write_box<std::uint64_t>(checksum_name, std::span<const std::uint64_t>(&sum, 1).first(n),
                                {{sample, frame}, {n, n}});
}

ComparedFrames::ComparedFrames(const Comm& comm, std::string path, std::string checksums)
    : comm_(comm),
      path_(std::move(path)),
      checksums_(std::move(checksums)),
      is_sealed_(hdf5::is_sealed(comm, path_)) {}

void ComparedFrames::require(std::uint64_t sample, std::uint64_t first, std::uint64_t n) {
  if (is_sealed_) return;
  together(comm_, [&] {
    if (!file_) file_ = hdf5::File::open(Comm::self(), path_);
    const auto& root = file_->root();
    const bool has_samples = root.has(checksums_) && root.shape(checksums_).size() == 2;
    for (std::uint64_t frame = first; frame < first + n; ++frame) {
      if (compared_.contains({sample, frame})) continue;
      hdf5::require_unaltered_frame(*file_, checksums_,
                                    {frame, has_samples ? std::optional(sample) : std::nullopt});
      compared_.emplace(sample, frame);
    }
  });
}

}  // namespace quintet::field_layout
