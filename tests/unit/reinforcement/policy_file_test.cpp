#include "surrogates/reinforcement/policy_file.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::reinforcement {
namespace {

PolicyFile small_policy() {
  PolicyFile policy;
  policy.shape.n_observed = 2;
  policy.shape.n_actions = 2;
  policy.shape.widths = {3};
  ActorCritic network(policy.shape, 1);
  const auto parameters = network.parameters();
  policy.parameters.assign(parameters.begin(), parameters.end());
  return policy;
}

TEST(PolicyFile, is_read_by_the_ranks_that_wrote_it) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("policy");
  const PolicyFile policy = small_policy();
  for (int again = 0; again < 2; ++again) {  // the second takes the place of the first
    save_policy(comm, scratch / "policy.h5", policy, hdf5::current_provenance());
    EXPECT_EQ(load_policy(comm, scratch / "policy.h5").parameters, policy.parameters);
  }
}

/// No rank waits for one that has failed.
TEST(PolicyFile, that_cannot_take_its_name_is_an_error_on_all_ranks) {
  const Comm comm = Comm::world();
  const SharedScratch scratch("policy");
  const std::string path = scratch / "policy.h5";
  on_root(comm, [&] { std::filesystem::create_directories(path + "/held"); });
  EXPECT_THROW(save_policy(comm, path, small_policy(), hdf5::current_provenance()), ResourceError);
  EXPECT_TRUE(std::filesystem::is_directory(path + "/held"));
}

}  // namespace
}  // namespace quintet::reinforcement
