#include <csignal>
#include <cstdlib>
#include <iostream>
#include <span>
#include <vector>

#include <sys/resource.h>

#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

/// checkpoint_writer FOLDER [BYTES]: go on from the newest checkpoint and write one a step until killed; with
/// BYTES no file may grow beyond them, as if the disk were full. Exits with the code of the error.
int main(int argc, char** argv) {
  using namespace quintet;
  if (argc < 2) return 1;
  if (argc > 2) {
    const rlimit limit{std::strtoull(argv[2], nullptr, 10), RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  const hdf5::CheckpointStore store(Comm::self(), argv[1], 2);
  try {
    const auto newest = store.newest();
    std::int64_t step = newest ? hdf5::checkpoint_step(hdf5::File::open(Comm::self(), *newest)) : 0;
    while (true) {
      ++step;
      store.write(step, hdf5::current_provenance(), [&](hdf5::Group& root) {
        const std::vector<std::int64_t> values(200'000, step);
        root.write("x", std::span<const std::int64_t>(values), {values.size()}, {});
      });
    }
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.code());
  }
}
