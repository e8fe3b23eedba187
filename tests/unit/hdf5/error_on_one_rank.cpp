#include <vector>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

/// error_on_one_rank FILE: the first rank alone has an error while all have a file open, and the others go on
/// to a message that never comes. The job must end, with the code of the error.
int main(int argc, char** argv) {
  using namespace quintet;
  const Runtime runtime(argc, argv, 1, {});
  const Comm& comm = runtime.comm();
  try {
    const std::vector<double> numbers{1, 2};
    auto file = hdf5::File::create(comm, argc > 1 ? argv[1] : "one_rank.h5");
    file.root().write<double>("x", numbers, {numbers.size()}, {"1", {"i"}, "numbers"});
    if (comm.is_root()) throw NumericalError("on this rank alone");
    static_cast<void>(comm.sum(1.0));
  } catch (const Error& error) {
    comm.abort(error.code());
  }
  return 0;
}
