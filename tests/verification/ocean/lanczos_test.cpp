#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/pod.hpp"
#include "physics/solvers/lanczos_svd.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#include "tests/verification/ocean/array_source.hpp"

namespace quintet::ocean {
namespace {

using namespace testing;

TEST(Lanczos, gives_the_modes_of_snapshots) {
  const Comm comm = Comm::world();
  const auto petsc = petsc_subsystem();
  petsc.start(comm, 1);
  for (const int n_times : {30, 80}) {  // fewer and more times than sea points a rank
    const Record record(comm, sample_source(n_times), std::nullopt, {});
    PodOptions options;
    options.n_modes = 6;
    options.n_fit = n_times;
    const auto snapshots = make_pod(comm, record, options).modes;
    options.method = PodMethod::lanczos;
    EXPECT_THROW(static_cast<void>(make_pod(comm, record, options)), InputError);  // no Lanczos method given
    options.lanczos = lanczos_svd;
    const auto lanczos = make_pod(comm, record, options).modes;
    for (int m = 0; m < 6; ++m)
      EXPECT_NEAR(lanczos.singular_values[m], snapshots.singular_values[m],
                  1e-12 * snapshots.singular_values[0]);
    for (std::size_t i = 0; i < lanczos.modes.size(); ++i)
      ASSERT_NEAR(lanczos.modes[i], snapshots.modes[i], 1e-8);
  }
  petsc.stop();
}

}  // namespace
}  // namespace quintet::ocean
