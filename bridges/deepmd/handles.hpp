#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bridges/c/quintet.h"

/// The opaque things of DeePMD-kit's C functions, as they are here.

/// A host's neighbour list; the arrays are the host's.
struct DP_Nlist {
  int n_rows = 0;
  const int *atoms = nullptr, *n_neighbours = nullptr;
  const int* const* neighbours = nullptr;
  int mask = ~0;
};

namespace quintet::bridges {

/// One model (DP_DeepPot) or several (DP_DeepPotModelDevi), and what to say when asked whether all is well.
struct DeepmdHandle {
  ~DeepmdHandle() { quintet_potential_close(potential); }
  /// Say on standard error what is wrong, the first time, for a host that does not ask, as CP2K.
  void say_error_once();
  quintet_potential* potential = nullptr;
  std::string error;
  std::uint64_t list_signature = 0;  ///< of the list that was taken last
  bool has_list = false, list_checked = false, warned = false, has_said_error = false;
};

/// The file that is read where a host names `path`: itself, or the .dp beside a model of another format if it
/// is not older. Sets `error` where there is none.
[[nodiscard]] std::string model_file(const std::string& path, std::string& error);
/// Open the n models of `paths`; what fails is said when the handle is asked.
[[nodiscard]] DeepmdHandle* open_models(const char* const* paths, int n);
/// A copy that the host gives back by DP_DeleteChar.
[[nodiscard]] char* copy_of(const std::string& text);

}  // namespace quintet::bridges
