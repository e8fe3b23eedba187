#include "apps/dpmd/train/best_weights.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::dpmd {
namespace {

TEST(BestWeights, come_back_from_a_checkpoint_of_as_many_and_of_no_other_number) {
  const SharedScratch scratch("best_weights");
  const std::string path = scratch / "best.h5";
  BestWeights best{EarlyStoppingOptions{}};
  best.observe(3, 0.5, [] { return std::vector<double>{1, 2, 3, 4}; });
  hdf5::File file = hdf5::File::create(Comm::world(), path);
  best.save(file.root());
  file.close();

  const hdf5::File again = hdf5::File::open(Comm::world(), path);
  BestWeights loaded{EarlyStoppingOptions{}};
  loaded.load(again.root(), 4);
  EXPECT_EQ(loaded.weights(), best.weights());
  EXPECT_EQ(loaded.step(), 3);
  EXPECT_EQ(loaded.loss(), 0.5);
  EXPECT_THROW(loaded.load(again.root(), 3), InputError);
  EXPECT_THROW(loaded.load(again.root(), 5), InputError);
}

}  // namespace
}  // namespace quintet::dpmd
