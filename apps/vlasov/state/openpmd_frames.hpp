#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "physics/kinetics/files/frames.hpp"

namespace quintet::vlasov {

/// Moments and fields of frames at points, order + 1 a cell and direction, by the openPMD standard:
/// `openpmd/data_STEP.h5` (io/hdf5/openpmd). Vectors and tensors are one mesh: E, B, SPECIES_velocity.
class OpenPmdFrames {
 public:
  /// @param restart_step present: files of later steps are removed. Collective.
  OpenPmdFrames(const Context& context, const Setup& setup, std::optional<std::int64_t> restart_step);
  /// Collective. Throws ResourceError.
  void write(const kinetics::Frame& frame, double dt) const;

 private:
  const Setup& setup_;
  std::string folder_;
};

}  // namespace quintet::vlasov
