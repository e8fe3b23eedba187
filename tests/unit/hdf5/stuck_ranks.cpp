#include <cstdio>
#include <thread>

#include "io/hdf5/detail.hpp"
#include "io/hdf5/stuck_ranks.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

/// stuck_ranks FILE: the last rank fails in a collective call of HDF5 from which the others never come back,
/// as on a full disk. The job must end by itself, with the code of a resource that is missing, after a last
/// word.
int main(int argc, char** argv) {
  using namespace quintet;
  const std::string path = argc > 1 ? argv[1] : "stuck.h5";
  const Runtime runtime(argc, argv, 1, {});
  const Comm& comm = runtime.comm();
  hdf5::before_stuck_ranks_end([](const std::string& message) {
    std::printf("last word: %s\n", message.c_str());
    std::fflush(stdout);
  });
  hdf5::detail::Context context(comm, path);
  context.writable = true;
  context.write_together([&] {
    if (comm.rank() == comm.size() - 1) throw ResourceError(path + ": cannot write");
    std::this_thread::sleep_for(std::chrono::seconds(100));
  });
  return 0;
}
