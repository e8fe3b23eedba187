#include <numeric>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "io/parallel/shared_array.hpp"

namespace quintet {
namespace {

TEST(SharedArray, every_rank_reads_and_writes_every_part) {
  const Comm node = Comm::world().node();
  const int n = 1000;
  const SharedArray<double> array(node, n + node.rank());
  for (int i = 0; i < n + node.rank(); ++i) EXPECT_EQ(array.part(node.rank())[i], 0.0);
  std::iota(array.part(node.rank()), array.part(node.rank()) + n, 1000.0 * node.rank());
  array.synchronise();
  for (int rank = 0; rank < node.size(); ++rank) EXPECT_EQ(array.part(rank)[n - 1], 1000.0 * rank + n - 1);
  array.synchronise();
  const int next = (node.rank() + 1) % node.size();
  array.part(next)[3] = -1.0 - node.rank();
  array.synchronise();
  EXPECT_EQ(array.part(node.rank())[3], -1.0 - (node.rank() + node.size() - 1) % node.size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.part(node.rank())) % 64, 0u);
}

TEST(SharedArray, a_rank_may_have_no_part) {
  const Comm node = Comm::world().node();
  const SharedArray<float> array(node, node.is_root() ? 7 : 0);
  if (node.is_root()) array.part(0)[6] = 2.5f;
  array.synchronise();
  EXPECT_EQ(array.part(0)[6], 2.5f);
}

}  // namespace
}  // namespace quintet
