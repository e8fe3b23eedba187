#include "physics/electronic/files/matrix_files.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>

#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "tests/unit/electronic/dense_twin.hpp"
#include "tests/unit/electronic/file_cases.hpp"

namespace quintet::electronic {
namespace {

class EveryFormat : public ::testing::TestWithParam<MatrixFormat> {
 protected:
  const Comm comm = Comm::world();
  const SharedScratch folder{comm, "matrix_files"};

  /// K of a chain of molecules, with orbitals in an order of their own.
  [[nodiscard]] static BlockMatrix chain(const Comm& comm) {
    MoleculeChain chain;
    chain.n_molecules = 9;
    chain.decay = 0.15;  // five blocks a column
    const auto pair = sample(comm, chain);
    auto blocking = uniform_blocking(pair.n_rows, chain.n_orbitals);
    for (int i = 0; i < pair.n_rows; ++i) blocking.order.push_back((5 * i + 2) % pair.n_rows);
    const auto shared = std::make_shared<const Blocking>(blocking);
    return assemble(comm, shared, pair.k, share_columns(comm, *shared), 0);
  }
  [[nodiscard]] static std::string ending() { return row_of(matrix_formats(), GetParam()).ending; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder / (name + ending()); }
  /// Digits that the format keeps.
  [[nodiscard]] double relative_error() const { return GetParam() == MatrixFormat::cp2k_text ? 5e-14 : 0; }
};

TEST_P(EveryFormat, comes_back_on_any_number_of_ranks) {
  const auto matrix = chain(comm);
  const auto expected = dense_of(matrix);
  MatrixLabels labels;
  labels.units = "hartree";

  write_matrix(matrix, path("k"), GetParam(), labels);

  const auto halves = comm.split(comm.rank() / 2, comm.rank());
  for (const auto& readers : {comm, Comm::self(), halves})
    for (const auto format : {GetParam(), MatrixFormat::automatic}) {
      const auto file = read_matrix(readers, path("k"), format, std::nullopt);
      EXPECT_EQ(file.format, GetParam());
      EXPECT_EQ(file.n_rows, 54);
      const auto found = dense_of(readers, file.n_rows, file.elements);
      for (std::size_t k = 0; k < found.m.size(); ++k)
        ASSERT_NEAR(found.m[k], expected.m[k], relative_error() * std::abs(expected.m[k])) << k;
    }
}

TEST_P(EveryFormat, has_the_same_bytes_whatever_the_number_of_ranks) {
  if (GetParam() == MatrixFormat::quintet_hdf5) GTEST_SKIP() << "HDF5 files name their date and ranks";
  write_matrix(chain(comm), path("by_all"), GetParam());
  write_matrix(chain(Comm::self()), path("by_" + std::to_string(comm.rank())), GetParam());

  EXPECT_EQ(bytes_of(path("by_all")), bytes_of(path("by_" + std::to_string(comm.rank()))));
  EXPECT_FALSE(bytes_of(path("by_all")).empty());
}

TEST_P(EveryFormat, ranks_share_the_elements_evenly) {
  write_matrix(chain(comm), path("k"), GetParam());

  const auto file = read_matrix(comm, path("k"), MatrixFormat::automatic, 54);

  const long mine = file.elements.size(), all = comm.sum(mine);
  EXPECT_NEAR(mine, static_cast<double>(all) / comm.size(),
              GetParam() == MatrixFormat::matrix_market ? 0.1 * all : 2);
}

TEST_P(EveryFormat, a_wrong_number_of_rows_is_refused) {
  write_matrix(chain(comm), path("k"), GetParam());

  const auto fewer = refusal(comm, path("k"), MatrixFormat::automatic, 53);

  EXPECT_TRUE(fewer.find("53") != std::string::npos && fewer.find("54") != std::string::npos) << fewer;
}

TEST_P(EveryFormat, a_file_cut_anywhere_is_refused) {
  write_matrix(chain(comm), path("whole"), GetParam());
  const auto bytes = bytes_of(path("whole"));
  const auto cut = [&](std::size_t size) { return folder.with("cut" + ending(), bytes.substr(0, size)); };

  for (const auto size :
       {std::size_t{0}, std::size_t{3}, std::size_t{18}, bytes.size() / 3 + 1, bytes.size() - 3}) {
    const auto message = refusal(comm, cut(size));

    EXPECT_NE(message, "no error") << size;
    EXPECT_EQ(message.find("ranks differ"), std::string::npos) << message;
    EXPECT_NE(message.find("cut."), std::string::npos) << message;
  }
}

TEST_P(EveryFormat, read_as_another_format_is_refused_with_its_name) {
  write_matrix(chain(comm), path("k"), GetParam());
  for (const auto& row : matrix_formats()) {
    const auto format = row.value;
    if (format == GetParam()) continue;

    const auto message = refusal(comm, path("k"), format);

    EXPECT_NE(message.find("is a file of format " + format_name(GetParam()) + ", not " + format_name(format)),
              std::string::npos)
        << message;
  }
}

TEST_P(EveryFormat, a_folder_that_is_not_there_is_an_input_error) {
  EXPECT_THROW(write_matrix(chain(comm), folder / "absent/k.csr", GetParam()), Error);
}

std::vector<MatrixFormat> all_formats() {
  std::vector<MatrixFormat> values;
  for (const auto& row : matrix_formats()) values.push_back(row.value);
  return values;
}

INSTANTIATE_TEST_SUITE_P(formats, EveryFormat, ::testing::ValuesIn(all_formats()),
                         [](const auto& info) { return format_name(info.param); });

TEST(MatrixFormats, one_without_a_row_is_an_error_of_ours_and_not_the_last_one) {
  const Comm comm = Comm::world();
  const SharedScratch folder(comm, "no_format");
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(4, 2));
  const std::vector<Triplet> none;
  const auto matrix = assemble(comm, blocking, none, share_columns(comm, *blocking), 0);
  const auto path = folder.with("k.txt", "       1       1    0.10000000000000E+001\n");

  for (const auto format : {MatrixFormat::automatic, static_cast<MatrixFormat>(99)})
    EXPECT_THROW(write_matrix(matrix, folder / "out", format), InternalError);
  EXPECT_THROW(static_cast<void>(read_matrix(comm, path, static_cast<MatrixFormat>(99), std::nullopt)),
               InternalError);
  EXPECT_THROW(static_cast<void>(format_name(MatrixFormat::automatic)), InternalError);
}

TEST(MatrixFormats, a_binary_file_whose_first_line_could_be_text_is_seen_for_what_it_is) {
  // NTPoly: 0x0a31 rows are the bytes of "1\n"; then columns, real, one element (row 3, column 3)
  const std::int32_t header[] = {0x0a31, 0x0a31, 0}, index[] = {3, 3};
  const std::int64_t count = 1;
  const double value = 0.5;
  std::string bytes;
  const auto put = [&bytes](const auto& x) { bytes.append(reinterpret_cast<const char*>(&x), sizeof x); };
  put(header);
  put(count);
  put(index);
  put(value);
  const Comm comm = Comm::world();
  const SharedScratch folder(comm, "text_or_binary");

  const auto file = read_matrix(comm, folder.with("m", bytes), MatrixFormat::automatic, std::nullopt);

  EXPECT_EQ(file.format, MatrixFormat::ntpoly_binary);
  EXPECT_EQ(file.n_rows, 0x0a31);
}

TEST(MatrixFiles, hdf5_keeps_units_blocks_and_order) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_blocks");
  auto blocking = std::make_shared<Blocking>(blocking_of_sizes(6, {1, 3, 2}));
  blocking->order = {4, 0, 5, 1, 3, 2};
  std::vector<Triplet> mine;
  if (comm.is_root()) mine = {{0, 0, 1.5}, {5, 1, -0.25}, {1, 5, -0.25}};
  const auto matrix = assemble(comm, blocking, mine, share_columns(comm, *blocking), 0);
  MatrixLabels labels;
  labels.units = "hartree";

  write_matrix(matrix, folder / "k.h5", MatrixFormat::quintet_hdf5, labels);
  const auto file = read_matrix(comm, folder / "k.h5", MatrixFormat::automatic, std::nullopt);

  EXPECT_EQ(file.units, "hartree");
  ASSERT_TRUE(file.blocking);
  EXPECT_EQ(file.blocking->begin, blocking->begin);
  EXPECT_EQ(file.blocking->order, blocking->order);
}

TEST(MatrixFiles, cp2k_text_is_what_cp2k_writes) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_text");
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(2, 1));
  std::vector<Triplet> mine;
  if (comm.is_root()) mine = {{0, 0, -0.81915250497101}, {0, 1, 12.5e-200}, {1, 0, 12.5e-200}, {1, 1, 0}};

  write_matrix(assemble(comm, blocking, mine, share_columns(comm, *blocking), 0), folder / "k.csr",
               MatrixFormat::cp2k_text);

  EXPECT_EQ(bytes_of(folder / "k.csr"),
            "       1       1 -0.81915250497101E+000\n       1       2  0.12500000000000E-198\n"
            "       2       1  0.12500000000000E-198\n       2       2  0.00000000000000E+000\n");
}

/// Elements of a file of the given text or bytes.
std::vector<Triplet> read_bytes(const Comm& comm, const SharedScratch& folder, const std::string& bytes,
                                Triangle triangle = Triangle::both) {
  const auto file =
      read_matrix(comm, folder.with("m", bytes), MatrixFormat::automatic, std::nullopt, triangle);
  return comm.all_gather(std::span<const Triplet>(file.elements));
}

/// A matrix with indices so large and so few elements is refused; the message shows how they were read.
TEST(MatrixFiles, indices_that_touch_are_told_apart) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_touch");
  const auto path = folder / "m";
  if (comm.is_root())
    std::ofstream(path) << "1000000020000000 -0.81915250497101E+000\n"
                           "2000000010000000 -0.81915250497101E+000\n";
  comm.barrier();

  EXPECT_NE(refusal(comm, path).find("a matrix of 20000000 rows with 2 elements"), std::string::npos)
      << refusal(comm, path);
}

TEST(MatrixFiles, free_text_windows_lines_and_d_exponents_are_read) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_free");

  const auto found = read_bytes(comm, folder, "1 1 0.5D+01\r\n\r\n1 2 +1e-3\r\n2 1 1e-3\r\n");

  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].value, 5.0);
  EXPECT_EQ(found[1].value, 1e-3);
}

TEST(MatrixFiles, exponents_of_three_digits_without_a_letter_are_read) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_exponents");

  const auto found = read_bytes(comm, folder, "1 1 1.0-101\n2 2 -0.25+003\n3 3 -.5-300\n");

  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].value, 1e-101);
  EXPECT_EQ(found[1].value, -250);
  EXPECT_EQ(found[2].value, -0.5e-300);
}

TEST(MatrixFiles, a_last_line_without_a_line_feed_is_read_where_it_must_be_whole) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_no_end");
  const std::string market = "%%MatrixMarket matrix coordinate real general\n3 3 3\n";

  for (const std::string& text :
       {market + "1 1 0.1\n2 2 0.125\n3 3 0.1", market + "1 1 0.1\n2 2 0.125\n3 3 0.725",
        std::string("1 1 0.1\n2 2 0.125\n3 3 0.1"),
        std::string("1 1 -0.5E+001\n2 2 -0.5E+001\n3 3 0.6E+001")}) {
    const auto file = read_matrix(comm, folder.with("m", text), MatrixFormat::automatic, std::nullopt);

    EXPECT_EQ(comm.all_gather(std::span<const Triplet>(file.elements)).size(), 3U) << text;
    EXPECT_NE(file.reading.text().find("is whole, though it has no line feed"), std::string::npos) << text;
  }
}

TEST(MatrixFiles, dense_arrays_are_read_by_columns) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_array");
  const auto general = "%%MatrixMarket matrix array real general\n% text\n2 2\n1\n0.5\n0.5\n-3\n";
  const auto half = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n0.5\n0\n2\n-4\n3\n";

  EXPECT_EQ(dense_of(Comm::self(), 2, read_bytes(comm, folder, general)).m,
            (std::vector<double>{1, 0.5, 0.5, -3}));
  const auto found = read_bytes(comm, folder, half);
  EXPECT_EQ(found.size(), 7U);  // zeros are no elements
  EXPECT_EQ(dense_of(Comm::self(), 3, found).m, (std::vector<double>{1, 0.5, 0, 0.5, 2, -4, 0, -4, 3}));
}

TEST(MatrixFiles, elements_of_an_array_keep_their_order) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_columns");
  std::string text = "%%MatrixMarket matrix array real general\n5 5\n";
  for (int k = 0; k < 25; ++k) text += fmt::format("{}\n", k + 1);

  const auto dense = dense_of(Comm::self(), 5, read_bytes(comm, folder, text));

  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) EXPECT_EQ(dense(i, j), 5 * j + i + 1);
}

TEST(MatrixFiles, hermitian_matrices_without_imaginary_parts_are_symmetric) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_hermitian");
  const std::string head = "%%MatrixMarket matrix coordinate ";

  for (const auto& text :
       {head + "real hermitian\n2 2 3\n1 1 1\n2 1 0.5\n2 2 2\n",
        head + "complex hermitian\n2 2 3\n1 1 1 0\n2 1 0.5 -3e-17\n2 2 2 0\n",
        std::string("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n0.5 0.9e-8\n2 0\n")})
    EXPECT_EQ(dense_of(Comm::self(), 2, read_bytes(comm, folder, text)).m,
              (std::vector<double>{1, 0.5, 0.5, 2}));
  EXPECT_NE(refusal(comm, folder.with("c", head + "complex hermitian\n2 2 2\n1 1 1 0\n2 1 0.5 1.1e-8\n"))
                .find("imaginary part 1.1e-08"),
            std::string::npos);
}

TEST(MatrixFiles, matrix_market_keeps_the_unit_that_it_was_written_with) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_unit");
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";

  const auto read = [&](const std::string& text) {
    const auto path = folder.with("m", head + text + "1 1 1\n1 1 2\n");
    return read_matrix(comm, path, MatrixFormat::automatic, std::nullopt).units;
  };
  EXPECT_EQ(read("% Kohn-Sham matrix. Unit: eV.\n"), "eV");
  EXPECT_EQ(read("% Kohn-Sham matrix. Unit: 1.\n"), "1");
  EXPECT_EQ(read("% Unit of length: bohr\n"), "");
}

TEST(MatrixFiles, single_precision_records_are_read) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_single");

  const auto found = read_bytes(comm, folder, raw(12, 1, 1, 0.5F, 12) + raw(12, 2, 2, -0.25F, 12));

  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].row, 1);
  EXPECT_EQ(found[1].value, -0.25);
}

TEST(MatrixFiles, one_triangle_is_completed_where_it_is_said) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_half");
  const auto half = cp2k_record(1, 1, 1) + cp2k_record(1, 3, 0.5) + cp2k_record(2, 2, 2);
  const auto marked =
      "%%MatrixMarket matrix coordinate real symmetric\n% text\n\n3 3 3\n1 1 1\n3 1 0.5\n2 2 2\n";

  for (const auto& found :
       {read_bytes(comm, folder, half, Triangle::one), read_bytes(comm, folder, marked)}) {
    EXPECT_EQ(found.size(), 4U);
    const auto dense = dense_of(Comm::self(), 3, found);
    EXPECT_EQ(dense.m, (std::vector<double>{1, 0, 0.5, 0, 2, 0, 0.5, 0, 0}));
  }
}

TEST(MatrixFiles, rows_under_the_threshold_are_given_by_the_user) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_rows");
  const auto path = folder.with("k.csr", cp2k_record(1, 1, 1));

  EXPECT_EQ(read_matrix(comm, path, MatrixFormat::automatic, std::nullopt).n_rows, 1);
  EXPECT_EQ(read_matrix(comm, path, MatrixFormat::automatic, 4).n_rows, 4);
}

TEST(MatrixFiles, long_text_is_shared_without_loss_at_every_boundary) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "matrix_files_long");
  std::string text;
  for (int i = 1; i <= 500; ++i) text += fmt::format("{} {} {}\n", i, i, i * (i % 3 == 0 ? 1e-7 : 1.0));

  for (std::size_t lines_off = 0; lines_off < 7; ++lines_off) {
    auto part = text;
    for (std::size_t k = 0; k < lines_off; ++k) part.erase(part.rfind('\n', part.size() - 2) + 1);
    const auto found = read_bytes(comm, folder, part);

    ASSERT_EQ(found.size(), 500 - lines_off);
    for (std::size_t k = 0; k < found.size(); ++k) ASSERT_EQ(found[k].row, static_cast<int>(k));
  }
}

}  // namespace
}  // namespace quintet::electronic
