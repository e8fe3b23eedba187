#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include "io/parallel/comm.hpp"
#include "io/parallel/mpi_session.hpp"
#include "io/runtime/runtime.hpp"

using namespace quintet;

/// Own main(): nothing is up at its beginning, and nothing may be up at its end.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  EXPECT_FALSE(mpi_is_up());
  const auto alone = Comm::self();
  const std::vector<double> sent{1.5, 2.5};
  std::vector<double> received(2);
  alone.exchange(std::span<const double>(sent), 0, std::span(received), 0, 1);
  alone.barrier();
  EXPECT_EQ(received, sent) << "one rank needs no MPI";
  EXPECT_EQ(alone.sum(2), 2);
  EXPECT_EQ(alone.node_size(), 1);
  EXPECT_EQ(alone.all_to_all(std::vector<std::vector<int>>{{1, 2}}), (std::vector<std::vector<int>>{{1, 2}}));
  EXPECT_EQ(StopRequest({}).reason(alone, 0.0), "");
  EXPECT_ANY_THROW(static_cast<void>(Comm::world())) << "all ranks are known to MPI only";

  bool all_up_at_start = false, all_up_at_stop = false;
  const auto all_up = [] { return mpi_is_up() && Kokkos::is_initialized(); };
  {
    const Subsystem watcher{"watcher", [&](const Comm&, int) { all_up_at_start = all_up(); },
                            [&] { all_up_at_stop = all_up(); }};
    Runtime runtime(argc, argv, 0, {watcher});
    EXPECT_EQ(runtime.comm().sum(1), runtime.comm().size());
    EXPECT_GE(runtime.threads().per_rank, 1);
    EXPECT_LE(runtime.threads().per_rank,
              std::max(1, runtime.threads().cores_on_node / runtime.comm().node_size()));
  }
  EXPECT_TRUE(all_up_at_start && all_up_at_stop) << "subsystems live inside the life of MPI and Kokkos";
  EXPECT_FALSE(Kokkos::is_initialized());
  EXPECT_FALSE(mpi_is_up());
  EXPECT_EQ(alone.sum(4), 4) << "self outlives MPI";
  return testing::Test::HasFailure() ? 1 : 0;
}
