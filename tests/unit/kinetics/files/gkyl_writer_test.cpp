#include <cstring>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/kinetics/files/gkyl_writer.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"
#include "tests/unit/kinetics/files/files_support.hpp"

namespace quintet::kinetics {
namespace {

using namespace testing;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Little-endian numbers, one after the other.
template <class... T>
std::string raw(T... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

std::uint64_t u(std::uint64_t value) { return value; }

/// The number at a byte of a file.
double number_at(const std::string& bytes, std::size_t place) {
  double value = 0;
  if (place + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

TEST(GkylWriter, meta_data_are_message_pack) {
  const GkylMeta meta{{"time", 1.5}, {"frame", std::int64_t{7}}, {"basisType", "serendipity"}};

  // By hand: fixmap of 3; fixstr of 9 "basisType", fixstr of 11; fixstr of 5 "frame", fixint; fixstr of 4
  // "time", float64 1.5 = 3ff8000000000000, most significant byte first.
  EXPECT_EQ(message_pack(meta), std::string("\x83\xa9"
                                            "basisType\xab"
                                            "serendipity\xa5"
                                            "frame\x07\xa4"
                                            "time\xcb\x3f\xf8\0\0\0\0\0\0",
                                            1 + 10 + 12 + 6 + 1 + 5 + 9));
  EXPECT_EQ(message_pack({{"n", std::int64_t{300}}}), std::string("\x81\xa1n\xd3\0\0\0\0\0\0\x01\x2c", 12));
  EXPECT_EQ(message_pack({{"n", std::int64_t{-1}}}),
            std::string("\x81\xa1n\xd3\xff\xff\xff\xff\xff\xff\xff\xff", 12));
}

TEST(GkylWriter, a_field_file_has_the_bytes_of_version_1) {
  const auto comm = Comm::world();
  const SharedScratch scratch("gkyl");
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto grid = odd_grid(1, 1);
  const Decomposition decomposition(comm, grid, {});

  const GkylWriter writer(decomposition, basis, scratch / "run");
  writer.write("elc", 3, 0.25, numbered(decomposition, grid, basis));

  const GkylMeta meta{{"time", 0.25},
                      {"frame", std::int64_t{3}},
                      {"polyOrder", std::int64_t{2}},
                      {"basisType", "serendipity"}};
  const std::string packed = message_pack(meta);
  const std::string header = "gkyl0" + raw(u(1), u(1), u(packed.size())) + packed +
                             raw(u(2), u(2), u(7), u(13), 0.0, -5.0, 2.5, 5.0, u(64), u(91));
  const auto bytes = bytes_of(scratch / "run-elc_3.gkyl");
  ASSERT_EQ(bytes.size(), header.size() + 8 * 8 * 91);
  EXPECT_EQ(bytes.substr(0, header.size()), header);
  for (std::int64_t cell = 0; cell < 91; ++cell)
    for (int mode = 0; mode < 8; ++mode)
      EXPECT_EQ(number_at(bytes, header.size() + 8 * std::int64_t{8 * cell + basis.gkeyll_order()[mode]}),
                unique_value(cell, mode));
}

TEST(GkylWriter, every_split_writes_the_same_bytes) {
  const auto comm = Comm::world();
  const SharedScratch scratch("gkyl_splits");
  const PhaseBasis basis(2, 2, 1, Family::hybrid);
  const auto grid = odd_grid(2, 2);
  std::string first, first_field;
  for (const auto& ranks : rank_grids(comm.size(), grid.dim())) {
    const Decomposition decomposition(comm, grid, ranks);
    const GkylWriter writer(decomposition, basis, scratch / "run");
    writer.write("ion", 0, 0, numbered(decomposition, grid, basis));
    writer.write("field", 0, 0, grid, numbered_field(decomposition.block(grid), 8, 4));

    const auto bytes = bytes_of(scratch / "run-ion_0.gkyl"), field = bytes_of(scratch / "run-field_0.gkyl");
    if (first.empty()) {
      first = bytes;
      first_field = field;
    }
    EXPECT_TRUE(bytes == first && field == first_field);
    EXPECT_TRUE(contains(first, "serendipity"));  // of order 2, which holds the hybrid modes
    EXPECT_GT(first.size(), 8u * 48 * 7 * 5 * 13 * 6);
    comm.barrier();
  }
}

TEST(GkylWriter, modes_stand_where_gkeyll_has_them) {
  const auto order_of = [](const PhaseBasis& basis) {
    std::vector<std::string> texts(basis.size());
    for (int i = 0; i < basis.size(); ++i) {
      auto& text = texts[basis.gkeyll_order()[i]];
      for (int d = 0; d < basis.dim(); ++d) text += static_cast<char>('0' + basis.mode(i)[d]);
    }
    std::string all;
    for (const auto& text : texts) all += (all.empty() ? "" : " ") + text;
    return all;
  };

  // Read off gkylzero's eval_* functions (core/ker/basis/basis_eval_{ser,tensor,hyb}.c).
  EXPECT_EQ(order_of({1, 2, 2, Family::serendipity}),
            "000 100 010 001 110 101 011 200 020 002 111 210 120 201 021 102 012 211 121 112");
  EXPECT_EQ(order_of({1, 1, 3, Family::serendipity}), "00 10 01 11 20 02 21 12 30 03 31 13");
  EXPECT_EQ(order_of({1, 1, 3, Family::tensor}), "00 10 01 11 20 02 21 12 30 03 22 31 13 32 23 33");
  EXPECT_EQ(
      order_of({1, 2, 2, Family::tensor}),
      "000 100 010 001 110 101 011 200 020 002 111 210 120 201 021 102 012 211 121 112 220 202 022 221 212 "
      "122 222");
  EXPECT_EQ(order_of({1, 2, 1, Family::hybrid}),
            "000 100 010 001 110 101 011 111 020 120 021 121 002 102 012 112");
  EXPECT_EQ(order_of({2, 2, 1, Family::serendipity}),
            "0000 1000 0100 0010 0001 1100 1010 0110 1001 0101 0011 1110 1101 1011 0111 1111");
}

TEST(GkylWriter, time_series_grow_record_by_record_and_are_cut_on_restart) {
  const auto comm = Comm::world();
  const SharedScratch scratch("gkyl_series");
  const PhaseBasis basis(1, 1, 1, Family::serendipity);
  const Decomposition decomposition(comm, odd_grid(1, 1), {});
  GkylWriter writer(decomposition, basis, scratch / "run");
  const auto record = [](auto... values) { return "gkyl0" + raw(u(1), u(2), u(0), u(2), values...); };

  writer.append("field-energy", 0.0, std::array{1.0, 2.0});
  writer.append("field-energy", 0.5, std::array{3.0, 4.0});
  writer.flush();
  writer.append("field-energy", 1.0, std::array{5.0, 6.0});
  writer.flush();
  writer.flush();
  const auto whole = bytes_of(scratch / "run-field-energy.gkyl");
  comm.barrier();
  if (comm.is_root())  // a killed run's half of a record
    std::ofstream(scratch / "run-field-energy.gkyl", std::ios::app | std::ios::binary) << whole.substr(0, 40);
  if (comm.is_root()) std::ofstream(scratch / "run-begun.gkyl", std::ios::binary) << whole.substr(0, 40);
  comm.barrier();
  writer.truncate("begun", 0.75);
  writer.truncate("field-energy", 0.75);
  writer.truncate("absent", 0.75);
  const auto cut = bytes_of(scratch / "run-field-energy.gkyl");

  const auto first = record(u(16), u(2), 0.0, 0.5, 1.0, 2.0, 3.0, 4.0);
  EXPECT_EQ(whole, first + record(u(16), u(1), 1.0, 5.0, 6.0));
  EXPECT_EQ(cut, first);
  EXPECT_EQ(bytes_of(scratch / "run-begun.gkyl"), "");
}

TEST(GkylWriter, files_that_cannot_be_used_are_named) {
  const auto comm = Comm::world();
  const SharedScratch scratch("gkyl_bad");
  const PhaseBasis basis(1, 1, 1, Family::serendipity);
  const auto grid = odd_grid(1, 1);
  const Decomposition decomposition(comm, grid, {});
  const GkylWriter nowhere(decomposition, basis, scratch / "absent/run"),
      writer(decomposition, basis, scratch / "run");
  if (comm.is_root()) std::ofstream(scratch / "run-text.gkyl") << "no series";
  comm.barrier();

  EXPECT_EQ(
      message_of<ResourceError>([&] { nowhere.write("elc", 0, 0, numbered(decomposition, grid, basis)); }),
      scratch / "absent/run-elc_0.gkyl: cannot be written: No such file or directory");
  EXPECT_EQ(
      message_of<InputError>([&] { writer.truncate("text", 1); }),
      scratch / "run-text.gkyl: is not a time series of Gkeyll's format, version 1; remove it to begin anew");
}

}  // namespace
}  // namespace quintet::kinetics
