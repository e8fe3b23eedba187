#include <algorithm>
#include <memory>

#include "io/config/tree.hpp"
#include "io/config/units.hpp"
#include "physics/electronic/files/matrix_files.hpp"
#include "physics/electronic/matrix/blocking.hpp"
#include "tests/unit/particles/files/files_support.hpp"
#include "tests/unit/readers/reader_rows.hpp"

// Readers of matrices, and of YAML.

namespace quintet::readers {
namespace {

using namespace electronic;

const std::vector<Triplet> elements{{0, 0, -0.5}, {1, 1, 0.25}, {2, 2, 1.5}, {3, 3, -1e-3},
                                    {0, 1, 0.1},  {1, 0, 0.1},  {2, 3, -2},  {3, 2, -2}};

void write_as(const std::string& path, MatrixFormat format) {
  const auto comm = Comm::self();
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(4, 2));
  write_matrix(assemble(comm, blocking, elements, share_columns(comm, *blocking), 1e300), path, format,
               {"hartree", "A matrix.", {}, 0});
}

void put_elements(std::string& text, std::vector<Triplet> list) {
  std::sort(list.begin(), list.end(), [](const Triplet& a, const Triplet& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  for (const auto& e : list) put(text, std::array{double(e.row), double(e.column), e.value});
}

/// Rows, which some formats do not say, are not compared; nor are units, which not all formats have.
Answer read_any(const std::string& path) {
  const auto file = read_matrix(Comm::self(), path, MatrixFormat::automatic, std::nullopt);
  Answer answer{"", fmt::format("{} {} {}", file.reading.text(), file.units, file.n_rows)};
  put_elements(answer.values, file.elements);
  return answer;
}

Answer read_crystal(const std::string& path) {
  const auto crystal = read_real_space(Comm::self(), path);
  Answer answer{"", fmt::format("{} {}", crystal.reading.text(), crystal.units)};
  for (std::size_t q = 0; q < crystal.shift.size(); ++q) {
    put(answer.values, crystal.shift[q]);
    put_elements(answer.values, crystal.elements[q]);
  }
  return answer;
}

void write_crystal(const std::string& path) {
  write_real_space(
      Comm::self(),
      {2, {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}}, {{{0, 0, 1}, {1, 1, 2}}, {{0, 1, 0.5}}, {{1, 0, 0.5}}}, "", {}},
      path, {"hartree", "A crystal.", {}, 0});
}

void write_list(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string() + "/";
  files::put(folder + "a.csr", "       1       1    0.1E+001\n       2       2    0.2E+001\n");
  files::put(folder + "b.csr", "       1       2    0.5E+000\n");
  files::put(folder + "c.csr", "       2       1    0.5E+000\n");
  files::put(path, "0 0 0 a.csr\n1 0 0 b.csr\n-1 0 0 c.csr\n");
}

const std::string document = "a: 1.5\nb: 3\nc:\n  - 2.5\n  - -1e-3\nd: 2.5 fs\n";

Answer read_document(const std::string& path) {
  const auto tree = read_yaml(path);
  Answer answer;
  put(answer.values, std::array{tree.at("a").as_number(), double(tree.at("b").as_integer())});
  for (const auto& item : tree.at("c").items()) put(answer.values, std::array{item.as_number()});
  const auto& quantity = tree.at("d");
  try {
    put(answer.values, std::array{parse_quantity(quantity.as_text(), "ps")});
  } catch (const InputError& error) {  // as a schema does
    throw InputError(fmt::format("{}: {}", quantity.location().text(), error.what()));
  }
  return answer;
}

}  // namespace

std::vector<Row> matrix_rows() {
  std::vector<Row> rows;
  for (const auto& format : matrix_formats()) {
    const bool is_text =
        format.value == MatrixFormat::cp2k_text || format.value == MatrixFormat::matrix_market;
    rows.push_back({std::string(format.doc),
                    "matrix",
                    "a" + std::string(format.ending),
                    [value = format.value](const std::string& path) { write_as(path, value); },
                    read_any,
                    is_text,
                    {"/value@units"},
                    format.value == MatrixFormat::cp2k_binary});
  }
  const auto market = [&](const std::string& name, const std::string& text) {
    rows.push_back({name, "matrix", "a.mtx",
                    [text](const std::string& path) { files::put(path, "%%MatrixMarket matrix " + text); },
                    read_any, true});
  };
  market("MatrixMarket array", "array real symmetric\n2 2\n1.5\n0.5\n-2.25\n");
  market("MatrixMarket complex",
         "coordinate complex hermitian\n2 2 3\n1 1 1.5 0.0\n2 1 0.5 1e-9\n2 2 2.5 0.0\n");
  rows.push_back({"real-space HDF5",
                  "crystal",
                  "a.h5",
                  write_crystal,
                  read_crystal,
                  false,
                  {"/real_space/value@units"}});
  rows.push_back({"real-space list", "crystal", "list.txt", write_list, read_crystal, true});
  rows.push_back({"YAML", "document", "a.yaml", [](const std::string& path) { files::put(path, document); },
                  read_document, true});
  return rows;
}

}  // namespace quintet::readers
