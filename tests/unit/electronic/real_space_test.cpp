#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/kinetics_reference.hpp"
#include "tests/unit/electronic/dense_twin.hpp"
#include "tests/unit/electronic/file_cases.hpp"

namespace quintet::electronic {
namespace {

using kinetics::reference_absent;
using kinetics::reference_here;
using kinetics::reference_npz;
using kinetics::reference_path;

/// Beside the kinetics' reference data.
std::string water(const std::string& name) { return "../submatrix/" + name; }
const std::string water_cell = water("h2o_szv_lda_atomicguess_realspace.npz");

/// K or S of the water cell.
RealSpaceMatrix read_water(const std::string& name) {
  const auto arrays = reference_npz(water_cell);
  const auto &shifts = arrays.at("shifts"), &ptr = arrays.at(name + "_ptr"), &i = arrays.at(name + "_i"),
             &j = arrays.at(name + "_j"), &v = arrays.at(name + "_v");
  RealSpaceMatrix matrix;
  matrix.n_rows = arrays.at("nb").values.at(0);
  for (std::size_t q = 0; q < shifts.shape.at(0); ++q) {
    matrix.shift.push_back({static_cast<int>(shifts.at(q, 0)), static_cast<int>(shifts.at(q, 1)),
                            static_cast<int>(shifts.at(q, 2))});
    auto& list = matrix.elements.emplace_back();
    for (std::size_t e = ptr.values[q]; e < static_cast<std::size_t>(ptr.values[q + 1]); ++e)
      list.push_back(
          {static_cast<std::int32_t>(i.values[e]), static_cast<std::int32_t>(j.values[e]), v.values[e]});
  }
  return matrix;
}

double largest_difference(const Dense& a, const Dense& b) {
  EXPECT_EQ(a.n, b.n);
  double largest = 0;
  for (std::size_t k = 0; k < a.m.size(); ++k) largest = std::max(largest, std::abs(a.m[k] - b.m[k]));
  return largest;
}

TEST(Fold, of_one_water_cell_is_the_stored_matrix) {
  if (!reference_here(water_cell)) GTEST_SKIP() << reference_absent(water_cell);
  const auto comm = Comm::world();
  for (const auto& [name, file] : std::map<std::string, std::string>{{"K", "KS"}, {"S", "S"}}) {
    const auto folded = fold(comm, read_water(name), {1, 1, 1});

    const auto stored = read_matrix(comm, reference_path(water("h2o32_szv-" + file + ".csr")),
                                    MatrixFormat::automatic, std::nullopt);

    EXPECT_EQ(stored.format, MatrixFormat::cp2k_binary);
    ASSERT_EQ(folded.n_rows, 192);
    ASSERT_EQ(stored.n_rows, 192);
    const auto a = dense_of(comm, 192, folded.elements), b = dense_of(comm, 192, stored.elements);
    // up to eight images meet in an element; the order in which the stored ones were added is unknown
    EXPECT_LE(largest_difference(a, b), 4e-16) << name;
  }
}

TEST(Fold, of_two_water_cells_is_the_stored_matrix) {
  if (!reference_here(water_cell)) GTEST_SKIP() << reference_absent(water_cell);
  const auto comm = Comm::world();
  for (const auto& [name, file] : std::map<std::string, std::string>{{"K", "KS"}, {"S", "S"}}) {
    const auto folded = fold(comm, read_water(name), {2, 1, 1});

    const auto arrays = reference_npz(water("h2o64_szv-" + file + ".npz"));
    Dense stored(384);
    for (std::size_t row = 0; row < 384; ++row)
      for (std::size_t e = arrays.at("indptr").values[row];
           e < static_cast<std::size_t>(arrays.at("indptr").values[row + 1]); ++e)
        stored(row, static_cast<std::int64_t>(arrays.at("indices").values[e])) = arrays.at("data").values[e];

    ASSERT_EQ(folded.n_rows, 384);
    EXPECT_LE(largest_difference(dense_of(comm, 384, folded.elements), stored), 4e-16) << name;
  }
}

TEST(Fold, of_water_assembles_to_the_bit_symmetric) {
  if (!reference_here(water_cell)) GTEST_SKIP() << reference_absent(water_cell);
  const auto comm = Comm::world();
  const auto folded = fold(comm, read_water("K"), {2, 2, 1});
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(folded.n_rows, 6));

  const auto k = assemble(comm, blocking, folded.elements, share_columns(comm, *blocking), 0.0);

  EXPECT_EQ(comm.sum(k.n_columns()), 128);
}

/// A chain of cells of three orbitals with couplings up to the second neighbour.
RealSpaceMatrix small_crystal() {
  RealSpaceMatrix matrix;
  matrix.n_rows = 3;
  for (const auto& s : {std::array{0, 0, 0}, std::array{1, 0, 0}, std::array{-1, 0, 0}, std::array{2, 0, 0},
                        std::array{0, 1, 0}, std::array{0, -1, 1}, std::array{-3, 2, -1}}) {
    matrix.shift.push_back(s);
    auto& list = matrix.elements.emplace_back();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        if ((i + 2 * j + s[0]) % 4 != 1)
          list.push_back({i, j, noise(100 * s[0] + 10 * s[1] + s[2] + 5000, 3 * i + j)});
  }
  return matrix;
}

/// The definition, cell by cell.
Dense fold_by_definition(const RealSpaceMatrix& matrix, const std::array<int, 3>& n) {
  const int n_cells = n[0] * n[1] * n[2];
  const auto mod = [](int x, int m) { return ((x % m) + m) % m; };
  Dense sum(n_cells * matrix.n_rows);
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x)
        for (std::size_t q = 0; q < matrix.shift.size(); ++q) {
          const auto& s = matrix.shift[q];
          const int c = (z * n[1] + y) * n[0] + x,
                    d = (mod(z + s[2], n[2]) * n[1] + mod(y + s[1], n[1])) * n[0] + mod(x + s[0], n[0]);
          for (const auto& e : matrix.elements[q])
            sum(c * matrix.n_rows + e.row, d * matrix.n_rows + e.column) += e.value;
        }
  Dense result(n_cells * matrix.n_rows);
  for (std::size_t i = 0; i < sum.n; ++i)
    for (std::size_t j = 0; j < sum.n; ++j)
      result.m[i * sum.n + j] = (sum.m[i * sum.n + j] + sum.m[j * sum.n + i]) / 2;
  return result;
}

TEST(Fold, follows_the_definition_in_boxes_smaller_and_larger_than_the_range) {
  const auto comm = Comm::world();
  const auto matrix = small_crystal();
  for (const auto& box : {std::array{1, 1, 1}, std::array{2, 1, 1}, std::array{1, 3, 2}, std::array{4, 2, 3},
                          std::array{7, 1, 1}}) {
    const auto folded = fold(comm, matrix, box);

    const auto found = dense_of(comm, folded.n_rows, folded.elements);
    EXPECT_LE(largest_difference(found, fold_by_definition(matrix, box)), 1e-15);
    for (std::size_t i = 0; i < found.n; ++i)
      for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(found.m[i * found.n + j], found.m[j * found.n + i]);
  }
}

TEST(Fold, refuses_boxes_that_are_empty_or_too_large) {
  const auto comm = Comm::world();

  EXPECT_THROW(static_cast<void>(fold(comm, small_crystal(), {2, 0, 1})), InputError);
  EXPECT_THROW(static_cast<void>(fold(comm, small_crystal(), {2, -3, 1})), InputError);
  EXPECT_THROW(static_cast<void>(fold(comm, small_crystal(), {100000, 100000, 100000})), InputError);
}

/// A ring of cells of two sites: K(0,0), K(0,1) and, unless half is wanted, K(0,-1).
RealSpaceMatrix ring(bool half = false) {
  RealSpaceMatrix matrix;
  matrix.n_rows = 2;
  matrix.shift = {{0, 0, 0}, {1, 0, 0}};
  matrix.elements = {{{0, 0, -0.25}, {0, 1, -0.28}, {1, 0, -0.28}, {1, 1, -0.25}}, {{1, 0, -0.18}}};
  if (half) return matrix;
  matrix.shift.push_back({-1, 0, 0});
  matrix.elements.push_back({{0, 1, -0.18}});
  return matrix;
}

/// What compare_images() says of a matrix, or "no error".
std::string images_refusal(RealSpaceMatrix matrix, const std::array<int, 3>& box = {6, 1, 1},
                           Triangle triangle = Triangle::both, double asymmetry = 1e-8) {
  try {
    compare_images("k.list", matrix, box, asymmetry, triangle);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << part << " | " << message;
}

TEST(Images, that_are_transposed_of_each_other_are_taken) {
  for (const auto& box :
       {std::array{1, 1, 1}, std::array{2, 1, 1}, std::array{3, 2, 1}, std::array{6, 1, 1}}) {
    EXPECT_EQ(images_refusal(ring(), box), "no error");
    EXPECT_EQ(images_refusal(ring(), box, Triangle::one), "no error");
  }
  auto uneven = ring();
  uneven.elements[2][0].value += 0.9e-8;
  EXPECT_EQ(images_refusal(uneven), "no error");
  uneven.elements[2][0].value += 0.2e-8;
  expect_says(images_refusal(uneven), "they may differ by 1e-08");
  EXPECT_EQ(images_refusal(uneven, {6, 1, 1}, Triangle::both, 1e-7), "no error");
}

TEST(Images, that_are_missing_are_named) {
  for (const auto& box : {std::array{1, 1, 1}, std::array{2, 1, 1}, std::array{6, 1, 1}})
    expect_says(images_refusal(ring(true), box), "k.list: the shift -1 0 0 is missing");
  auto noise = ring(true);  // as good as not there
  noise.elements[1][0].value = 1e-9;
  EXPECT_EQ(images_refusal(noise), "no error");
}

TEST(Images, of_one_orbital_cannot_hide_behind_their_own_symmetry) {
  RealSpaceMatrix chain;
  chain.n_rows = 1;
  chain.shift = {{0, 0, 0}, {0, 0, 1}};
  chain.elements = {{{0, 0, 1.0}}, {{0, 0, -0.2}}};

  expect_says(images_refusal(chain, {1, 1, 2}), "the shift 0 0 -1 is missing");
  EXPECT_EQ(images_refusal(chain, {1, 1, 2}, Triangle::one), "no error");
}

TEST(Images, that_contradict_each_other_are_named_with_both_values) {
  auto matrix = ring();
  matrix.elements[2][0].value = -0.17;
  for (const auto triangle : {Triangle::both, Triangle::one}) {
    const auto message = images_refusal(matrix, {6, 1, 1}, triangle);
    expect_says(message, "-0.18");
    expect_says(message, "-0.17");
    expect_says(message, "shift -1 0 0");
  }
  matrix.elements[2].clear();
  expect_says(images_refusal(matrix), "is absent");
}

TEST(Images, that_are_cells_of_the_box_are_compared_in_it) {
  auto matrix = ring();
  matrix.shift[2] = {2, 0, 0};
  EXPECT_EQ(images_refusal(matrix, {3, 1, 1}), "no error");
  expect_says(images_refusal(matrix, {4, 1, 1}), "is missing");
  matrix.elements[2][0].value = -0.17;
  expect_says(images_refusal(matrix, {3, 1, 1}), "is -0.17");
}

TEST(Images, of_one_triangle_are_completed_to_the_whole) {
  const auto comm = Comm::world();
  auto upper = ring();
  upper.elements[0].erase(upper.elements[0].begin() + 2);
  expect_says(images_refusal(upper), "matrices.triangle: one");
  for (auto half : {ring(true), upper}) {
    compare_images("k.list", half, {6, 1, 1}, 1e-8, Triangle::one);

    const auto whole = fold(comm, ring(), {6, 1, 1}), made = fold(comm, half, {6, 1, 1});
    EXPECT_EQ(dense_of(comm, 12, made.elements).m, dense_of(comm, 12, whole.elements).m);
    expect_says(half.reading.text(), "1 element is made from their transposed");
  }
}

void expect_equal(const RealSpaceMatrix& a, const RealSpaceMatrix& b) {
  EXPECT_EQ(a.n_rows, b.n_rows);
  ASSERT_EQ(a.shift, b.shift);
  for (std::size_t q = 0; q < a.shift.size(); ++q) {
    ASSERT_EQ(a.elements[q].size(), b.elements[q].size());
    for (std::size_t e = 0; e < a.elements[q].size(); ++e) {
      EXPECT_EQ(a.elements[q][e].row, b.elements[q][e].row);
      EXPECT_EQ(a.elements[q][e].column, b.elements[q][e].column);
      EXPECT_EQ(a.elements[q][e].value, b.elements[q][e].value);
    }
  }
}

TEST(RealSpaceFiles, come_back_from_hdf5) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "real_space");

  write_real_space(comm, small_crystal(), folder / "crystal.h5");

  expect_equal(read_real_space(comm, folder / "crystal.h5"), small_crystal());
  EXPECT_NE(refusal(comm, folder / "crystal.h5").find("folded"), std::string::npos);
}

/// A list of files, each in CP2K's binary format.
std::string write_list(const SharedScratch& folder, const RealSpaceMatrix& matrix) {
  std::string list = "# shift and file\n\n";
  for (std::size_t q = 0; q < matrix.shift.size(); ++q) {
    std::string records;
    for (const auto& e : matrix.elements[q]) records += cp2k_record(e.row + 1, e.column + 1, e.value);
    static_cast<void>(folder.with(fmt::format("R_{}.csr", q + 1), records));
    const auto& s = matrix.shift[q];
    list += fmt::format("{} {} {}  R_{}.csr\n", s[0], s[1], s[2], q + 1);
  }
  return list;
}

TEST(RealSpaceFiles, come_from_a_list_of_files) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "real_space_list");
  const auto list = write_list(folder, small_crystal());

  const auto found = read_real_space(comm, folder.with("list.txt", list));

  expect_equal(found, small_crystal());
}

TEST(RealSpaceFiles, may_be_empty_or_marked_symmetric) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "real_space_empty");
  static_cast<void>(folder.with("zero.mtx",
                                "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
                                "1 1 -0.25\n2 1 -0.28\n2 2 -0.25\n"));
  static_cast<void>(folder.with("plus.csr", "2 1 -0.18\n"));
  static_cast<void>(folder.with("minus.csr", "1 2 -0.18\n"));
  static_cast<void>(folder.with("nothing.csr", ""));
  static_cast<void>(folder.with("blank.csr", " \n\n"));

  const auto matrix = read_real_space(
      comm, folder.with("k.list",
                        "0 0 0 zero.mtx\n1 0 0 plus.csr\n-1 0 0 minus.csr\n2 0 0 nothing.csr\n"
                        "-2 0 0 blank.csr\n"));

  ASSERT_EQ(matrix.shift.size(), 5U);
  EXPECT_EQ(dense_of(Comm::self(), 2, matrix.elements[0]).m,
            (std::vector<double>{-0.25, -0.28, -0.28, -0.25}));
  EXPECT_EQ(images_refusal(matrix), "no error");
  expect_says(matrix.reading.text(), "2 of 5 shifts have no elements (2 0 0, -2 0 0)");
  try {
    static_cast<void>(read_real_space(comm, folder.with("k.list", "0 0 0 nothing.csr\n1 0 0 plus.csr\n")));
    FAIL() << "no error";
  } catch (const InputError& error) {
    expect_says(error.what(), "the shift 0 0 0 has no elements");
  }
}

TEST(RealSpaceFiles, keep_their_unit_and_the_rows_that_are_given) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "real_space_unit");
  MatrixLabels labels;
  labels.units = "eV";

  write_real_space(comm, ring(), folder / "k.h5", labels);

  EXPECT_EQ(read_real_space(comm, folder / "k.h5").units, "eV");
  EXPECT_TRUE(read_real_space(comm, folder / "k.h5").reading.empty());
  EXPECT_EQ(fold(comm, read_real_space(comm, folder / "k.h5"), {2, 1, 1}).units, "eV");
  EXPECT_THROW(static_cast<void>(read_real_space(comm, folder / "k.h5", MatrixFormat::automatic, 3)),
               InputError);
  EXPECT_THROW(static_cast<void>(read_real_space(comm, folder / "k.h5", MatrixFormat::elsi_csc)), InputError);
  const auto list = folder.with("k.list", write_list(folder, ring()));
  EXPECT_EQ(read_real_space(comm, list, MatrixFormat::cp2k_binary, 5).n_rows, 5);
}

TEST(RealSpaceFiles, with_members_that_have_no_meaning_name_them) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "real_space_foreign");
  write_real_space(comm, ring(), folder / "k.h5");
  {
    auto file = hdf5::File::open_for_update(comm, folder / "k.h5");
    const std::vector<double> gamma{0, 0, 0};
    file.root().write("k_point", std::span<const double>(gamma), {3}, {"1", {"xyz"}, "Foreign."});
    file.close();
  }

  EXPECT_EQ(read_real_space(comm, folder / "k.h5").reading.text(), "not used: k_point");
}

TEST(RealSpaceFiles, of_bad_lists_are_refused) {
  const auto comm = Comm::world();
  const SharedScratch folder(comm, "real_space_bad");
  const auto list = write_list(folder, small_crystal());
  const auto message = [&](const std::string& text) -> std::string {
    try {
      static_cast<void>(read_real_space(comm, folder.with("list.txt", text)));
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };

  EXPECT_NE(message(list + "1 0 0 R_2.csr\n").find("shift 1 0 0 is there twice"), std::string::npos);
  EXPECT_NE(message("1 0 0 R_2.csr\n").find("shift 0 0 0 is missing"), std::string::npos);
  EXPECT_NE(message("0 0 R_1.csr\n").find("list.txt:1:"), std::string::npos);
  EXPECT_NE(message("0 0 0 R_1.csr\n0 x 0 R_2.csr\n").find("list.txt:2: 'x' is no integer"),
            std::string::npos);
  EXPECT_NE(message("0 0 0 R_99.csr\n").find("R_99.csr"), std::string::npos);
  EXPECT_NE(message("# nothing\n").find("names no shifts"), std::string::npos);
}

}  // namespace
}  // namespace quintet::electronic
