#include "physics/codes/codes_file.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

std::vector<NamedCodes> some() {
  std::vector<double> w(23 * 18);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::sin(1.7 * i);
  return {{"first", encode(w, 23, 18, {3, 8, 2})}, {"second", encode(w, 18, 23, {1, 0, 0})}};
}

TEST(CodesFile, comes_back_and_is_as_large_as_promised) {
  const Scratch scratch("codes_file");
  const auto matrices = some();
  const auto path = scratch / "codes.h5";
  {
    auto file = hdf5::File::create(Comm::world(), path);
    write_codes(file.root().group("codes"), matrices);
  }
  const auto file = hdf5::File::open(Comm::world(), path);
  const auto group = file.root().open_group("codes");
  EXPECT_EQ(group.shape("keys")[0], 3U * 23 * 3 + 18U * 3);
  EXPECT_EQ(group.shape("alpha")[0], 3U * 23 * 3 + 18U);
  const auto read = read_codes(group, path);
  ASSERT_EQ(read.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].name, matrices[i].name);
    EXPECT_EQ(read[i].codes.keys, matrices[i].codes.keys);
    EXPECT_EQ(read[i].codes.alpha, matrices[i].codes.alpha);
    EXPECT_EQ(read[i].codes.group, matrices[i].codes.group);
  }
}

TEST(CodesFile, hostile_files_are_refused) {
  const Scratch scratch("codes_file");
  const auto refused = [&](const auto& spoil) {
    const auto path = scratch / "codes.h5";
    {
      auto file = hdf5::File::create(Comm::world(), path);
      auto group = file.root().group("codes");
      write_codes(group, some());
      spoil(group);
    }
    const auto file = hdf5::File::open(Comm::world(), path);
    try {
      (void)read_codes(file.root().open_group("codes"), "it");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(refused([](auto& g) { g.set_attribute("mu", 8); }),
            "it: codes: keys of 8 columns; this version reads 4");
  EXPECT_EQ(refused([](auto& g) {
              g.set_attribute("bits", List{9, 1});
            }),
            "it: codes: 9 bits; expected 1 to 8");
  EXPECT_EQ(refused([](auto& g) { g.set_attribute("bits", List{1}); }),
            "it: codes: 1 entries of bits; expected one for each of 2 matrices");
  EXPECT_NE(refused([](auto& g) {
              g.set_attribute("rows", List{1 << 24, 1 << 24});
            }).find("expected"),
            std::string::npos);
  EXPECT_NE(refused([](auto& g) {
              g.set_attribute("columns", List{0, 23});
            }).find("expected an integer from 1"),
            std::string::npos);
  EXPECT_NE(refused([](auto& g) {
              g.set_attribute("group", List{6, 23});
            }).find("a multiple of 4"),
            std::string::npos);
  const std::vector<float> holes(3 * 23 * 3 + 18, std::nanf(""));
  EXPECT_NE(refused([&](auto& g) {
              g.template write<float>("alpha", holes, {holes.size()}, {});
            }).find("a scale is nan"),
            std::string::npos);
}

}  // namespace
}  // namespace quintet
