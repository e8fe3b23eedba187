#include "apps/campaign/store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "apps/campaign/words.hpp"
#include "apps/campaign/workers/contents.hpp"
#include "apps/campaign/workers/program.hpp"
#include "io/config/scalar.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr const char *item_file = "campaign_item.yaml", *times_file = "/times.txt",
                     *memory_file = "/memory.txt";
constexpr const char* version = "quintet.campaign 1\n";

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "NUMBER LABEL" lines; the last of a label counts.
std::map<std::string, double> numbers_in(const std::string& path) {
  std::map<std::string, double> numbers;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto blank = line.find(' ');
    if (blank == std::string::npos) continue;
    if (const auto number = to_number(line.substr(0, blank)); number && *number >= 0)
      numbers[line.substr(blank + 1)] = *number;
  }
  return numbers;
}

/// By one write: lines of several campaigns do not mix. What cannot be written is only a help.
void append_line(const std::string& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  (void)!::write(file, line.data(), line.size());
  ::close(file);
}

void write_over(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool is_written = file >= 0;
  for (std::size_t done = 0; is_written && done < text.size();) {
    const auto n = ::write(file, text.data() + done, text.size() - done);
    is_written = n > 0;
    done += is_written ? static_cast<std::size_t>(n) : 0;
  }
  const int reason = errno;
  if (file >= 0 && ::close(file) != 0) is_written = false;
  if (!is_written)
    throw ResourceError(fmt::format("'{}' cannot be written: {}", path, std::strerror(reason)));
}

void remove_folder(const std::string& path) {
  std::error_code wrong;
  fs::remove_all(path, wrong);
  if (wrong) throw ResourceError(fmt::format("'{}' cannot be removed: {}", path, wrong.message()));
}

void rename_path(const std::string& from, const std::string& to) {
  std::error_code wrong;
  fs::rename(from, to, wrong);
  if (wrong) throw ResourceError(fmt::format("'{}' cannot be named '{}': {}", from, to, wrong.message()));
}

/// Whether a file has this size and, with `all_bytes`, these contents; not if it cannot be read.
bool is_as_it_was(const std::string& path, const std::string& size, const std::string& contents,
                  bool all_bytes) {
  std::error_code wrong;
  const auto bytes = fs::file_size(path, wrong);
  if (wrong || fmt::format("{}", bytes) != size) return false;
  try {
    return !all_bytes || contents_of(path) == contents;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

void describe(Schema& schema, DoneItem& item) {
  schema.text("identity", item.identity, "All that the result depends on").required();
  schema.text("label", item.label, "Stage and values").required();
  schema.text("host", item.host, "Where it ran");
  schema.text("boot", item.boot, "Since when that machine was up");
  schema.quantity("seconds", item.seconds, "s", "Wall time of the last try").at_least(0);
  schema.integer("tries", item.tries, "How often it was begun").at_least(1);
  schema.flag("needed", item.needed, "Whether there was anything to do");
  schema.texts("files", item.files, "Size, XXH64 and name of each file");
}

std::string DoneItem::name_of(const std::string& file) {
  return file.substr(file.find(' ', file.find(' ') + 1) + 1);
}

Store::Store(const std::string& directory, Sharing sharing)
    : directory_(directory), workers_(directory, sharing) {
  const std::string file = directory + "/campaign.version";
  if (fs::exists(file))
    QUINTET_CHECK(first_line(file) + "\n" == version,
                  "'{}' is a store of another version ('{}'): choose another with --output DIR", directory,
                  first_line(file));
  for (const char* name : {"store", "work", "failed"}) {
    std::error_code wrong;
    fs::create_directories(fs::path(directory) / name, wrong);
    QUINTET_CHECK(!wrong, "The directory '{}' cannot be used: {}", directory, wrong.message());
  }
  if (!fs::exists(file)) write_text_file(file, version);
}

std::string Store::state(const std::string& directory, const Item& item) {
  if (const auto done = find(directory, item, false))
    return !done->damage.empty() ? "damaged" : done->needed ? "done" : "not needed";
  if (const auto program = program_in(directory + "/work/" + item.key)) {
    if (program->is_alive) return fmt::format("running as {}", program->process);
    if (program->host != host_name() && !Workers::holder(directory, item.key).empty())
      return fmt::format("running as {} on {}", program->process, program->host);
  }
  return fs::exists(directory + "/failed/" + item.key) ? "failed" : "waiting";
}

std::map<std::string, double> Store::times(const std::string& directory) {
  return numbers_in(directory + times_file);
}

std::map<std::string, double> Store::memory(const std::string& directory) {
  return numbers_in(directory + memory_file);
}

void Store::ask_more(const Item& item, double memory) const {
  append_line(directory_ + memory_file, fmt::format("{:.0f} {}\n", memory, item.label));
}

std::string Store::why_failed(const Item& item) const {
  const std::string file = directory_ + "/failed/" + item.key + "/why.txt";
  std::error_code absent;
  const auto written = fs::last_write_time(file, absent);
  if (absent || written < workers_.since()) return "";
  std::ifstream stream(file);
  std::string label, why;
  std::getline(stream, label);
  std::getline(stream, why);
  return why.empty() ? "it failed" : why;
}

DoneItem Store::read(const std::string& folder) {
  DoneItem done;
  parse_options(read_yaml(folder + "/" + item_file), described(done));
  return done;
}

std::optional<DoneItem> Store::find(const std::string& directory, const Item& item, bool all_bytes) {
  const std::string folder = directory + "/store/" + item.key;
  std::error_code absent;
  if (!fs::exists(fs::symlink_status(folder, absent))) return std::nullopt;
  DoneItem done;
  try {
    done = read(folder);
  } catch (const InputError& error) {
    if (!fs::exists(folder)) return std::nullopt;  // another campaign has put it aside, in this moment
    done.damage = fmt::format("{}; remove '{}', and it is made again", error.what(), folder);
    return done;
  }
  if (done.identity != item.identity) {
    done.damage = fmt::format("'{}' is of another run with the same key: move it away", folder);
    return done;
  }
  // A machine that went down may have lost what was written last, though not the name: read all again.
  all_bytes = all_bytes || done.boot != boot();
  for (const auto& line : done.files) {
    const auto first = line.find(' '), second = line.find(' ', first + 1);
    const std::string path = folder + "/" + DoneItem::name_of(line);
    if (is_as_it_was(path, line.substr(0, first), line.substr(0, second), all_bytes)) continue;
    done.damage = fmt::format("'{}' is damaged or gone: remove '{}', and it is made again", path, folder);
    return done;
  }
  return done;
}

void Store::put_damaged_aside(const Item& item) {
  const auto is_damaged = [&] {
    const auto done = find(directory_, item, true);
    return done && !done->damage.empty();
  };
  if (!is_damaged() || !claim(item)) return;
  if (is_damaged()) {  // still: another campaign may have made it again meanwhile
    const std::string to = directory_ + "/damaged/" + item.key;
    std::error_code wrong;
    fs::create_directories(directory_ + "/damaged", wrong);
    remove_folder(to);
    rename_path(directory_ + "/store/" + item.key, to);
    log::info("{}: what is damaged lies in {}", item.label, to);
  }
  release(item);
}

bool Store::is_begun(const Item& item) const { return fs::exists(work(item)); }

void Store::begin(const Item& item, bool afresh) const {
  if (afresh) remove_folder(work(item));
  std::error_code wrong;
  fs::create_directories(work(item), wrong);
  if (wrong) throw ResourceError(fmt::format("'{}' cannot be made: {}", work(item), wrong.message()));
}

std::string Store::finish(const Item& item, const StageOptions& stage, double seconds,
                          std::int64_t tries) const {
  const std::string folder = work(item);
  for (const auto& pattern : stage.outputs)
    if (!anything_matches(pattern_in(folder, pattern)))
      return fmt::format("it ended well but made no '{}'", pattern);
  for (const auto& pattern : stage.non_empty)
    for (const auto& file : files_that_match(pattern_in(folder, pattern)))
      if (fs::is_empty(file))
        return fmt::format("it ended well but '{}' is empty",
                           fs::path(file).lexically_relative(folder).string());
  DoneItem done{.identity = item.identity,
                .label = item.label,
                .host = host_name(),
                .boot = boot(),
                .seconds = seconds,
                .tries = tries,
                .needed = true,
                .files = {}};
  try {
    const std::string note = note_of(folder);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().lexically_relative(folder).string();
      if (entry.is_regular_file() && !entry.is_symlink() && name != item_file && entry.path() != note)
        done.files.push_back(contents_of(entry.path().string()) + " " + name);
    }
  } catch (const InputError& error) {  // its own fault: others go on
    return error.what();
  } catch (const fs::filesystem_error& error) {
    return error.what();
  }
  write_done(item, done);
  append_line(directory_ + times_file, fmt::format("{:.6g} {}\n", seconds, item.label));
  return "";
}

void Store::write_done(const Item& item, DoneItem& done) const {
  // The note of its process becomes what is known of the item: a file less to be made for each. Nobody reads
  // it before the folder has its name, and what a machine that goes down loses of it is found then.
  const std::string folder = work(item), note = note_of(folder);
  write_over(note, print_options(described(done)));
  rename_path(note, folder + "/" + item_file);
  remove_folder(directory_ + "/failed/" + item.key);
  rename_path(folder, directory_ + "/store/" + item.key);
}

void Store::leave_out(const Item& item) const {
  begin(item, true);
  DoneItem done{.identity = item.identity,
                .label = item.label,
                .host = host_name(),
                .boot = boot(),
                .seconds = 0,
                .tries = 1,
                .needed = false,
                .files = {}};
  write_done(item, done);
}

void Store::give_up(const Item& item, const std::string& why) const {
  const std::string to = directory_ + "/failed/" + item.key;
  remove_folder(to);
  std::error_code ignored;
  fs::create_directories(work(item), ignored);  // an item may have removed its own
  rename_path(work(item), to);
  write_text_file(to + "/why.txt", fmt::format("{}\n{}\n", item.label, why));
}

}  // namespace quintet::campaign
