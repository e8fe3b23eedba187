#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/kept_root.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/files/matrix_files.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/support/scratch.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

Dense overlap(int n) {
  Dense m = ring(n, {6, 2, 4}, 0.2, 1.1).a;
  for (int i = 0; i < m.n; ++i) m(i, i) = 1;
  return m;
}

/// A folder that all ranks know.
class KeptRoots : public ::testing::Test {
 protected:
  const Comm comm = Comm::world();
  const Scratch scratch{"kept_root"};
  const std::string path = comm.broadcast(scratch / "root.h5");
  const Ring molecules = ring(30, {6, 2, 4}, 0.05, 0.9);
  const std::shared_ptr<const Blocking> blocking = blocks_of(molecules);
  const Dense s_dense = overlap(30);
  const BlockMatrix k = distribute(comm, molecules.a, blocking), s = distribute(comm, s_dense, blocking);
  static constexpr double threshold = 1e-4;

  void write(double made_with = threshold) const {
    write_root({inverse_sqrt(s, made_with), made_with, false}, s, path, {});
  }
  /// In the folder; of the root alone, which removes it.
  [[nodiscard]] auto n_files() const {
    const auto files = std::filesystem::directory_iterator(std::filesystem::path(path).parent_path());
    return std::distance(begin(files), end(files));
  }
  [[nodiscard]] std::string refusal(const BlockMatrix& of, double wanted = threshold) const {
    try {
      static_cast<void>(read_root(path, of, wanted));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] BlockMatrix density(const Orthogonalised& basis) const {
    SubmatrixOptions options;
    options.threshold = threshold;
    options.mu = 0;
    return density_matrix(evaluate_submatrices(basis.a, options), basis, k, s, threshold).d;
  }
};

TEST_F(KeptRoots, density_is_the_same_with_the_root_that_is_kept) {
  write();

  const KeptRoot root = read_root(path, s, threshold);

  const Orthogonalised made = orthogonalise(k, s, threshold);
  EXPECT_EQ(root.threshold, threshold);
  EXPECT_EQ(root.made.residual, made.residual);
  EXPECT_EQ(root.made.degree, made.iterations);
  const BlockMatrix with = density(orthogonalise(k, root.made, threshold)), without = density(made);
  EXPECT_LT(frobenius_norm(add(1, with, -1, without)), 1e-13 * frobenius_norm(without));
}

TEST_F(KeptRoots, another_process_that_writes_is_not_in_the_way) {
  if (comm.is_root())
    for (const char* ending : {".bare", ".bare.unfinished"})
      std::filesystem::create_directories(path + ending + "/held");
  comm.barrier();

  write();

  EXPECT_EQ(refusal(s), "");
  if (comm.is_root()) {
    EXPECT_EQ(n_files(), 3) << "root.h5 and the two folders";
  }
}

TEST_F(KeptRoots, what_cannot_be_written_leaves_nothing) {
  if (comm.is_root()) std::filesystem::create_directories(path + "/held");  // has the name, and stays
  comm.barrier();

  EXPECT_THROW(write(), ResourceError);

  if (comm.is_root()) {
    EXPECT_EQ(n_files(), 1);
  }
}

TEST_F(KeptRoots, threshold_may_be_finer_but_not_coarser) {
  write();

  EXPECT_EQ(refusal(s, threshold), "");
  EXPECT_EQ(refusal(s, 1.001 * threshold), "");
  EXPECT_NE(refusal(s, 0.999 * threshold).find("too coarse"), std::string::npos);
}

TEST_F(KeptRoots, another_overlap_is_refused) {
  write();
  Dense other = s_dense;
  other(3, 4) = other(4, 3) = std::nextafter(other(3, 4), 1.0);

  const std::string text = refusal(distribute(comm, other, blocking));

  EXPECT_NE(text.find("root.h5: keeps S^-1/2 of another overlap matrix"), std::string::npos) << text;
  EXPECT_EQ(refusal(distribute(comm, s_dense, blocking)), "");
}

TEST_F(KeptRoots, other_blocks_are_refused) {
  write();
  const auto pairs = std::make_shared<const Blocking>(uniform_blocking(s_dense.n, 2));

  EXPECT_NE(refusal(distribute(comm, s_dense, pairs)).find("other blocks"), std::string::npos);
}

TEST_F(KeptRoots, a_damaged_file_is_refused) {
  write();
  {
    auto file = hdf5::File::open_for_update(comm, path);
    auto value = file.root().read<double>("value");
    value[value.size() / 2] = std::nextafter(value[value.size() / 2], 2.0);
    const std::uint64_t n = comm.is_root() ? value.size() : 0;
    file.root().write_box("value", std::span<const double>(value.data(), n), {{0}, {n}});
    file.close();
  }

  EXPECT_NE(refusal(s).find("is damaged"), std::string::npos) << refusal(s);
}

TEST_F(KeptRoots, a_matrix_that_is_no_kept_root_is_refused) {
  write_matrix(s, path, MatrixFormat::quintet_hdf5);

  EXPECT_NE(refusal(s).find("is no file that keeps S^-1/2"), std::string::npos) << refusal(s);
}

TEST_F(KeptRoots, fingerprints_do_not_depend_on_blocks) {
  const auto pairs = std::make_shared<const Blocking>(uniform_blocking(s_dense.n, 2));

  EXPECT_EQ(fingerprint(s), fingerprint(distribute(comm, s_dense, pairs)));
  EXPECT_NE(fingerprint(s), fingerprint(k));
}

}  // namespace
}  // namespace quintet::electronic
