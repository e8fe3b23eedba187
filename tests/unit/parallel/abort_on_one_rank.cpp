#include "io/runtime/runtime.hpp"

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

/// The last rank gives up with exit code 3 while the others wait for it: all must end, with that code.
int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  const auto& comm = runtime.comm();
  if (comm.rank() == comm.size() - 1) comm.abort(quintet::ExitCode::numerical);
  comm.barrier();
}
