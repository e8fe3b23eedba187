#include "physics/particles/files/npy.hpp"

#include "files_support.hpp"

namespace {

using namespace quintet;
using files::npy;
using files::put;
using Numbers = std::vector<double>;

struct Npy : ::testing::Test {
  Scratch scratch{"npy"};
  NpyFile open(const std::string& content) { return NpyFile(put(scratch / "a.npy", content)); }
  Numbers all(const std::string& content) {
    const auto array = open(content);
    return array.read_rows<double>(0, array.shape()[0]);
  }
};

TEST_F(Npy, all_four_element_types_are_read) {
  EXPECT_EQ(all(npy<double>("<f8", "(3,)", {1.0 / 3, -2, 1e300})), (Numbers{1.0 / 3, -2, 1e300}));
  EXPECT_EQ(all(npy<float>("<f4", "(2,)", {0.5f, -2.25f})), (Numbers{0.5, -2.25}));
  EXPECT_EQ(all(npy<std::int32_t>("<i4", "(2,)", {-7, 8})), (Numbers{-7, 8}));
  EXPECT_EQ(open(npy<std::int64_t>("<i8", "(1,)", {1ll << 60})).read_rows<std::int64_t>(0, 1)[0], 1ll << 60);
  EXPECT_EQ(open(npy<float>("<f4", "(0, 6)", {})).element_type(), "float32");
}

TEST_F(Npy, other_sizes_and_byte_orders_are_read) {
  EXPECT_EQ(all(npy<std::uint16_t>("<f2", "(6,)", {0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x8000})),
            (Numbers{1, -2, 0.333251953125, std::ldexp(1.0, -24), 65504, 0}));
  EXPECT_TRUE(std::isinf(all(npy<std::uint16_t>("<f2", "(1,)", {0x7c00}))[0]));
  EXPECT_TRUE(std::isnan(all(npy<std::uint16_t>("<f2", "(1,)", {0x7e00}))[0]));
  EXPECT_EQ(all(npy<std::uint64_t>(">f8", "(1,)", {0x000000000000f83f})), (Numbers{1.5}));
  EXPECT_EQ(all(npy<std::uint16_t>(">i2", "(2,)", {0x0100, 0xfeff})), (Numbers{1, -2}));
  EXPECT_EQ(all(npy<std::uint8_t>("|u1", "(2,)", {255, 3})), (Numbers{255, 3}));
  EXPECT_EQ(all(npy<std::int8_t>("|i1", "(2,)", {-1, 3})), (Numbers{-1, 3}));
  EXPECT_EQ(all(npy<std::uint8_t>("|b1", "(2,)", {1, 0})), (Numbers{1, 0}));
  EXPECT_EQ(all(npy<double>("<f8", "()", {2.5})), (Numbers{2.5}));
}

TEST_F(Npy, versions_two_and_three_have_longer_headers) {
  for (const int version : {2, 3})
    EXPECT_EQ(all(npy<double>("<f8", "(1,)", {4.5}, false, version)), (Numbers{4.5})) << version;
}

TEST_F(Npy, rows_are_read_from_anywhere) {
  const auto array = open(npy<double>("<f8", "(3, 2)", {1, 2, 3, 4, 5, 6}));

  EXPECT_EQ(array.shape_text(), "(3, 2)");
  EXPECT_EQ(array.row_size(), 2u);
  EXPECT_EQ(array.read_rows<double>(1, 2), (Numbers{3, 4, 5, 6}));
  EXPECT_EQ(array.read_rows<double>(3, 0), Numbers());
  EXPECT_MESSAGE(array.read_rows<double>(2, 2), "entries 2 to 4 were asked for, the shape is (3, 2)");
}

TEST_F(Npy, fortran_order_is_turned_into_c_order) {
  // Element (i, j, k) of shape (2, 3, 4) is 100 i + 10 j + k, i fastest in the file.
  Numbers fortran, c;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) fortran.push_back(100 * i + 10 * j + k);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) c.push_back(100 * i + 10 * j + k);
  const auto array = open(npy<double>("<f8", "(2, 3, 4)", fortran, true));

  EXPECT_EQ(array.read_rows<double>(0, 2), c);
  EXPECT_EQ(array.read_rows<double>(1, 1), Numbers(c.begin() + 12, c.end()));
}

TEST_F(Npy, what_is_not_read_is_refused_by_name) {
  const Numbers two{1, 2};
  EXPECT_MESSAGE(open(npy("<c16", "(1,)", two)),
                 "elements of type '<c16' are not read; expected real numbers");
  EXPECT_MESSAGE(open(npy("~f8", "(2,)", two)), "elements of type '~f8' are not read");
  EXPECT_MESSAGE(open(npy("|O", "(2,)", two)), "elements of type '|O' are not read");
  EXPECT_MESSAGE(open(files::replaced(npy("<f8", "(2,)", two), "'<f8'", "[('x', '<f8')]")),
                 "elements of type '[('x', '<f8')]");
  EXPECT_MESSAGE(open(npy("<f8", "(3,)", two)),
                 "truncated: shape (3,) of float64 needs 3 elements, there are 2");
  EXPECT_MESSAGE(open(npy("<f8", "(1,)", two)), "8 bytes more than shape (1,)");
  EXPECT_MESSAGE(open(npy("<f8", "(-2,)", two)), "negative extent -2");
  EXPECT_MESSAGE(open(npy("<f8", "(4294967296, 4294967296)", two)), "too large for any file");
  EXPECT_MESSAGE(open(npy("<f8", "2", two)), "expected (n, ...)");
  EXPECT_MESSAGE(open(npy("<f8", "(two,)", two)), "an extent of the shape is 'two'");
  EXPECT_MESSAGE(open(npy("<f8", "(2,)", two, false, 9)), "version 9 is not known");
  EXPECT_MESSAGE(open(files::replaced(npy("<f8", "(2,)", two), "False", "Maybe")), "expected True or False");
  EXPECT_MESSAGE(open(files::replaced(npy("<f8", "(2,)", two), "shape", "sheep")), "has no 'shape'");
  EXPECT_MESSAGE(open("not numpy at all"), "this is no .npy file");
  EXPECT_MESSAGE(open(npy("<f8", "(2,)", two)).read_rows<std::int64_t>(0, 1),
                 "elements are float64, integers were expected");
  EXPECT_MESSAGE(NpyFile("/nowhere/a.npy"), "there is no such file");
}

TEST_F(Npy, a_file_cut_anywhere_is_refused) {
  const auto content = npy<double>("<f8", "(3, 2)", {1, 2, 3, 4, 5, 6});
  for (std::size_t n = 0; n < content.size(); ++n) EXPECT_MESSAGE(open(content.substr(0, n)), "a.npy");
}

}  // namespace
