#pragma once

#include <string>
#include <vector>

#include "surrogates/potential/exported/compiled_package.hpp"
#include "surrogates/potential/exported/exported_model.hpp"

/// Entries of libquintet_exported.so: a new model, which the caller owns. They belong to the program that it
/// was built with: both know the same classes.
namespace quintet::potential {

extern "C" {
/// Errors: InputError for a file that is no model of a known kind, for operators that are missing, and for
/// parameters that do not fit.
[[nodiscard]] ExportedModel* quintet_open_exported_model(const std::string& path,
                                                         const std::vector<double>& frame_parameters,
                                                         int threads);
/// Errors: InputError for code that does not fit LibTorch or gives no energies and forces.
[[nodiscard]] ExportedModel* quintet_open_compiled_model(const CompiledPackage& package, int threads);
}

}  // namespace quintet::potential
