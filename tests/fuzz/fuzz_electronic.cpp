#include <filesystem>
#include <fstream>
#include <memory>

#include "io/config/tree.hpp"
#include "physics/electronic/files/matrix_files.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/electronic/matrix/blocking.hpp"
#include "tests/fuzz/reader.hpp"

/// Readers of Kohn-Sham and overlap matrices.
namespace quintet::fuzz {
namespace {

using namespace electronic;

const std::vector<Triplet> elements{{0, 0, -0.5}, {1, 1, 0.25}, {2, 2, 1.5}, {3, 3, -1e-3},
                                    {0, 1, 0.1},  {1, 0, 0.1},  {2, 3, -2},  {3, 2, -2}};

BlockMatrix assembled(const std::shared_ptr<const Blocking>& blocking, std::span<const Triplet> list) {
  const auto comm = Comm::self();
  return assemble(comm, blocking, list, share_columns(comm, *blocking), 1e300);
}

/// A matrix of four rows, written by ourselves.
std::vector<std::string> sample(MatrixFormat format) {
  return {written("a", [&](const std::string& path) {
    const auto blocking = std::make_shared<const Blocking>(uniform_blocking(4, 2));
    write_matrix(assembled(blocking, elements), path, format, {"hartree", "A matrix.", {}, 0});
  })};
}

void read_as(const std::string& path, MatrixFormat format) {
  const auto comm = Comm::self();
  const auto matrix = read_matrix(comm, path, format, std::nullopt);
  if (matrix.n_rows > 5000) return;
  const auto blocking = std::make_shared<const Blocking>(
      matrix.blocking ? *matrix.blocking : uniform_blocking(matrix.n_rows, 1));
  static_cast<void>(assembled(blocking, matrix.elements));
}

Reader of(const MatrixFormatRow& row) {
  const auto format = row.value;
  return {std::string(row.name), std::string("a") + row.ending, [format] { return sample(format); },
          [format](const std::string& path) { read_as(path, format); }};
}

RealSpaceMatrix crystal() {
  return {
      2, {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}}, {{{0, 0, 1}, {1, 1, 2}}, {{0, 1, 0.5}}, {{1, 0, 0.5}}}, "", {}};
}

void read_crystal(const std::string& path) {
  const auto comm = Comm::self();
  auto matrix = read_real_space(comm, path);
  if (matrix.n_rows > 5000) return;
  compare_images(path, matrix, {3, 2, 1}, 1e-8, Triangle::one);
  static_cast<void>(fold(comm, matrix, {3, 2, 1}));
}

std::vector<std::string> lists() {
  const std::string k =
      "       1       1    0.10000000000000E+001\n       2       2    0.20000000000000E+001\n";
  return {packed({{"list", "0 0 0 a.csr\n1 0 0 b.csr # shift\n-1 0 0 b.csr\n"}, {"a.csr", k}, {"b.csr", k}})};
}

}  // namespace

std::vector<Reader> readers() {
  std::vector<Reader> list;
  for (const auto& row : matrix_formats()) list.push_back(of(row));
  const std::vector<Reader> others{
      {"unnamed_matrix", "a",
       [] {
         auto all = sample(MatrixFormat::cp2k_text);
         for (const auto format :
              {MatrixFormat::elsi_csc, MatrixFormat::matrix_market, MatrixFormat::cp2k_binary})
           all.push_back(sample(format).front());
         for (const char* text : {"array real symmetric\n2 2\n1\n0.5\n-2.0-101\n",
                                  "coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 2 0.5 1e-9"})
           all.push_back(written("a", [text](const std::string& path) {
             std::ofstream(path) << "%%MatrixMarket matrix " << text;
           }));
         return all;
       },
       [](const std::string& path) { read_as(path, MatrixFormat::automatic); }},
      {"real_space_hdf5", "a.h5",
       [] {
         return std::vector{written(
             "a.h5", [](const std::string& path) { write_real_space(Comm::self(), crystal(), path); })};
       },
       read_crystal},
      {"real_space_list", "archive", lists,
       [](const std::string& path) { read_crystal(unpack(path) + "/list"); }}};
  list.insert(list.end(), others.begin(), others.end());
  return list;
}

}  // namespace quintet::fuzz
