#include "physics/electronic/density/kept_root.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/electronic/files/file_sink.hpp"
#include "physics/electronic/files/matrix_files.hpp"

namespace quintet::electronic {

namespace {

constexpr const char* precision = "float64";
constexpr const char* remedy = "name another file, which is then made, or remove this one";

/// A step of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::string hexadecimal(std::uint64_t number) { return fmt::format("{:016x}", number); }

}  // namespace

std::uint64_t fingerprint(const BlockMatrix& matrix) {
  unsigned long sum = 0;
  for (const Triplet& e : elements(matrix)) {
    const double value = e.value == 0 ? 0 : e.value;  // -0 is 0
    const auto place = static_cast<std::uint64_t>(e.row) << 32 | static_cast<std::uint32_t>(e.column);
    sum += mixed(mixed(place) ^ std::bit_cast<std::uint64_t>(value));
  }
  return matrix.comm.sum(sum);
}

namespace {

/// A name beside `path` that no other process has, on this machine or another, and the same on all ranks.
std::string own_name(const Comm& comm, const std::string& path) {
  std::array<char, 65> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  return comm.broadcast(fmt::format("{}.{}.{}", path, host.data(), ::getpid()));
}

void write_root_as(const std::string& unfinished, const KeptRoot& root, const BlockMatrix& s,
                   const std::string& path, const hdf5::Provenance& provenance) {
  write_matrix(root.made.z, unfinished, MatrixFormat::quintet_hdf5,
               {"1", root.local ? "S^-1/2 of the blocks' orthogonal functions" : "S^-1/2", provenance});
  const std::string of_s = hexadecimal(fingerprint(s)), of_values = hexadecimal(fingerprint(root.made.z));
  auto file = hdf5::File::open_for_update(s.comm, unfinished);
  auto& attributes = file.root();
  attributes.set_attribute("overlap_fingerprint", of_s);
  attributes.set_attribute("fingerprint", of_values);
  attributes.set_attribute("precision", std::string(precision));
  attributes.set_attribute("threshold", root.threshold);
  attributes.set_attribute("local_basis", root.local ? 1 : 0);
  attributes.set_attribute("residual", root.made.residual);
  attributes.set_attribute("degree", root.made.degree);
  attributes.set_attribute("condition", root.made.condition);
  file.close();
  give_name(s.comm, unfinished, path);
}

}  // namespace

void write_root(const KeptRoot& root, const BlockMatrix& s, const std::string& path,
                const hdf5::Provenance& provenance) {
  const std::string unfinished = own_name(s.comm, path);  // runs at once name one file: the last one stays
  try {
    write_root_as(unfinished, root, s, path, provenance);
  } catch (const ResourceError&) {  // on all ranks
    if (s.comm.is_root())
      for (const char* ending : {"", ".unfinished"})
        static_cast<void>(std::remove((unfinished + ending).c_str()));
    throw;
  }
}

KeptRoot read_root(const std::string& path, const BlockMatrix& s, double threshold) {
  std::string of_s, of_values, of_precision;
  double kept_threshold = 0;
  KeptRoot root{{BlockMatrix(s.comm)}};
  {
    const auto file = hdf5::File::open(s.comm, path);
    const auto& attributes = file.root();
    for (const char* name : {"overlap_fingerprint", "fingerprint", "precision", "threshold", "local_basis",
                             "residual", "degree", "condition"})
      QUINTET_CHECK(attributes.has_attribute(name),
                    "{}: is no file that keeps S^-1/2 (it has no attribute {}); {}", path, name, remedy);
    of_s = attributes.text_attribute("overlap_fingerprint");
    of_values = attributes.text_attribute("fingerprint");
    of_precision = attributes.text_attribute("precision");
    kept_threshold = attributes.number_attribute("threshold").at(0);
    root.local = attributes.integer_attribute("local_basis") != 0;
    root.made.residual = attributes.number_attribute("residual").at(0);
    root.made.degree = attributes.integer_attribute("degree");
    root.made.condition = attributes.number_attribute("condition").at(0);
  }
  root.threshold = kept_threshold;
  const int n_rows = s.blocking->n_rows();
  QUINTET_CHECK(of_s == hexadecimal(fingerprint(s)), "{}: keeps S^-1/2 of another overlap matrix S; {}", path,
                remedy);
  QUINTET_CHECK(of_precision == precision, "{}: keeps S^-1/2 in {}, where {} is needed; {}", path,
                of_precision, precision, remedy);
  QUINTET_CHECK(kept_threshold <= threshold,
                "{}: keeps S^-1/2 of threshold {:.3g}, which is too coarse for {:.3g}; {}", path,
                kept_threshold, threshold, remedy);
  const MatrixFile file = read_matrix(s.comm, path, MatrixFormat::quintet_hdf5, std::nullopt);
  QUINTET_CHECK(file.n_rows == n_rows && file.blocking && *file.blocking == *s.blocking,
                "{}: keeps S^-1/2 of other blocks ({} of them, here {}); {}", path,
                file.blocking ? file.blocking->n_blocks() : 0, s.blocking->n_blocks(), remedy);
  constexpr double any_asymmetry = -1;  // as it was written, to the bit
  root.made.z = assemble(s.comm, s.blocking, file.elements, s.rank_begin, any_asymmetry);
  QUINTET_CHECK(of_values == hexadecimal(fingerprint(root.made.z)),
                "{}: is damaged: its elements are not those that were written; {}", path, remedy);
  return root;
}

}  // namespace quintet::electronic
