#include "io/hdf5/seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/hdf5/detail.hpp"

namespace quintet::hdf5 {
namespace {

/// The last bytes of a sealed file.
struct Seal {
  std::uint64_t magic = 0x31'4c'41'45'53'5f'54'51ULL;  ///< "QT_SEAL1"
  std::uint64_t bytes = 0;                             ///< of the file before the seal
  std::uint64_t checksum = 0;                          ///< of these bytes
};
static_assert(sizeof(Seal) == seal_bytes);

constexpr std::uint64_t block_bytes = 1 << 24;  ///< of one checksum; the blocks go round the ranks
constexpr std::uint64_t piece_bytes = 1 << 20;  ///< held at a time

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : path_(path), number_(::open(path.c_str(), flags | O_CLOEXEC)) {
    QUINTET_CHECK(number_ >= 0, "{}: cannot open it: {}", path, std::strerror(errno));
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void read(std::span<std::byte> bytes, std::uint64_t offset) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::pread(number_, bytes.data() + done, bytes.size() - done, offset + done);
      if (n < 0 && errno == EINTR) continue;
      QUINTET_CHECK(n > 0, "{}: cannot read byte {}: {}", path_, offset + done,
                    n < 0 ? std::strerror(errno) : "the file ends before it");
      done += n;
    }
  }
  void write(std::span<const std::byte> bytes, std::uint64_t offset) const {
    const ssize_t n = ::pwrite(number_, bytes.data(), bytes.size(), offset);
    if (n == static_cast<ssize_t>(bytes.size())) return;
    throw ResourceError(fmt::format("{}: cannot write its checksum: {}", path_,
                                    n < 0 ? std::strerror(errno) : "the disk is full"));
  }

 private:
  std::string path_;
  int number_;
};

/// Checksums of this rank's blocks among the first `bytes` bytes.
std::vector<std::uint64_t> own_block_sums(const Comm& comm, const std::string& path, std::uint64_t bytes) {
  const Descriptor file(path, O_RDONLY);
  std::vector<std::byte> piece(std::min(bytes, piece_bytes));
  std::vector<std::uint64_t> sums((bytes + block_bytes - 1) / block_bytes, 0);
  for (std::size_t i = comm.rank(); i < sums.size(); i += comm.size()) {
    const std::uint64_t end = std::min(bytes, (i + 1) * block_bytes);
    Xxh64 sum;
    for (std::uint64_t at = i * block_bytes; at < end; at += piece_bytes) {
      const auto part = std::span(piece).first(std::min(piece_bytes, end - at));
      file.read(part, at);
      sum.add(part);
    }
    sums[i] = sum.value();
  }
  return sums;
}

/// XXH64 of the blocks' XXH64 sums: the same for any number of ranks.
std::uint64_t file_checksum(const Comm& comm, const std::string& path, std::uint64_t bytes) {
  std::vector<std::uint64_t> sums;
  together(comm, [&] { sums = own_block_sums(comm, path, bytes); });
  if (comm.size() > 1) comm.reduce(std::span<std::uint64_t>(sums), Comm::Reduction::sum);
  return xxh64(std::as_bytes(std::span(sums)));
}

/// The seal of a file, if it has one; read on rank 0, known to all.
std::optional<Seal> read_seal(const Comm& comm, const std::string& path) {
  Seal seal;
  std::uint64_t total = 0;
  on_root(comm, [&] {
    QUINTET_CHECK(std::filesystem::is_regular_file(path), "{}: no such file", path);
    total = std::filesystem::file_size(path);
    if (total < sizeof(Seal)) return;
    Descriptor(path, O_RDONLY).read(std::as_writable_bytes(std::span(&seal, 1)), total - sizeof(Seal));
  });
  seal = comm.broadcast(seal);
  total = comm.broadcast(total);
  const bool found =
      total >= sizeof(Seal) && seal.magic == Seal{}.magic && seal.bytes == total - sizeof(Seal);
  return found ? std::optional(seal) : std::nullopt;
}

void check(const Comm& comm, const std::string& path, const Seal& seal) {
  const std::uint64_t found = file_checksum(comm, path, seal.bytes);
  QUINTET_CHECK(found == seal.checksum, "{}: checksum is {:016x}, but {:016x} was written: it is corrupt",
                path, found, seal.checksum);
}

}  // namespace

void seal(const Comm& comm, const std::string& path) {
  Seal seal;
  on_root(comm, [&] { seal.bytes = std::filesystem::file_size(path); });
  seal.bytes = comm.broadcast(seal.bytes);
  seal.checksum = file_checksum(comm, path, seal.bytes);
  on_root(comm, [&] {
    Descriptor(path, O_WRONLY).write(std::as_bytes(std::span(&seal, 1)), seal.bytes);
    detail::sync_to_disk(path);
  });
}

bool is_sealed(const Comm& comm, const std::string& path) { return read_seal(comm, path).has_value(); }

void verify_checkpoint(const Comm& comm, const std::string& path) {
  const auto seal = read_seal(comm, path);
  QUINTET_CHECK(
      seal, "{}: does not end with the seal of a checkpoint: it is truncated, or it is no checkpoint", path);
  check(comm, path, *seal);
}

void verify_if_sealed(const Comm& comm, const std::string& path) {
  bool is_file = false;
  on_root(comm, [&] { is_file = std::filesystem::is_regular_file(path); });
  if (!comm.broadcast(is_file)) return;  // who opens it knows, or says why not
  if (const auto seal = read_seal(comm, path)) check(comm, path, *seal);
}

File open_verified(const Comm& comm, const std::string& path) {
  verify_if_sealed(comm, path);
  return File::open(comm, path);
}

std::optional<std::string> unseal(const Comm& comm, const std::string& path) {
  const auto found = read_seal(comm, path);
  if (!found) return std::nullopt;
  std::optional<std::string> damage;
  try {
    check(comm, path, *found);
  } catch (const InputError& error) {
    damage = error.what();
  }
  on_root(comm, [&] {
    std::error_code error;
    std::filesystem::resize_file(path, found->bytes, error);
    QUINTET_CHECK(!error, "{}: cannot be written: {}", path, error.message());
  });
  return damage;
}

}  // namespace quintet::hdf5
