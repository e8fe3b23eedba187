#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "io/hdf5/embedded_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

/// Types of elements that groups and series are instantiated for.
#define QUINTET_FOR_ELEMENTS(instantiate)                                                   \
  instantiate(float) instantiate(double) instantiate(std::int8_t) instantiate(std::uint8_t) \
      instantiate(std::int32_t) instantiate(std::int64_t) instantiate(std::uint64_t)

/// Details that the .cpp files of this folder share: owned handles, error translation. Not
/// installed.
namespace quintet::hdf5::detail {

/// Owns one HDF5 identifier; negative ones (failed calls) are never closed.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() { reset(); }
  herr_t reset() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 ? 0 : Close(id);
  }
  /// Never close it.
  void abandon() { id_ = H5I_INVALID_HID; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using Attribute = Handle<H5Aclose>;
using Dataset = Handle<H5Dclose>;
using FileHandle = Handle<H5Fclose>;
using GroupHandle = Handle<H5Gclose>;
using Object = Handle<H5Oclose>;
using Properties = Handle<H5Pclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;

/// Silence HDF5's own printing and teach it what we need; done once, before the first call.
void start_library();
/// Part of start_library(): raw access to variable-length texts for check_variable_texts().
void register_raw_texts();
/// Text of HDF5's error stack, from the call to the cause.
[[nodiscard]] std::string library_error();
/// Text from a file, fit for a terminal: control characters become '?', and it is cut after `most` bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 200);
/// Names joined by ", ", the first `most` of them.
[[nodiscard]] std::string joined(const std::vector<std::string>& names, std::size_t most = 12);
/// fsync a file or folder. Throws ResourceError.
void sync_to_disk(const std::string& path);

struct Context;

/// Looks after a collective call of HDF5 on this rank while it lives (several ranks; else it does nothing):
/// where a disk is full, ranks may wait for one another in MPI for ever. It then says so and ends the job.
class Watch {
 public:
  explicit Watch(const Context& context);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /// The call failed here; the other ranks may never come back from it.
  void failed(const std::string& message) const;

 private:
  bool on_;
};

/// One open file, shared by its groups and series.
struct Context {
  Comm comm;
  std::string path;
  /// Bytes of a file embedded in another one (embedded_file.hpp); HDF5 reads them in place.
  std::vector<std::byte> own_image{};
  std::optional<std::span<const std::byte>> image{};
  FileHandle file;
  bool writable = false;
  bool made_here = false;  ///< by File::create: its bytes are our own
  mutable bool write_failed = false;
  // What take_room() counts: bytes given out since the last flush, and those of them that have their place;
  // on rank 0 where they begin in the file, and how much before has its place (on one rank all is counted
  // from the begin of the file).
  mutable std::uint64_t grown = 0, taken = 0, base = 0, settled = 0;
  mutable std::map<std::string, std::vector<std::string>>
      unscaled{};  ///< axes of datasets made since a flush

  Context(Comm communicator, std::string file_path);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Close now; throws ResourceError if what is still buffered cannot be written.
  void close();
  void require_open() const;
  /// Bytes of the file: no dataset can hold more. Without a limit for a file made by us. Collective.
  [[nodiscard]] std::uint64_t bytes() const;
  /// A dataset of `before` bytes has `now`: for take_room().
  void grow(std::uint64_t before, std::uint64_t now) const { grown += now > before ? now - before : 0; }
  /// Run `action` as together(comm, action) does, and record a failed write on all ranks. On several ranks
  /// this holds for all files that are being written, as none could be closed on a full disk.
  void write_together(const std::function<void()>& action) const;
  /// Take the place on the disk of all that HDF5 has given out so far, before it is written: where a write
  /// fails in the middle of a collective call, MPI-IO may leave the other ranks waiting. File systems that
  /// cannot reserve are asked what is free. Throws ResourceError; then nothing has been written, and what was
  /// made or grown may be given up again. Collective.
  void take_room() const { take_room(false); }
  /// take_room(), then bring all to the operating system. Collective. Throws ResourceError.
  void hand_over() const;
  /// Make dimension scales of coordinates, times and steps, and attach what was made since the last flush
  /// and has one along each of its axes. Where that fails the file is without them. Collective.
  void attach_scales() const;
  /// Take the room on the disk, as take_room() does; `with_metadata`, before a flush or the end: also for
  /// metadata that are still in memory.
  void take_room(bool with_metadata) const;
  /// Reset the counts of take_room(): all is in the file.
  void restart_room() const;
  /// Give back what was reserved on the disk beyond the end of a closed file.
  void give_back_room() const;
  void take_on_root(std::uint64_t wanted) const;
  /// Throw what HDF5 has to say: ResourceError if the disk or quota is full, else InputError.
  [[noreturn]] void fail(std::string_view object, std::string_view action) const;
  /// Throw ResourceError: writing failed.
  [[noreturn]] void fail_write(std::string_view object) const;
  /// The result of an HDF5 call, or fail().
  template <class Result>
  Result check(Result result, std::string_view object, std::string_view action) const {
    if (result < 0) [[unlikely]]
      fail(object, action);
    return result;
  }
};

/// Bytes that HDF5 gives out besides the data, for Context::grow(): at most about so many for a group or
/// dataset (with the first part of the tree of its chunks), an attribute, and a chunk.
inline constexpr std::uint64_t metadata_of_object = 8192, metadata_of_attribute = 256,
                               metadata_of_chunk = 128;
/// Bytes of the chunks of a dataset if it had this shape, with their metadata.
[[nodiscard]] std::uint64_t stored_bytes(hid_t dataset, const Shape& shape);

/// HDF5's name of an element type in memory (borrowed: never closed).
template <class T>
hid_t native_type() {
  if constexpr (std::is_same_v<T, float>)
    return H5T_NATIVE_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return H5T_NATIVE_DOUBLE;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return H5T_NATIVE_INT8;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return H5T_NATIVE_UINT8;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return H5T_NATIVE_INT32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return H5T_NATIVE_INT64;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return H5T_NATIVE_UINT64;
  else
    static_assert(!sizeof(T), "not an element type of io/hdf5");
}

/// The bytes that File::open() takes for this name, see Mounted.
[[nodiscard]] std::optional<std::span<const std::byte>> mounted_bytes(const std::string& name);
/// The bytes of an embedded file, read by rank 0. Collective.
[[nodiscard]] std::vector<std::byte> embedded_bytes(const Comm& comm, const EmbeddedName& name);
/// Open bytes as a file, for reading; they and the span stay while it is open. Throws InputError.
[[nodiscard]] FileHandle open_bytes(const std::string& name, const std::span<const std::byte>& bytes);

/// Number of elements of a shape. Throws InputError if it does not fit 63 bits.
[[nodiscard]] std::uint64_t element_count(const Shape& shape, std::string_view what);
/// Throws InputError unless the ranks gave as many rows as there are.
void check_complete(std::uint64_t given, std::uint64_t expected, std::string_view path,
                    std::string_view name);
/// "[3, 4]".
[[nodiscard]] std::string shape_text(const Shape& shape);
/// A dataspace of this shape; scalar for {}.
[[nodiscard]] Space make_space(const Shape& shape);
[[nodiscard]] Shape shape_of_space(hid_t space);
/// "float64", "int32", "string", ... of an HDF5 type.
[[nodiscard]] std::string type_name(hid_t type);
/// Variable-length UTF-8 string type.
[[nodiscard]] Type variable_text_type();

/// Part of a dataset that this rank reads or writes: `count[i]` elements from `start[i]`; nothing where count
/// is zero.
struct Slab {
  Shape start, count;
};
/// Stored extent of a dataset, so that a false shape cannot cause a large allocation.
struct Stored {
  Shape shape;
  std::uint64_t file_bytes = 0;
  std::string lack;  ///< what to say where less is stored than the shape says; "": all is there
};
/// Throws InputError unless a part of a dataset is in the file.
void require_stored(const Context& context, hid_t dataset, const Stored& stored, const Slab& part);
/// Whether the chunks that a part of a dataset lies in are in the file.
[[nodiscard]] bool has_chunks(const Context& context, hid_t dataset, const Stored& stored, const Slab& part);

/// Whether chunks of a dataset pass through filters, as compressed ones do: all ranks write them together.
[[nodiscard]] bool is_filtered(hid_t dataset);
/// Who has values of a slab: all ranks a part, or the root alone all of them.
enum class Writers { all, root };
/// One collective transfer of a slab. What the root has alone goes without MPI-IO's collective calls, which
/// take each rank several messages: its room in the file is there already. Throws ResourceError (all ranks
/// alike).
void write_slab(const Context& context, hid_t dataset, const std::string& name, hid_t memory_type,
                const void* data, const Slab& slab, Writers writers = Writers::all);
/// One collective transfer of a slab; a value that does not fit the memory type is an InputError.
void read_slab(const Context& context, hid_t dataset, const std::string& name, hid_t memory_type, void* data,
               const Slab& slab);

/// Throws InputError unless all `count` variable-length texts, or lists of elements of so many bytes, that
/// `read` brings lie whole in the file. Collective.
void check_variable_texts(const Context& context, std::size_t count, const std::string& what,
                          const std::function<herr_t(hid_t type, void* raw)>& read, std::size_t element = 1);
/// A stored fixed-length text without its padding.
[[nodiscard]] std::string without_padding(std::string text, hid_t type);

/// `units`, `axes`, `description` of a new dataset.
void write_description(const Context& context, hid_t dataset, const std::string& name,
                       const Description& description);
void write_text_attribute(const Context& context, hid_t object, const std::string& name,
                          const std::string& text);
void write_texts_attribute(const Context& context, hid_t object, const std::string& name,
                           const std::vector<std::string>& texts);
void write_number_attribute(const Context& context, hid_t object, const std::string& name, hid_t type,
                            const void* values, const Shape& shape);
/// Texts of a string attribute of any shape, fixed or variable length. `object_name` stands in messages.
[[nodiscard]] std::vector<std::string> read_texts_attribute(const Context& context, hid_t object,
                                                            const std::string& object_name,
                                                            const std::string& name);

}  // namespace quintet::hdf5::detail

namespace quintet::hdf5 {

struct Group::Implementation {
  std::shared_ptr<detail::Context> context;
  std::string path;  ///< absolute, without a trailing slash; "" for the root

  [[nodiscard]] std::string full(const std::string& name) const {
    return name.starts_with("/") ? name : path + "/" + name;
  }
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  /// Throws InputError that lists what there is if the member is absent.
  void require(const std::string& name, std::string_view kind) const;
  [[nodiscard]] detail::Dataset open_dataset(const std::string& name) const;
  [[nodiscard]] detail::Object open_object(const std::string& name) const;
  /// Make a dataset, in place of one of equal name.
  [[nodiscard]] detail::Dataset create_dataset(const std::string& name, hid_t type, hid_t space,
                                               hid_t creation, const Description& description) const;
  /// Stored extent of a numeric dataset, after all checks that a hostile file needs before a part of it is
  /// read. Collective.
  [[nodiscard]] detail::Stored stored(hid_t dataset, const std::string& name, bool to_integer) const;
  /// stored(), and all of it must be there.
  [[nodiscard]] Shape readable_shape(hid_t dataset, const std::string& name, bool to_integer) const;
};

struct Series::Implementation {
  std::shared_ptr<detail::Context> context;
  std::string name;
  detail::Dataset dataset;
  Shape entry;
  std::uint64_t size = 0;
  std::uint64_t extent = 0;  ///< in the file; more than `size` where a writer was killed
  bool comes_early = true;   ///< chunks come as it grows

  /// Drop the entries from `new_size` on.
  void shrink(std::uint64_t new_size);
  void append(hid_t memory_type, const void* data, std::uint64_t n, std::uint64_t first_row,
              std::uint64_t rows, detail::Writers writers);
};

struct File::Implementation {
  std::shared_ptr<detail::Context> context;
  Group root;
};

}  // namespace quintet::hdf5
