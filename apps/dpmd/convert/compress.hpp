#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet::dpmd {

/// Words of `dpmd compress`: `file` by place, or --model.
struct CompressOptions {
  std::optional<std::string> file, model;
  std::string output;
  std::optional<double> least_distance;  ///< (angstrom)
  std::vector<std::string> data;
  double stride = 0.01, extrapolate = 5;
  bool overwrite = false;
};
void describe(Schema& schema, CompressOptions& options);
/// `dpmd compress MODEL.dp --output OUT.dp`: the model with DeePMD-kit's tables of its embedding networks,
/// for programs that need them (dpmd makes better ones by itself, but of se_e2_r). Collective; rank 0 works.
///
/// The least distance between atoms, which the range of the tables follows from, is that of the flag, else
/// that in the data given, else the one that the model remembers from its training.
void compress(const Comm& comm, const CompressOptions& options);

}  // namespace quintet::dpmd
