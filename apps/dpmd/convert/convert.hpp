#pragma once

#include <optional>
#include <string>

#include "io/config/schema_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet::dpmd {

/// Precision of the weights that are written.
enum class ModelPrecision { model, fp64, fp32 };

/// Words of `dpmd convert`: `in` and `out` by place; with --model the first is the file to write.
struct ConvertOptions {
  std::string in;
  std::optional<std::string> out, model;
  ModelPrecision precision = ModelPrecision::model;
  bool overwrite = false;
};
void describe(Schema& schema, ConvertOptions& options);
/// `dpmd convert IN OUT`: a model from .dp, .yaml or .json to .dp, .yaml or .json in the present version of
/// the format, in the same precision or another. Collective; rank 0 works.
void convert(const Comm& comm, const ConvertOptions& options);

/// Refuse a name for a new model before the work begins: a format that is not written (with the line of
/// DeePMD-kit that makes it), a folder that is not there, a file that is there unless `overwrite`.
void require_new_model(const std::string& path, bool overwrite);

}  // namespace quintet::dpmd
