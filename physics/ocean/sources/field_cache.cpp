#include "physics/ocean/sources/field_cache.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "io/files/output_file.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/signals.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::ocean {
namespace {

constexpr const char* schema = "quintet.ocean_cache";
constexpr int schema_version = 1;
constexpr int rows_together = 2;  ///< times that a rank makes before they are written

std::uint64_t checksum_of(std::span<const double> values) { return hdf5::xxh64(std::as_bytes(values)); }

/// The file, if it is one of ours. Collective.
hdf5::File open_cache(const Comm& comm, const std::string& path, const std::string& section) {
  try {
    auto file = hdf5::File::open(comm, path);
    hdf5::check_header(file, schema, schema_version);
    return file;
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}.cache: {}: name another file, or remove it, unless another run is writing it",
                    section, error.what()));
  }
}

bool is_there(const Comm& comm, const std::string& path) {
  bool found = false;
  on_root(comm, [&] { found = std::filesystem::exists(path); });
  return comm.any(found);
}

/// What the file has: a mark of 0 stands for a time that was never written.
struct Content {
  std::vector<double> days;
  std::vector<std::uint64_t> made_of, checksum;
};

/// A source whose fields are in the file.
class CachedSource : public FieldSource {
 public:
  CachedSource(const FieldSource& made, std::string path, std::vector<std::uint64_t> made_of,
               std::vector<std::uint64_t> checksum)
      : FieldSource(static_cast<const FieldFacts&>(made)),
        path_(std::move(path)),
        made_of_(std::move(made_of)),
        checksum_(std::move(checksum)) {
    notes = made.notes;
  }
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    if (!file_) file_.emplace(hdf5::File::open(Comm::self(), path_));
    const auto u = [](auto number) { return static_cast<std::uint64_t>(number); };
    const std::size_t size = grid.size();
    auto values = file_->root().read_box<double>(
        "fields", {{u(first), 0, 0}, {u(n), grid.latitude.size(), grid.longitude.size()}});
    for (int t = 0; t < n; ++t)
      QUINTET_CHECK(checksum_of(std::span(values).subspan(t * size, size)) == checksum_[first + t],
                    "{}: the fields of {} do not agree with their checksum: the file was changed; remove it",
                    path_, date_text(days[first + t]));
    return values;
  }
  void close() const override { file_.reset(); }
  [[nodiscard]] std::string place(int /*time*/) const override { return path_; }
  [[nodiscard]] std::optional<std::uint64_t> stamp(int time) const override { return made_of_[time]; }

 private:
  std::string path_;
  std::vector<std::uint64_t> made_of_, checksum_;
  mutable std::optional<hdf5::File> file_;
};

class Cache {
 public:
  Cache(const Comm& comm, std::string path, std::string settings, const FieldSource& source)
      : comm_(comm), path_(std::move(path)), settings_(std::move(settings)), source_(source) {
    for (std::size_t t = 0; t < source.days.size(); ++t) {
      const auto stamp = source.stamp(t);
      QUINTET_CHECK(stamp, "{0}.cache: nothing tells whether {1} is still the same; leave {0}.cache out",
                    source.section, source.name);
      wanted_.push_back(std::max<std::uint64_t>(*stamp, 1));
    }
  }

  std::unique_ptr<FieldSource> filled() {
    const bool found = is_there(comm_, path_);
    auto content = found ? looked_at() : Content{};
    const bool longer = content.days.size() <= source_.days.size() &&
                        std::equal(content.days.begin(), content.days.end(), source_.days.begin());
    if (!found || !longer) content = made_anew(found ? &content : nullptr);
    fill(content);
    return std::make_unique<CachedSource>(source_, path_, std::move(content.made_of),
                                          std::move(content.checksum));
  }

 private:
  [[nodiscard]] hdf5::Shape shape(std::uint64_t n) const {
    return {n, source_.grid.latitude.size(), source_.grid.longitude.size()};
  }
  [[nodiscard]] hdf5::Box box(std::size_t row, std::uint64_t n) const { return {{row, 0, 0}, shape(n)}; }

  /// Content of the file that is there. Throws where it is not of this record.
  [[nodiscard]] Content looked_at() const {
    const auto file = open_cache(comm_, path_, source_.section);
    const auto& root = file.root();
    const auto settings = root.text_attribute("settings");
    QUINTET_CHECK(settings == settings_,
                  "{}.cache: {} was made with other settings ({}; now {}): name another file, or remove it",
                  source_.section, path_, settings, settings_);
    QUINTET_CHECK(same_grid({root.read<double>("lat"), root.read<double>("lon")}, source_.grid),
                  "{}.cache: {} is of another grid: name another file, or remove it", source_.section, path_);
    const auto n = root.whole_rows("fields");
    Content content;
    content.days = root.read<double>("time");
    content.made_of = root.read<std::uint64_t>("made_of");
    content.checksum = root.read<std::uint64_t>("row_checksum");
    // A run that was killed while it made the file longer may have left some longer than others.
    const auto rows =
        std::min<std::size_t>({n, content.days.size(), content.made_of.size(), content.checksum.size()});
    content.days.resize(rows), content.made_of.resize(rows), content.checksum.resize(rows);
    while (!content.days.empty() && content.made_of.back() == 0)
      content.days.pop_back(), content.made_of.pop_back(), content.checksum.pop_back();
    return content;
  }

  /// A file for the source's times, with what an old one has of them in place of it.
  Content made_anew(const Content* old) const {
    const auto partial = path_ + ".new";
    const std::size_t n = source_.days.size();
    Content content{source_.days, std::vector<std::uint64_t>(n), std::vector<std::uint64_t>(n)};
    std::vector<std::pair<std::size_t, std::size_t>> copied;  // rows in the old and the new file
    for (std::size_t t = 0; old != nullptr && t < n; ++t) {
      const auto found = std::lower_bound(old->days.begin(), old->days.end(), source_.days[t]);
      const std::size_t row = found - old->days.begin();
      if (row < old->days.size() && old->days[row] == source_.days[t] && old->made_of[row] == wanted_[t])
        copied.emplace_back(row, t);
    }
    on_root(comm_, [&] { make_new_file(partial); });
    auto file = hdf5::File::create(comm_, partial);
    define(file.root());
    if (!copied.empty()) {
      const auto from = hdf5::File::open(comm_, path_);
      const std::size_t n_ranks = comm_.size(), rank = comm_.rank();
      for (std::size_t first = 0; first < copied.size(); first += n_ranks) {
        const bool mine = first + rank < copied.size();
        const auto [row, t] = copied[mine ? first + rank : first];
        const auto values = from.root().read_box<double>("fields", box(row, mine ? 1 : 0));
        file.root().write_box<double>("fields", values, box(t, mine ? 1 : 0));
      }
      for (const auto& [row, t] : copied) {
        content.made_of[t] = old->made_of[row];
        content.checksum[t] = old->checksum[row];
      }
    }
    write_marks(file.root(), content, 0, n);
    file.close();
    on_root(comm_, [&] { std::filesystem::rename(partial, path_); });
    return content;
  }

  void define(hdf5::Group& root) const {
    const std::uint64_t n = source_.days.size(), n_lat = source_.grid.latitude.size(),
                        n_lon = source_.grid.longitude.size();
    hdf5::write_header(root, schema, schema_version, hdf5::current_provenance());
    root.set_attribute("settings", settings_);
    root.set_attribute("units", source_.units);
    root.set_attribute("calendar", source_.calendar);
    root.write<double>("lat", source_.grid.latitude, {n_lat}, {"degrees_north", {"lat"}, "Latitudes"});
    root.write<double>("lon", source_.grid.longitude, {n_lon}, {"degrees_east", {"lon"}, "Longitudes"});
    constexpr std::uint64_t chunk = 1024;
    root.make_growing<double>("time", {n}, 0, {chunk}, {"days since 1800-01-01 00:00:00", {"time"}, "Times"});
    root.make_growing<std::uint64_t>("made_of", {n}, 0, {chunk},
                                     {"1", {"time"}, "Mark of what a time is made of; 0: not yet made"});
    root.make_growing<std::uint64_t>("row_checksum", {n}, 0, {chunk},
                                     {"1", {"time"}, "XXH64 of a time's values"});
    root.make_growing<double>("fields", shape(n), 0, shape(1),
                              {source_.units, {"time", "lat", "lon"}, "Fields; NaN: no value"});
  }

  /// Times, checksums and then marks of some rows, from root.
  void write_marks(hdf5::Group& root, const Content& content, std::size_t first, std::size_t n) const {
    const std::uint64_t mine = comm_.is_root() ? n : 0;
    const hdf5::Box rows{{first}, {mine}};
    root.write_box<double>("time", std::span(content.days).subspan(first, mine), rows);
    root.write_box<std::uint64_t>("row_checksum", std::span(content.checksum).subspan(first, mine), rows);
    root.write_box<std::uint64_t>("made_of", std::span(content.made_of).subspan(first, mine), rows);
  }

  /// Make the times whose marks do not agree.
  void fill(Content& content) {
    const std::size_t n = source_.days.size(), had = content.days.size();
    content.days = source_.days;
    content.made_of.resize(n), content.checksum.resize(n);
    std::vector<std::size_t> missing;
    for (std::size_t t = 0; t < n; ++t)
      if (content.made_of[t] != wanted_[t]) missing.push_back(t);
    log::info("{}.cache: {}: {} of {} times are there, {} are made", source_.section, path_,
              n - missing.size(), n, missing.size());
    if (missing.empty()) return;
    auto file = hdf5::File::open_for_update(comm_, path_);
    if (had < n) lengthen(file, content, had);
    auto told = std::chrono::steady_clock::now();
    const std::size_t n_ranks = comm_.size();
    for (std::size_t first = 0; first < missing.size(); first += rows_together * n_ranks) {
      make_rows(file, content, missing, first);
      if (comm_.any(stop_signal_has_come()))
        throw Interrupted(
            fmt::format("stopped while {} was made; the same command goes on from there", path_));
      const auto now = std::chrono::steady_clock::now();
      if (now - told < std::chrono::seconds(30)) continue;
      told = now;
      log::info("{}.cache: {} of {} times", source_.section,
                std::min(first + rows_together * n_ranks, missing.size()), missing.size());
    }
    source_.close();
    file.flush();
  }

  void lengthen(hdf5::File& file, const Content& content, std::size_t had) const {
    const std::uint64_t n = content.days.size();
    file.root().resize("fields", shape(n));
    for (const char* name : {"row_checksum", "made_of", "time"}) file.root().resize(name, {n});
    write_marks(file.root(), content, had, content.days.size() - had);
    file.flush();
  }

  /// Each rank makes some of the missing times from number `first` on.
  void make_rows(hdf5::File& file, Content& content, const std::vector<std::size_t>& missing,
                 std::size_t first) const {
    const std::size_t rank = comm_.rank();
    std::vector<std::vector<double>> rows(rows_together);
    std::vector<std::uint64_t> sums(rows_together);
    const auto row_of = [&](std::size_t owner, std::size_t k) { return first + owner * rows_together + k; };
    together(comm_, [&] {
      for (std::size_t k = 0; k < rows_together && row_of(rank, k) < missing.size(); ++k) {
        rows[k] = source_.read(missing[row_of(rank, k)], 1);
        sums[k] = checksum_of(rows[k]);
      }
    });
    for (std::size_t k = 0; k < rows_together; ++k) {
      const bool mine = row_of(rank, k) < missing.size();
      file.root().write_box<double>("fields", rows[k],
                                    box(mine ? missing[row_of(rank, k)] : 0, mine ? 1 : 0));
    }
    file.hand_over();
    const auto all = comm_.all_gather(std::span<const std::uint64_t>(sums));
    for (std::size_t i = 0; i < all.size() && first + i < missing.size(); ++i) {
      const auto t = missing[first + i];
      content.checksum[t] = all[i];
      content.made_of[t] = wanted_[t];
      write_marks(file.root(), content, t, 1);
    }
    file.hand_over();
  }

  Comm comm_;
  std::string path_, settings_;
  const FieldSource& source_;
  std::vector<std::uint64_t> wanted_;
};

}  // namespace

void check_cache(const Comm& comm, const std::string& path, const std::string& section) {
  if (is_there(comm, path)) static_cast<void>(open_cache(comm, path, section));
}

std::unique_ptr<FieldSource> kept_in(const Comm& comm, const std::string& path, const std::string& settings,
                                     std::unique_ptr<FieldSource> source) {
  return Cache(comm, path, settings, *source).filled();
}

}  // namespace quintet::ocean
