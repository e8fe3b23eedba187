#pragma once

#include <string>

#include "surrogates/potential/model/model.hpp"

namespace quintet::bridges {

/// Read a model file of any kind that read_dp() knows, with HDF5 and MPI kept out of the host's sight: they
/// are loaded into a name space of their own (dlmopen), once, when the first .dp file is read. One at a time.
/// Throws InputError; ResourceError where the reader cannot be loaded.
[[nodiscard]] potential::Model load_model(const std::string& path);

}  // namespace quintet::bridges
