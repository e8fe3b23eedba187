#include "physics/ocean/sources/field_files.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "io/config/tree.hpp"
#include "io/files/output_file.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/sources/joined_source.hpp"

namespace quintet::ocean {
namespace {

constexpr std::string_view magic = "quintet.field_files 3\n";

std::uint64_t checksum_of(std::string_view bytes) { return hdf5::xxh64(std::as_bytes(std::span(bytes))); }

/// Numbers and texts one after another.
class Packer {
 public:
  template <class T>
  void put(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(const std::string& text) {
    put(std::uint64_t{text.size()});
    bytes += text;
  }
  template <class Values, class Put>
  void put_each(const Values& values, const Put& one) {
    put(std::uint64_t{values.size()});
    for (const auto& value : values) one(value);
  }
  std::string bytes;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T take() {
    const auto part = bytes(sizeof(T));
    T value;
    std::memcpy(&value, part.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(bytes(take<std::uint64_t>())); }
  template <class Take>
  void each(const Take& one) {
    for (auto n = take<std::uint64_t>(); n > 0; --n) one();
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view bytes(std::uint64_t n) {
    QUINTET_CHECK(n <= rest_.size(), "a list of files ends too soon");
    const auto part = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return part;
  }
  std::string_view rest_;
};

void pack(Packer& to, const FieldFile& file) {
  const auto& facts = file.facts;
  to.put_text(facts.name);
  to.put_each(facts.days, [&](double day) { to.put(day); });
  to.put_text(facts.calendar);
  to.put_text(facts.units);
  for (const auto* text :
       {&facts.variable.variable, &facts.variable.long_name, &facts.variable.standard_name})
    to.put_text(*text);
  to.put(facts.quantity);
  to.put(facts.from_kelvin);
  for (const auto* list : {&facts.reading.assumed, &facts.reading.not_used})
    to.put_each(*list, [&](const std::string& text) { to.put_text(text); });
  to.put(file.is_series);
  to.put(file.bytes);
  to.put(file.changed);
  to.put(file.layout_mark);
  to.put_each(file.places, [&](const hdf5::ChunkMap::Place& place) { to.put(place); });
}

FieldFile unpack(Unpacker& from) {
  FieldFile file;
  auto& facts = file.facts;
  facts.name = from.text();
  from.each([&] { facts.days.push_back(from.take<double>()); });
  facts.calendar = from.text();
  facts.units = from.text();
  for (auto* text : {&facts.variable.variable, &facts.variable.long_name, &facts.variable.standard_name})
    *text = from.text();
  facts.quantity = from.take<FieldQuantity>();
  facts.from_kelvin = from.take<bool>();
  for (auto* list : {&facts.reading.assumed, &facts.reading.not_used})
    from.each([&] { list->push_back(from.text()); });
  file.is_series = from.take<bool>();
  file.bytes = from.take<std::uint64_t>();
  file.changed = from.take<std::int64_t>();
  file.layout_mark = from.take<std::uint64_t>();
  from.each([&] { file.places.push_back(from.take<hdf5::ChunkMap::Place>()); });
  return file;
}

/// The file as it was, where it is still so.
std::optional<FieldFile> still_known(const std::string& path, const KnownFiles& known) {
  const auto found = known.files.find(full_name(path));
  if (found == known.files.end()) return std::nullopt;
  FieldFile now;
  take_size(path, now);
  if (now.bytes != found->second.bytes || now.changed != found->second.changed) return std::nullopt;
  auto file = found->second;
  file.facts.name = path;
  return file;
}

bool is_preliminary(const FieldFile& file) {
  return file_name(file.facts.name).find("preliminary") != std::string::npos;
}

}  // namespace

std::vector<FieldFile> look_at_files(const Comm& comm, const std::vector<std::string>& paths,
                                     const std::string& variable, const FieldOptions& options,
                                     const KnownFiles& known) {
  const std::size_t n = paths.size(), n_ranks = comm.size();
  const auto begin_of = [&](int rank) { return n * rank / n_ranks; };
  FieldFile first;
  Packer mine;
  together(comm, [&] {
    QUINTET_CHECK(!paths.empty(), "a record needs at least one file");
    first = look_at_fields(paths.front(), variable, options);
    const bool one_grid = same_grid(known.grid, first.facts.grid);
    for (auto i = begin_of(comm.rank()); i < begin_of(comm.rank() + 1); ++i) {
      auto file = one_grid ? still_known(paths[i], known) : std::nullopt;
      if (!file) {
        file = look_at_fields(paths[i], variable, options, &first);
        const auto &grid = file->facts.grid, &other = first.facts.grid;
        QUINTET_CHECK(same_grid(grid, other), "{}: is on another grid ({} x {} points) than {} ({} x {})",
                      paths[i], grid.latitude.size(), grid.longitude.size(), paths.front(),
                      other.latitude.size(), other.longitude.size());
      }
      pack(mine, *file);
    }
  });
  std::string all = std::move(mine.bytes);
  if (n_ranks > 1) {
    const auto gathered = comm.all_gather(std::span<const char>(all));
    all.assign(gathered.begin(), gathered.end());
  }
  std::vector<FieldFile> files;
  for (Unpacker from(all); !from.empty();) {
    files.push_back(unpack(from));
    auto& file = files.back();
    file.facts.section = options.section;
    if (file.layout_mark == first.layout_mark) file.layout = first.layout;
  }
  files.front().facts.grid = first.facts.grid;
  return files;
}

std::vector<std::string> put_in_order(std::vector<FieldFile>& files) {
  const auto grid = files.front().facts.grid;
  files.front().facts.grid = {};
  const auto begin = [](const FieldFile& file) {
    return file.facts.days.empty() ? 0 : file.facts.days.front();
  };
  std::stable_sort(files.begin(), files.end(), [&](const FieldFile& a, const FieldFile& b) {
    return std::pair(begin(a), is_preliminary(a)) < std::pair(begin(b), is_preliminary(b));
  });
  std::vector<std::string> superseded, preliminary;
  std::vector<FieldFile> kept;
  for (auto& file : files) {
    const bool again = is_preliminary(file) && !kept.empty() && kept.back().facts.days == file.facts.days;
    if (again)
      superseded.push_back(file_name(file.facts.name));
    else if (is_preliminary(file))
      preliminary.push_back(file_name(file.facts.name));
    if (!again) kept.push_back(std::move(file));
  }
  files = std::move(kept);
  files.front().facts.grid = grid;
  std::vector<std::string> notes;
  if (!superseded.empty())
    notes.push_back(fmt::format("{} preliminary files give way to others of their times: {}",
                                superseded.size(), some_of(superseded)));
  if (!preliminary.empty())
    notes.push_back(fmt::format("{} files are preliminary, as their names say: {}", preliminary.size(),
                                some_of(preliminary)));
  return notes;
}

void write_known_files(const std::string& path, const std::string& settings,
                       const std::vector<FieldFile>& files) {
  Packer packed;
  packed.put_text(settings);
  const auto& grid = files.front().facts.grid;
  for (const auto* axis : {&grid.latitude, &grid.longitude})
    packed.put_each(*axis, [&](double degrees) { packed.put(degrees); });
  for (const auto& file : files) pack(packed, file);
  const auto partial = path + ".new";
  make_new_file(partial);
  std::ofstream out(partial, std::ios::binary);
  const auto sum = checksum_of(packed.bytes);
  out.write(magic.data(), magic.size());
  out.write(reinterpret_cast<const char*>(&sum), sizeof sum);
  out.write(packed.bytes.data(), packed.bytes.size());
  out.close();
  std::error_code wrong;
  if (out) std::filesystem::rename(partial, path, wrong);
  if (!out || wrong) throw ResourceError(fmt::format("{}: cannot be written", path));
}

KnownFiles read_known_files(const std::string& path, const std::string& settings) {
  if (!std::filesystem::is_regular_file(path)) return {};  // reading a folder throws
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::uint64_t sum = 0;
  if (bytes.size() < magic.size() + sizeof sum || bytes.compare(0, magic.size(), magic) != 0) return {};
  std::memcpy(&sum, bytes.data() + magic.size(), sizeof sum);
  const auto packed = std::string_view(bytes).substr(magic.size() + sizeof sum);
  if (checksum_of(packed) != sum) return {};
  Unpacker from(packed);
  KnownFiles known;
  if (from.text() != settings) return {};
  for (auto* axis : {&known.grid.latitude, &known.grid.longitude})
    from.each([&] { axis->push_back(from.take<double>()); });
  while (!from.empty()) {
    auto file = unpack(from);
    auto name = full_name(file.facts.name);
    known.files.emplace(std::move(name), std::move(file));
  }
  return known;
}

}  // namespace quintet::ocean
