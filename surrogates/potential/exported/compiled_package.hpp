#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "surrogates/potential/exported/exported_model.hpp"

namespace quintet::potential {

/// A package of AOTInductor (.pt2): a model's code for one kind of processor, and what it says of itself.
struct CompiledPackage {
  enum class Maker { nequip, deepmd };
  std::string path;
  Maker maker = Maker::nequip;
  ExportedFacts facts;  ///< whether NequIP's model passes messages is not known from the file
  std::vector<std::string> inputs, outputs;  ///< names in the order of the code; inputs: NequIP's alone
  /// [n_types, n_types] (angstrom) how far an atom of the first type sees one of the second; 0: not at all.
  std::vector<double> reach;
  std::vector<double> frame_parameters;  ///< that the code is to be given
  [[nodiscard]] bool reads(std::string_view input) const {
    return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
  }
};

/// Whether a zip archive is such a package: it has a member of AOTInductor.
[[nodiscard]] bool is_compiled_package(const std::vector<std::string>& members);

/// Read what a package says of itself. Errors: InputError for packages that are damaged, of an unknown maker,
/// for another device, system or processor, for models that need what dpmd does not give, and for frame
/// parameters that do not fit.
[[nodiscard]] CompiledPackage read_compiled_package(const std::string& path,
                                                    const std::vector<double>& frame_parameters);

/// The first of the instruction sets that AOTInductor names ("AVX512", "AVX2") that a processor with
/// `features` (as /proc/cpuinfo has them, between spaces) lacks. Names that are not known are not asked for.
[[nodiscard]] std::optional<std::string> missing_instructions(std::string_view named,
                                                              std::string_view features);

}  // namespace quintet::potential
