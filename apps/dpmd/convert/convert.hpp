#pragma once

#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::dpmd {

/// Flags of `dpmd convert`, in the order in which convert() takes their values.
[[nodiscard]] std::vector<Application::Flag> convert_flags();
/// `dpmd convert IN OUT`: a model from .dp, .yaml or .json to .dp, .yaml or .json in the present version of
/// the format, in the same precision or another. Collective; rank 0 works.
void convert(const Comm& comm, const Application::Arguments& arguments);

/// Refuse a name for a new model before the work begins: a format that is not written (with the line of
/// DeePMD-kit that makes it), a folder that is not there, a file that is there unless `overwrite`.
void require_new_model(const std::string& path, bool overwrite);

}  // namespace quintet::dpmd
