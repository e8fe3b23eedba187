#include <gtest/gtest.h>

#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// Long work is given up on all ranks together, whichever of them is asked to.
namespace quintet::electronic {
namespace {

using namespace reference;

class InterruptTest : public ::testing::Test {
 protected:
  const Comm comm = Comm::world();
  const Ring molecules = ring(24, {6, 3, 4}, 0.05, 0.9);
  const BlockMatrix a = distribute(comm, molecules.a, blocks_of(molecules));

  /// True on the last rank from the n-th question on.
  [[nodiscard]] Interrupt after(int n) const {
    return [n, last = comm.rank() == comm.size() - 1, asked = 0]() mutable { return last && asked++ >= n; };
  }
  [[nodiscard]] SubmatrixOptions options(SubmatrixKernel kernel) const {
    SubmatrixOptions result;
    result.mu = 0;
    result.kernel = kernel;
    result.columns_together = 1;
    return result;
  }
};

TEST_F(InterruptTest, every_kernel_gives_up_at_once_or_later) {
  for (const auto kernel :
       {SubmatrixKernel::polynomial, SubmatrixKernel::eigen, SubmatrixKernel::newton_schulz})
    for (const int n : {0, 3}) {
      auto interrupted = options(kernel);
      interrupted.interrupt = after(n);
      EXPECT_THROW(static_cast<void>(evaluate_submatrices(a, interrupted)), Interrupted);
    }
}

TEST_F(InterruptTest, a_question_that_is_always_denied_changes_nothing) {
  auto asked = options(SubmatrixKernel::automatic);
  const auto alone = evaluate_submatrices(a, asked);
  asked.interrupt = [] { return false; };
  EXPECT_EQ(largest_difference(collect(evaluate_submatrices(a, asked).p), collect(alone.p)), 0);
}

TEST_F(InterruptTest, products_and_inverse_roots_give_up) {
  Dense overlap = molecules.a;
  for (int i = 0; i < overlap.n; ++i) overlap(i, i) = 1;
  const auto s = distribute(comm, overlap, blocks_of(molecules));
  EXPECT_THROW(static_cast<void>(multiply(a, s, ProductOptions{.interrupt = after(0)})), Interrupted);
  EXPECT_THROW(static_cast<void>(orthogonalise(a, s, 1e-5, after(0))), Interrupted);
}

}  // namespace
}  // namespace quintet::electronic
