#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::hdf5 {
namespace {

Provenance some_provenance() {
  auto provenance = current_provenance();
  provenance.program = "dpmd run";
  provenance.blas = "OpenBLAS";
  provenance.ranks = 2;
  provenance.threads = 3;
  provenance.seed = 0xfedcba9876543210ULL;
  provenance.configuration = "run:\n  steps: 10\n";
  return provenance;
}

TEST(Header, provenance_comes_back_with_all_bits) {
  const SharedScratch scratch("header");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  const auto given = some_provenance();

  write_header(file.root(), "dpmd.run", 4, given);
  const auto found = read_provenance(file.root());

  EXPECT_EQ(check_header(file, "dpmd.run", 4), 4);
  EXPECT_EQ(found.program, given.program);
  EXPECT_EQ(found.version, given.version);
  EXPECT_EQ(found.git_hash, given.git_hash);
  EXPECT_EQ(found.build, given.build);
  EXPECT_EQ(found.host, given.host);
  EXPECT_EQ(found.date, given.date);
  EXPECT_EQ(found.blas, given.blas);
  EXPECT_EQ(found.ranks, given.ranks);
  EXPECT_EQ(found.threads, given.threads);
  EXPECT_EQ(found.seed, given.seed);
  EXPECT_EQ(found.configuration, given.configuration);
}

TEST(Header, this_build_says_version_compiler_and_flags) {
  const auto provenance = current_provenance();

  EXPECT_NE(provenance.version, "");
  EXPECT_NE(provenance.git_hash, "");
  EXPECT_TRUE(contains(provenance.build, "-O")) << provenance.build;
  EXPECT_NE(provenance.host, "");
  EXPECT_EQ(provenance.date.size(), std::string("2026-01-01T00:00:00Z").size());
}

TEST(Header, the_version_before_is_read_and_others_name_the_way_up) {
  const SharedScratch scratch("versions");
  auto file = File::create(Comm::world(), scratch / "a.h5");
  write_header(file.root(), "dpmd.run", 4, some_provenance());

  EXPECT_EQ(check_header(file, "dpmd.run", 5), 4);
  const auto old = message_of<InputError>([&] { check_header(file, "dpmd.run", 6); });
  const auto young = message_of<InputError>([&] { check_header(file, "dpmd.run", 3); });
  const auto other = message_of<InputError>([&] { check_header(file, "vlasov.run", 4); });

  EXPECT_TRUE(contains(old, "has version 4 of schema 'dpmd.run'")) << old;
  EXPECT_TRUE(contains(old, "reads 5 and 6: open and rewrite it")) << old;
  EXPECT_TRUE(contains(young, "use a newer Quintet")) << young;
  EXPECT_TRUE(contains(other, "has schema 'dpmd.run', but 'vlasov.run' is expected")) << other;
}

TEST(Header, a_file_without_one_is_not_ours) {
  const SharedScratch scratch("foreign");
  const auto file = File::create(Comm::world(), scratch / "a.h5");

  const auto message = message_of<InputError>([&] { check_header(file, "dpmd.run", 1); });

  EXPECT_TRUE(contains(message, "a.h5: has no schema")) << message;
}

}  // namespace
}  // namespace quintet::hdf5
