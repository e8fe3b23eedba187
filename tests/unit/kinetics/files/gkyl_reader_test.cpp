#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/kinetics/files/gkyl_reader.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"
#include "tests/unit/kinetics/files/files_support.hpp"

namespace quintet::kinetics {
namespace {

using namespace testing;

template <class... T>
std::string raw(T... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

std::uint64_t u(std::uint64_t value) { return value; }

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const Comm& comm, const std::string& path, const std::string& bytes) {
  comm.barrier();
  if (comm.is_root()) std::ofstream(path, std::ios::binary) << bytes;
  comm.barrier();
}

TEST(GkylReader, what_was_written_is_read_on_another_split_bit_by_bit) {
  const auto comm = Comm::world();
  const SharedScratch scratch("gkyl_read");
  for (const auto& basis : {PhaseBasis(1, 1, 2, Family::serendipity), PhaseBasis(1, 2, 2, Family::tensor),
                            PhaseBasis(2, 2, 1, Family::tensor)}) {
    const auto grid = odd_grid(basis.cdim(), basis.vdim());
    const auto splits = rank_grids(comm.size(), grid.dim());
    const Decomposition from(comm, grid, splits.front()), to(comm, grid, splits.back());
    GkylWriter(from, basis, scratch / "run").write("elc", 2, 0.75, numbered(from, grid, basis));
    Distribution f("f", to.block(grid), basis.size());

    const auto meta = read_gkyl(scratch / "run-elc_2.gkyl", to, basis, f);

    EXPECT_TRUE(equal(f, numbered(to, grid, basis)));
    EXPECT_EQ(std::get<double>(meta.at("time")), 0.75);
    EXPECT_EQ(std::get<std::int64_t>(meta.at("frame")), 2);
    comm.barrier();
  }
}

TEST(GkylReader, files_of_several_ranks_are_put_together) {
  const auto comm = Comm::world();
  const SharedScratch scratch("gkyl_parts");
  const PhaseBasis basis(1, 1, 1, Family::serendipity);
  auto grid = odd_grid(1, 1);
  grid.cells = {4, 3};
  const auto head = [&](std::uint64_t type) {
    const auto meta = message_pack({{"basisType", "serendipity"}, {"polyOrder", std::int64_t{1}}});
    return "gkyl0" + raw(u(1), u(type), u(meta.size())) + meta +
           raw(u(2), u(2), u(4), u(3), 0.0, -5.0, 2.5, 5.0, u(32), u(12));
  };
  const auto cell = [](double number) { return raw(number, number + 0.25, number + 0.5, number + 0.75); };
  // Cells (1, 1..2), (2, 1..2) and so on: four boxes, 1-based and both ends included.
  std::string parts = raw(u(4));
  for (const auto& [x0, x1, v0, v1] : {std::array{1, 2, 1, 2}, {1, 2, 3, 3}, {3, 4, 1, 2}, {3, 4, 3, 3}}) {
    parts += raw(u(x0), u(v0), u(x1), u(v1), u((x1 - x0 + 1) * (v1 - v0 + 1)));
    for (int x = x0; x <= x1; ++x)
      for (int v = v0; v <= v1; ++v) parts += cell(10 * x + v);
  }
  write_bytes(comm, scratch / "parts.gkyl", head(3) + parts);
  const Decomposition decomposition(comm, grid, {});
  Distribution f("f", decomposition.block(grid), 4);

  static_cast<void>(read_gkyl(scratch / "parts.gkyl", decomposition, basis, f));

  for (int x = 0; x < f.block.n_conf(); ++x)
    for (int v = 0; v < f.block.n_last(); ++v)
      for (int mode = 0; mode < 4; ++mode)
        EXPECT_EQ(f.at(x, 0, v, mode), 10 * (f.block.begin[0] + x + 1) + f.block.begin[1] + v + 1 +
                                           0.25 * basis.gkeyll_order()[mode]);
  write_bytes(comm, scratch / "parts.gkyl", (head(3) + parts).substr(0, 300));
  EXPECT_TRUE(contains(message_of<InputError>([&] {
                         static_cast<void>(read_gkyl(scratch / "parts.gkyl", decomposition, basis, f));
                       }),
                       "is truncated: it has 300 bytes"));
}

TEST(GkylReader, message_pack_of_other_writers_is_understood) {
  using namespace std::string_literals;
  const auto meta =
      message_unpack("\x87\xa1"s + "a\xd0\xff\xa1"s + "b\xcd\x01\x02\xa1"s + "c\xca\x3f\xc0\0\0\xa1"s +
                     "d\xd9\x02hi\xa1"s + "e\xff\xa1"s + "f\xd2\xff\xff\xff\xfe\xa1"s + "g\x05"s);

  EXPECT_EQ(meta, (GkylMeta{{"a", std::int64_t{-1}},
                            {"b", std::int64_t{258}},
                            {"c", 1.5},
                            {"d", "hi"},
                            {"e", std::int64_t{-1}},
                            {"f", std::int64_t{-2}},
                            {"g", std::int64_t{5}}}));
  EXPECT_TRUE(message_unpack("").empty());
  EXPECT_TRUE(message_unpack("\x8f\xdb\xff\xff\xff\xff").empty());
}

TEST(GkylReader, bad_files_are_named_with_what_is_wrong) {
  const auto comm = Comm::world();
  const SharedScratch scratch("gkyl_bad_read");
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto grid = odd_grid(1, 1);
  const Decomposition decomposition(comm, grid, {});
  GkylWriter(decomposition, basis, scratch / "run").write("elc", 0, 0, numbered(decomposition, grid, basis));
  const auto good = bytes_of(scratch / "run-elc_0.gkyl");
  const auto reading = [&](const std::string& bytes, const PhaseGrid& other, const PhaseBasis& other_basis) {
    write_bytes(comm, scratch / "bad.gkyl", bytes);
    return message_of<InputError>([&] {
      const Decomposition d(comm, other, {});
      static_cast<void>(read_gkyl(scratch / "bad.gkyl", d, other_basis,
                                  Distribution("f", d.block(other), other_basis.size())));
    });
  };
  const auto said = [&](const std::string& bytes) { return reading(bytes, grid, basis); };
  auto wider = grid;
  wider.upper[1] = 6;
  auto nan = good, huge_meta = good;
  const double not_a_number = std::nan("");
  std::memcpy(nan.data() + nan.size() - 8, &not_a_number, 8);
  huge_meta[27] = '\x7f';
  const auto without = [&](const std::string& key) {  // its name alone is changed
    auto bytes = good;
    return bytes.replace(bytes.find(key), 1, "X");
  };

  EXPECT_EQ(said(good), "");
  EXPECT_TRUE(contains(said("gkyl"), "is not a .gkyl file of version 1"));
  EXPECT_TRUE(contains(said("something else that is long enough"), "is not a .gkyl file of version 1"));
  EXPECT_TRUE(contains(said(good.substr(0, good.size() - 1)), "is truncated"));
  EXPECT_TRUE(contains(said(good.substr(0, 40)), "is damaged"));
  EXPECT_TRUE(contains(said(huge_meta), "of metadata in a file of"));
  EXPECT_TRUE(contains(said(good + "surplus"), "7 more than its header says"));
  EXPECT_TRUE(contains(said(without("basisType")), "metadata have no basisType"));
  EXPECT_TRUE(contains(said(without("polyOrder")), "metadata have no polyOrder"));
  EXPECT_TRUE(contains(said(nan), "is not finite in row 6 of the first axis"));
  EXPECT_TRUE(
      contains(reading(good, wider, basis),
               "has cells [7, 13], lower [0, -5], upper [2.5, 5]; this run cells [7, 13], lower [0, -5], "
               "upper [2.5, 6]"));
  EXPECT_TRUE(contains(reading(good, grid, {1, 1, 2, Family::tensor}),
                       "has the basis 'serendipity', this run 'tensor'"));
  EXPECT_TRUE(
      contains(reading(good, grid, {1, 1, 3, Family::serendipity}), "has a basis of order 2, this run of 3"));
  EXPECT_TRUE(contains(message_of<InputError>([&] {
                         static_cast<void>(read_gkyl(scratch / "absent.gkyl", decomposition, basis,
                                                     Distribution("f", decomposition.block(grid), 8)));
                       }),
                       "absent.gkyl: cannot be opened"));
}

}  // namespace
}  // namespace quintet::kinetics
