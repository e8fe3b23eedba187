#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

/// HDF5 with owned handles, metadata on every dataset and collective hyperslabs. The C library lives in
/// io/hdf5 alone.
namespace quintet::hdf5 {

/// Description of a dataset, stored as the attributes `units`, `axes` and `description`.
struct Description {
  std::string units = "1";        ///< "angstrom", "eV"; "1" if dimensionless
  std::vector<std::string> axes;  ///< names of the axes, slowest first: {"atom", "xyz"}
  std::string text;               ///< one sentence
};

using Shape = std::vector<std::uint64_t>;

/// A part of a dataset: `count[d]` elements from `start[d]` along each axis; nothing where a count is zero.
struct Box {
  Shape start, count;
};

/// Where the numbers of a chunked dataset lie in its file, for those who read them past HDF5.
struct ChunkMap {
  /// Bytes of a chunk in the file.
  struct Place {
    std::uint64_t at, bytes;
  };
  Shape shape, chunk;        ///< of the dataset, and of each of its chunks
  std::string element_type;  ///< "int16", "float32", in the byte order of this machine
  std::uint64_t element_size = 0;
  bool is_shuffled = false, is_deflated = false;  ///< how a chunk's bytes were made, in this order
  std::vector<Place> places;                      ///< of all chunks, the last axis fastest
};

// Element types T of datasets below: float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t,
// std::uint64_t.

/// An extensible dataset whose first axis grows (time series, trajectories).
class Series {
 public:
  /// Append one entry given whole on rank 0 (others pass anything). Collective.
  template <class T>
  void append(std::span<const T> entry);
  /// Append `n` entries, one after another, likewise, by one write. Collective.
  template <class T>
  void append_entries(std::uint64_t n, std::span<const T> entries);
  /// Append one entry distributed over the ranks along the entry's first axis: this rank's rows start at
  /// `offset`; a rank may have none, together they give each row once. Collective.
  template <class T>
  void append_distributed(std::span<const T> rows, std::uint64_t offset);
  [[nodiscard]] std::uint64_t size() const;  ///< entries so far
  /// Drop entries from `size` on (restart from an earlier checkpoint). Collective.
  ///
  /// HDF5 zeroes on the disk at once what is cut, the count follows with the next flush. Of several series
  /// that belong together, cut the one that counts first, and flush before the others.
  void truncate(std::uint64_t size);

  struct Implementation;
  explicit Series(std::shared_ptr<Implementation> implementation)
      : implementation_(std::move(implementation)) {}

 private:
  std::shared_ptr<Implementation> implementation_;
};

/// A group of an open file. All writing calls are collective over the file's communicator.
class Group {
 public:
  [[nodiscard]] Group group(const std::string& name);             ///< open or make (nested names allowed)
  [[nodiscard]] Group open_group(const std::string& name) const;  ///< must exist
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;        ///< members, sorted
  [[nodiscard]] bool is_group(const std::string& name) const;  ///< of a member that exists

  /// Write a whole dataset from rank 0's values. Replaces one of equal name.
  template <class T>
  void write(const std::string& name, std::span<const T> values, const Shape& shape,
             const Description& description);
  /// Write a dataset distributed along its first axis: this rank's rows start at `offset` of shape[0]; a rank
  /// may have none, together they give each row once.
  template <class T>
  void write_distributed(const std::string& name, std::span<const T> rows, const Shape& shape,
                         std::uint64_t offset, const Description& description);
  /// Make (or reopen) an extensible dataset with entries of shape `entry`.
  template <class T>
  [[nodiscard]] Series series(const std::string& name, const Shape& entry, const Description& description);

  /// Shape of a dataset. Throws InputError if absent.
  [[nodiscard]] Shape shape(const std::string& name) const;
  /// How far a dataset is whole along `axis`: its extent, or less where a writer that was killed left its
  /// data behind. Collective. Throws InputError if absent.
  [[nodiscard]] std::uint64_t whole_rows(const std::string& name, std::size_t axis = 0) const;
  /// Whole dataset, converted to T, on every rank. Collective. Throws InputError (file, dataset, what) if
  /// absent, truncated, not numeric, larger than the file, or if a value does not fit T (reals are never read
  /// as integers).
  template <class T>
  [[nodiscard]] std::vector<T> read(const std::string& name) const;
  /// Read as read() does; the shape must equal `expected`.
  template <class T>
  [[nodiscard]] std::vector<T> read(const std::string& name, const Shape& expected) const;
  /// Rows [offset, offset + count) along the first axis; each rank asks for its own. Collective.
  template <class T>
  [[nodiscard]] std::vector<T> read_rows(const std::string& name, std::uint64_t offset,
                                         std::uint64_t count) const;

  /// Make a dataset of which one axis (number `growing`) may grow and shrink, stored in chunks of this shape;
  /// all of its space is taken at once.
  template <class T>
  void make_growing(const std::string& name, const Shape& shape, std::size_t growing, const Shape& chunk,
                    const Description& description);
  /// Give a dataset of make_growing() another extent; what is cut is lost. Collective.
  void resize(const std::string& name, const Shape& shape);
  /// Write this rank's part of a dataset that is there; parts must not overlap. Collective.
  template <class T>
  void write_box(const std::string& name, std::span<const T> values, const Box& box);
  /// A part of a dataset, row-major; each rank asks for its own. Collective. Errors as read().
  template <class T>
  [[nodiscard]] std::vector<T> read_box(const std::string& name, const Box& box) const;

  /// Where a dataset's numbers lie; nothing where they are not numbers of this machine's byte order in at
  /// most `most` chunks, all of them written, by shuffling and deflating alone. For files that nobody writes.
  [[nodiscard]] std::optional<ChunkMap> chunk_map(const std::string& name, std::uint64_t most) const;
  /// "float32", "float64", "int64", ... of a dataset.
  [[nodiscard]] std::string element_type(const std::string& name) const;

  void write_text(const std::string& name, const std::string& text, const Description& description = {});
  [[nodiscard]] std::string read_text(const std::string& name) const;
  /// All texts of a dataset (of any shape, fixed or variable length). Throws InputError as read().
  [[nodiscard]] std::vector<std::string> read_texts(const std::string& name) const;
  void set_attribute(const std::string& name, const std::string& text);
  void set_attribute(const std::string& name, double value);
  void set_attribute(const std::string& name, int value) { set_attribute(name, std::int64_t{value}); }
  void set_attribute(const std::string& name, std::int64_t value);
  void set_attribute(const std::string& name, std::uint64_t value);
  void set_attribute(const std::string& name, const std::vector<double>& values);
  void set_attribute(const std::string& name, const std::vector<std::int64_t>& values);
  void set_attribute(const std::string& name, const std::vector<std::string>& values);
  [[nodiscard]] bool has_attribute(const std::string& name) const;
  [[nodiscard]] std::string text_attribute(const std::string& name) const;  ///< fixed or variable length
  [[nodiscard]] std::vector<std::string> texts_attribute(const std::string& name) const;
  [[nodiscard]] std::vector<double> number_attribute(const std::string& name) const;
  [[nodiscard]] std::int64_t integer_attribute(const std::string& name) const;  ///< one integer, all 64 bits
  /// Attributes of a member dataset or group.
  void set_member_attribute(const std::string& member, const std::string& name, const std::string& text);
  void set_member_attribute(const std::string& member, const std::string& name,
                            const std::vector<std::string>& texts);
  void set_member_attribute(const std::string& member, const std::string& name, double value);
  void set_member_attribute(const std::string& member, const std::string& name,
                            const std::vector<std::int64_t>& values);
  [[nodiscard]] std::string member_text_attribute(const std::string& member, const std::string& name) const;
  [[nodiscard]] std::vector<std::string> member_texts_attribute(const std::string& member,
                                                                const std::string& name) const;
  /// Numbers, and truth values as h5py stores them (0 or 1).
  [[nodiscard]] std::vector<double> member_number_attribute(const std::string& member,
                                                            const std::string& name) const;
  [[nodiscard]] bool has_member_attribute(const std::string& member, const std::string& name) const;
  /// Make a hard link `name` to an existing member `target` (absolute path in the file). Collective.
  void link(const std::string& target, const std::string& name);

  struct Implementation;
  explicit Group(std::shared_ptr<Implementation> implementation)
      : implementation_(std::move(implementation)) {}

 private:
  std::shared_ptr<Implementation> implementation_;
};

/// An open HDF5 file; closed by the destructor. Collective over `comm`.
class File {
 public:
  /// Make or replace a file.
  static File create(const Comm& comm, const std::string& path);
  /// Open for reading. Throws InputError: absent, not HDF5, truncated.
  static File open(const Comm& comm, const std::string& path);
  /// Open for reading and writing.
  static File open_for_update(const Comm& comm, const std::string& path);

  [[nodiscard]] Group& root();
  [[nodiscard]] const Group& root() const;
  [[nodiscard]] const std::string& path() const;
  /// Throws InputError unless all texts and lists of variable length in attributes lie whole in the file:
  /// before a library that trusts them is given it. Collective.
  void check_attributes() const;
  /// Take the place on the disk of all that was made and grown so far, before anything is written there.
  /// Collective. Throws ResourceError if the disk or the quota is full: then nothing has been written, and
  /// what was grown can be cut again.
  void take_room();
  /// Bring all that was written to the disk. Collective. Throws ResourceError if the disk is full.
  void flush();
  /// Hand all that was written to the operating system, without waiting for the disk: it outlives this
  /// process however that ends, but not a failure of the machine. Collective. Throws ResourceError if the
  /// disk is full.
  void hand_over();
  /// Close early (the destructor does it otherwise, but cannot say that the disk was full). Collective.
  /// Groups and series of the file cannot be used afterwards. Throws ResourceError if the disk is full.
  void close();

  struct Implementation;

 private:
  explicit File(std::shared_ptr<Implementation> implementation)
      : implementation_(std::move(implementation)) {}
  std::shared_ptr<Implementation> implementation_;
};

/// Provenance of a file: who made it, and from what.
struct Provenance {
  std::string program;                               ///< "dpmd run"
  std::string version, git_hash, build, host, date;  ///< filled by current_provenance()
  std::string blas;                                  ///< which BLAS an executable uses, "" if none
  int ranks = 1, threads = 1;
  std::uint64_t seed = 0;
  std::string configuration;  ///< the full configuration as YAML
  std::string run;            ///< names the run, through all its restarts
  std::string inputs;   ///< the files that the configuration names: a YAML list of key, path, bytes, checksum
  std::string changes;  ///< made on restarts: a YAML list of step, date, key, from, to
};
/// Version, git hash, compiler and flags, host, date of this process; the rest is the caller's.
[[nodiscard]] Provenance current_provenance();
/// Read what write_header() wrote; keys that a file lacks stay empty.
[[nodiscard]] Provenance read_provenance(const Group& root);
/// Write `schema`, `schema_version`, configuration and provenance to the root of a file of ours.
void write_header(Group& root, const std::string& schema, int schema_version, const Provenance& provenance);
/// Check schema and version; returns the version found. Versions N and N-1 are read; for an older or a newer
/// one the InputError names the way up.
int check_header(const File& file, const std::string& schema, int newest_version);

/// Damage in a file: the first object that cannot be opened, or of which data lie outside of the file;
/// nothing without damage. Values are not checked, and rows missing at the end of a growing dataset do not
/// count (Group::whole_rows()). Collective. Throws InputError if the file does not exist or cannot be read
/// (it is locked, say).
[[nodiscard]] std::optional<std::string> damage(const Comm& comm, const std::string& path);

/// Text that `quintet inspect FILE.h5` prints: what the file is (a result, a checkpoint and whether it is
/// whole, a Deep Potential model, another HDF5 file), provenance, tree of datasets with shape, type, units.
/// Collective. Throws InputError if it is not an HDF5 file.
[[nodiscard]] std::string inspect(const Comm& comm, const std::string& path);

}  // namespace quintet::hdf5
