#include "apps/submatrix/inspect/inspect.hpp"

#include <cstdio>

#include "apps/submatrix/inspect/describe_matrix.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/together.hpp"

namespace quintet::submatrix {

std::vector<Application::Flag> inspect_flags() {
  return {{"FILE", "A matrix (MatrixMarket, CP2K, ELSI, NTPoly, HDF5), or a list of real-space images", true,
           ""}};
}

void inspect(const Comm& comm, const Application::Arguments& arguments) {
  on_root(comm, [&] { std::fputs(describe_matrix(arguments[0].front()).c_str(), stdout); });
}

}  // namespace quintet::submatrix
