#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/ranges.h>

#include "io/hdf5/checksum.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/files/distribution_io.hpp"
#include "physics/kinetics/files/frames.hpp"
#include "physics/kinetics/files/whole_frames.hpp"

namespace quintet::kinetics {

namespace {

/// Run `action`; its InputErrors begin with the name of the file.
void in_file(const std::string& path, const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.starts_with(path) ? message : path + ": " + message);
  }
}

std::string listed(const hdf5::Group& root, const std::string& group) {
  return root.has(group) ? fmt::format("{}", fmt::join(root.open_group(group).names(), ", ")) : "none";
}

void check_text(const hdf5::Group& group, const std::string& name, const char* what,
                const std::string& expected) {
  const auto found =
      group.has_member_attribute(name, what) ? group.member_text_attribute(name, what) : std::string("none");
  QUINTET_CHECK(found == expected, "'{}' has another {} than this run: the file has {}, the run {}", name,
                what, found, expected);
}

}  // namespace

FrameReader::FrameReader(const Comm& comm, const std::string& path, std::int64_t frame)
    : file_(hdf5::open_verified(comm, path)), path_(path) {
  const auto& root = file_.root();
  QUINTET_CHECK(
      root.has("frames") && root.open_group("frames").has("step") && root.open_group("frames").has("time"),
      "{}: has no frames: expected a run.h5 of vlasov", path);
  const auto [steps, times] = whole_frames(root);
  const std::int64_t n = steps.size();
  frame_ = frame < 0 ? n + frame : frame;
  QUINTET_CHECK(frame_ >= 0 && frame_ < n, "{}: has no frame {}: it holds {} (0 to {}; -1 is the last)", path,
                frame, n, n - 1);
  step_ = steps[frame_];
  time_ = times[frame_];
  hdf5::require_unaltered_frame(file_, "frames/frame_checksum", {static_cast<std::uint64_t>(frame_)},
                                hdf5::most_compared);
}

void FrameReader::read(const std::string& species, const Decomposition& decomposition,
                       const PhaseBasis& basis, const Distribution& f) const {
  const auto& root = file_.root();
  QUINTET_CHECK(root.has("species/" + species), "{}: has no species '{}'; it has {}", path_, species,
                listed(root, "species"));
  const auto name = fmt::format("species/{}/f/frame_{}", species, frame_);
  QUINTET_CHECK(root.has(name),
                "{}: frame {} holds no f of '{}'; the run that wrote it kept moments and fields only", path_,
                frame_, species);
  in_file(path_, [&] { kinetics::read(root, name, decomposition, basis, f); });
}

void FrameReader::read(const std::string& field, const Decomposition& decomposition, const PhaseGrid& grid,
                       const PhaseBasis& basis, const ConfField& values) const {
  const auto& root = file_.root();
  QUINTET_CHECK(root.has("coefficients") && root.open_group("coefficients").has(field),
                "{}: has no field '{}'; it has {}", path_, field, listed(root, "coefficients"));
  in_file(path_, [&] {
    const auto group = root.open_group("coefficients");
    check_text(group, field, "basis", basis_text(basis));
    check_text(group, field, "grid", grid_text(grid, grid.cdim));
    const auto shape = group.shape(field);
    const std::size_t cell = values.extent(1) * values.extent(2);
    hdf5::Shape expected;
    for (int d = 0; d < grid.cdim; ++d) expected.push_back(grid.cells[d]);
    expected.insert(expected.end(), {values.extent(1), values.extent(2)});
    QUINTET_CHECK(shape.size() == expected.size() + 1 &&
                      std::equal(expected.begin(), expected.end(), shape.begin() + 1),
                  "'{}' has frames of shape [{}], this run needs [{}]", field,
                  fmt::join(shape.begin() + (shape.empty() ? 0 : 1), shape.end(), ", "),
                  fmt::join(expected, ", "));
    const auto whole = group.read_rows<double>(field, static_cast<std::uint64_t>(frame_), 1);
    const auto bad =
        std::find_if(whole.begin(), whole.end(), [](double value) { return !std::isfinite(value); });
    QUINTET_CHECK(bad == whole.end(), "'{}' is not finite in cell {} of frame {}; use an earlier one", field,
                  (bad - whole.begin()) / cell, frame_);
    const auto block = decomposition.block(grid);
    for (int conf = 0; conf < block.n_conf(); ++conf) {
      const auto index = block.conf_index(conf);
      std::size_t number = 0;
      for (int d = 0; d < grid.cdim; ++d) number = number * grid.cells[d] + block.begin[d] + index[d];
      std::copy_n(whole.begin() + number * cell, cell, values.data() + std::int64_t{conf} * cell);
    }
  });
}

}  // namespace quintet::kinetics
