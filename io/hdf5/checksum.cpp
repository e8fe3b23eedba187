#include "io/hdf5/checksum.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::hdf5 {
namespace {

constexpr std::uint64_t p1 = 0x9E3779B185EBCA87ULL, p2 = 0xC2B2AE3D27D4EB4FULL, p3 = 0x165667B19E3779F9ULL,
                        p4 = 0x85EBCA77C2B2AE63ULL, p5 = 0x27D4EB2F165667C5ULL;

/// The next bytes as a little-endian number.
template <class T>
std::uint64_t take(const std::byte*& at) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) { return std::rotl(lane + input * p2, 31) * p1; }
std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) { return (hash ^ round(0, lane)) * p1 + p4; }

}  // namespace

Xxh64::Xxh64(std::uint64_t seed) : seed_(seed), lanes_{seed + p1 + p2, seed + p2, seed, seed - p1} {}

void Xxh64::add(std::span<const std::byte> bytes) {
  QUINTET_ASSERT(n_ % rest_.size() == 0, "a piece behind one of {} bytes", n_);
  const std::byte* at = bytes.data();
  const std::byte* end = at + bytes.size();
  auto lanes = lanes_;  // of this function alone, so that they stay in registers
  while (end - at >= 32)
    for (auto& lane : lanes) lane = round(lane, take<std::uint64_t>(at));
  lanes_ = lanes;
  std::copy(at, end, rest_.begin());
  n_ += bytes.size();
}

std::uint64_t Xxh64::value() const {
  const auto& [a, b, c, d] = lanes_;
  std::uint64_t hash = seed_ + p5;
  if (n_ >= 32) {
    hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += n_;
  const std::byte* at = rest_.data();
  const std::byte* end = at + n_ % rest_.size();
  while (end - at >= 8) hash = std::rotl(hash ^ round(0, take<std::uint64_t>(at)), 27) * p1 + p4;
  if (end - at >= 4) hash = std::rotl(hash ^ (take<std::uint32_t>(at) * p1), 23) * p2 + p3;
  while (at < end) hash = std::rotl(hash ^ (take<std::uint8_t>(at) * p5), 11) * p1;
  hash = (hash ^ (hash >> 33)) * p2;
  hash = (hash ^ (hash >> 29)) * p3;
  return hash ^ (hash >> 32);
}

std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed) {
  Xxh64 hash(seed);
  hash.add(bytes);
  return hash.value();
}

namespace {

constexpr const char* covered = "covers";            ///< the attribute that names the datasets
constexpr std::uint64_t piece_values = 1 << 20;      ///< read at a time
constexpr std::uint64_t piece_rows = 65536;          ///< of which the sums are held
constexpr std::size_t most_named = 5;                ///< rows in a message
constexpr std::string_view one_a_frame = "frame_*";  ///< ends the path of datasets that are one a frame

std::uint64_t product(const Shape& shape, std::size_t from) {
  return std::accumulate(shape.begin() + std::min(from, shape.size()), shape.end(), std::uint64_t{1},
                         std::multiplies<>());
}

template <class T>
std::uint64_t part_of_box(const Group& root, const std::string& path, std::uint64_t seed, const Box& box,
                          std::uint64_t first) {
  const auto values = root.read_box<T>(path, box);
  return RowChecksum::part<T>(seed, values, first);
}

/// Hand each dataset's values as what they are stored as.
template <class Action>
void as_stored(const Group& root, const std::string& path, const Action& action) {
  const auto type = root.element_type(path);
  if (type == "float64") return action(double{});
  if (type == "float32") return action(float{});
  if (type == "int64") return action(std::int64_t{});
  if (type == "int32") return action(std::int32_t{});
  if (type == "uint64") return action(std::uint64_t{});
  if (type == "uint8") return action(std::uint8_t{});
  static_cast<void>(root.read_rows<double>(path, 0, 0));  // reports texts in place of numbers, and where
  throw InputError(fmt::format("{}: checksums do not cover values of type {}", path, type));
}

/// Add to `sums` what a dataset has in rows [first, first + sums.size()) of axis lead.size(), at the indices
/// `lead` of the axes before.
void add_rows(const Group& root, const std::string& path, const Shape& lead, std::uint64_t first,
              std::span<std::uint64_t> sums) {
  const auto shape = root.shape(path);
  const std::size_t axis = lead.size();
  if (shape.size() <= axis || shape[axis] < first + sums.size()) return;  // then the sums do not agree
  const auto seed = RowChecksum::seed(path);
  const std::uint64_t entry = product(shape, axis + 1);
  Box box{lead, Shape(axis, 1)};
  box.start.resize(shape.size(), 0);
  box.count.insert(box.count.end(), shape.begin() + axis, shape.end());
  as_stored(root, path, [&](auto zero) {
    using T = decltype(zero);
    if (entry <= piece_values) {
      const auto rows = std::max<std::uint64_t>(1, piece_values / std::max<std::uint64_t>(entry, 1));
      for (std::uint64_t i = 0; i < sums.size(); i += rows) {
        box.start[axis] = first + i;
        box.count[axis] = std::min(rows, sums.size() - i);
        const auto values = root.read_box<T>(path, box);
        for (std::uint64_t k = 0; k < box.count[axis]; ++k)
          sums[i + k] += RowChecksum::part<T>(seed, std::span(values).subspan(k * entry, entry), 0);
      }
      return;
    }
    const std::uint64_t slice = product(shape, axis + 2), length = shape[axis + 1];
    const std::uint64_t slices = std::max<std::uint64_t>(1, piece_values / slice);
    box.count[axis] = 1;
    for (std::uint64_t i = 0; i < sums.size(); ++i)
      for (std::uint64_t at = 0; at < length; at += slices) {
        box.start[axis] = first + i;
        box.start[axis + 1] = at;
        box.count[axis + 1] = std::min(slices, length - at);
        sums[i] += part_of_box<T>(root, path, seed, box, at * slice);
      }
  });
}

/// Part of a frame's checksum from the dataset that holds this frame alone; 0 without such a dataset.
std::uint64_t part_of_frame(const Group& root, const std::string& pattern, std::uint64_t frame) {
  const auto path = fmt::format("{}{}", pattern.substr(0, pattern.size() - 1), frame);
  if (!root.has(path)) return 0;
  const auto shape = root.shape(path);
  if (shape.empty() || product(shape, 0) == 0) return 0;
  const auto seed = RowChecksum::seed(pattern);
  const std::uint64_t slice = product(shape, 1);
  const std::uint64_t slices = std::max<std::uint64_t>(1, piece_values / slice);
  Box box{Shape(shape.size(), 0), shape};
  std::uint64_t sum = 0;
  as_stored(root, path, [&](auto zero) {
    for (std::uint64_t at = 0; at < shape[0]; at += slices) {
      box.start[0] = at;
      box.count[0] = std::min(slices, shape[0] - at);
      sum += part_of_box<decltype(zero)>(root, path, seed, box, at * slice);
    }
  });
  return sum;
}

std::pair<std::string, std::string> split(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::pair(std::string(), path)
                                    : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

std::vector<std::string> covered_by(const Group& root, const std::string& path) {
  const auto [folder, name] = split(path);
  return (folder.empty() ? root : root.open_group(folder)).member_texts_attribute(name, covered);
}

/// About, as of 8 bytes a value; `axes`: those before the entry.
double bytes_of_row(const Group& root, const std::vector<std::string>& datasets, std::size_t axes) {
  double values = 0;
  for (const auto& dataset : datasets) {
    const bool is_one_a_frame = dataset.ends_with(one_a_frame);
    const auto path = is_one_a_frame ? dataset.substr(0, dataset.size() - 1) + "0" : dataset;
    if (root.has(path)) values += product(root.shape(path), is_one_a_frame ? 0 : axes);
  }
  return 8 * values;
}

/// Compare the rows of one index of the leading axes.
void compare(const Group& root, const std::string& path, const std::vector<std::string>& datasets,
             const Shape& lead, std::uint64_t begin, std::uint64_t rows, AlteredRows& altered) {
  Box box{lead, Shape(lead.size(), 1)};
  box.start.push_back(0);
  box.count.push_back(0);
  for (std::uint64_t first = begin; first < rows; first += piece_rows) {
    box.start.back() = first;
    box.count.back() = std::min(piece_rows, rows - first);
    const auto written = root.read_box<std::uint64_t>(path, box);
    if (std::all_of(written.begin(), written.end(), [](auto sum) { return sum == no_checksum; })) continue;
    std::vector<std::uint64_t> sums(written.size(), 0);
    for (const auto& dataset : datasets) {
      if (!dataset.ends_with(one_a_frame)) {
        add_rows(root, dataset, lead, first, sums);
        continue;
      }
      for (std::uint64_t i = 0; i < sums.size(); ++i) sums[i] += part_of_frame(root, dataset, first + i);
    }
    for (std::uint64_t i = 0; i < sums.size(); ++i) {
      if (written[i] == no_checksum || written[i] == sums[i]) continue;
      ++altered.n;
      if (altered.first.size() < most_named) altered.first.push_back(first + i);
    }
  }
}

}  // namespace

bool has_covered(const Group& group, const std::string& name) {
  return name.ends_with("_checksum") && !group.is_group(name) && group.has_member_attribute(name, covered);
}

bool set_covered(Group& group, const std::string& name, const std::vector<std::string>& datasets) {
  if (group.has_member_attribute(name, covered) && group.member_texts_attribute(name, covered) == datasets)
    return true;
  group.set_member_attribute(name, covered, datasets);
  return false;
}

AlteredRows altered_rows(const Group& root, const std::string& path, const std::vector<std::uint64_t>& rows,
                         double most_bytes) {
  AlteredRows altered;
  const auto datasets = covered_by(root, path);
  const auto shape = root.shape(path);
  const bool has_samples = shape.size() == 2;
  QUINTET_CHECK((shape.size() == 1 && rows.size() == 1) || (has_samples && rows.size() == shape[0]),
                "{}: checksums of {} axes are not those of the rows", path, shape.size());
  const double bytes = bytes_of_row(root, datasets, shape.size()) * rows.size();
  const double most = bytes > 0 ? std::max(1.0, most_bytes / bytes) : most_bytes;
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t n = std::min(rows[i], shape.back());
    const std::uint64_t first = static_cast<double>(n) > most ? n - static_cast<std::uint64_t>(most) : 0;
    compare(root, path, datasets, has_samples ? Shape{i} : Shape{}, first, n, altered);
  }
  return altered;
}

std::string AlteredRows::text(const std::string& row) const {
  if (n == 0) return "";
  if (n == 1) return fmt::format("{} {} does not agree with its checksum", row, first.front());
  return fmt::format("{}s {}{} do not agree with their checksums", row, fmt::join(first, ", "),
                     n > first.size() ? fmt::format(" and {} more", n - first.size()) : "");
}

void require_unaltered_frame(const File& file, const std::string& path, const RowPlace& place,
                             double most_bytes) {
  const auto& root = file.root();
  const auto [folder, name] = split(path);
  if (!root.has(path) || !has_covered(folder.empty() ? root : root.open_group(folder), name)) return;
  const auto datasets = covered_by(root, path);
  const Shape lead = place.sample ? Shape{*place.sample} : Shape{};
  if (bytes_of_row(root, datasets, lead.size() + 1) > most_bytes) return;
  AlteredRows altered;
  compare(root, path, datasets, lead, place.row, std::min(place.row + 1, root.shape(path).back()), altered);
  QUINTET_CHECK(altered.n == 0,
                "{}: {}{}: a value in it has changed since it was written. Take another copy of the file, or "
                "have the run write it again; if the change is meant, delete its dataset {} (with h5py: del "
                "file['{}'])",
                file.path(), place.sample ? fmt::format("sample {}: ", *place.sample) : "",
                altered.text("frame"), path, path);
}

ChecksumSeries::ChecksumSeries(const Comm& comm, File& file, const std::string& group, const std::string& row,
                               const std::string& axis)
    : comm_(std::make_shared<const Comm>(comm)),
      is_root_(comm.is_root()),
      root_(file.root()),
      group_(file.root().group(group)),
      path_(fmt::format("{}/{}_checksum", group, row)),
      name_(row + "_checksum"),
      row_(row),
      series_(group_.series<std::uint64_t>(
          name_, {},
          {"1", {axis}, fmt::format("Checksum of the {}; 2^64 - 1: an earlier version wrote it.", row)})) {}

void ChecksumSeries::cover(const std::vector<std::string>& paths) {
  if (!set_covered(group_, name_, paths)) series_.truncate(0);
}

void ChecksumSeries::append(std::span<const std::uint64_t> sums) {
  if (const std::uint64_t n = series_.size(); n < rows_)
    series_.append_entries<std::uint64_t>(rows_ - n, std::vector<std::uint64_t>(rows_ - n, no_checksum));
  series_.append_entries<std::uint64_t>(sums.size(), sums);
  rows_ += sums.size();
}

void ChecksumSeries::keep(std::uint64_t n) {
  series_.truncate(std::min(n, series_.size()));
  rows_ = n;
}

std::string ChecksumSeries::altered(std::uint64_t n, double most_bytes) const {
  if (n == 0 || !has_covered(group_, name_)) return "";
  return altered_rows(root_, path_, {n}, most_bytes).text(row_);
}

void ChecksumSeries::begin_frame() {
  sum_ = 0;
  covered_.clear();
}

void ChecksumSeries::note_part(const std::string& path, std::uint64_t part) {
  covered_.push_back(path);
  sum_ += part;
}

void ChecksumSeries::end_frame() {
  cover(covered_);
  append(std::vector<std::uint64_t>{comm_->sum(sum_)});
  begin_frame();
}

}  // namespace quintet::hdf5
