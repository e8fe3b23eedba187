#include "apps/quintet/campaign/store.hpp"

#include <glob.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/quintet/campaign/contents.hpp"
#include "apps/quintet/campaign/program.hpp"
#include "io/config/scalar.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr const char *item_file = "campaign_item.yaml", *process_file = ".campaign_process";
constexpr const char* version = "quintet.campaign 1\n";

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool matches(const std::string& pattern) {
  glob_t found{};
  const int code = glob(pattern.c_str(), 0, nullptr, &found);
  const bool any = code == 0 && found.gl_pathc > 0;
  globfree(&found);
  return any;
}

void remove_folder(const std::string& path) {
  std::error_code wrong;
  fs::remove_all(path, wrong);
  if (wrong) throw ResourceError(fmt::format("'{}' cannot be removed: {}", path, wrong.message()));
}

void rename_folder(const std::string& from, const std::string& to) {
  std::error_code wrong;
  fs::rename(from, to, wrong);
  if (wrong) throw ResourceError(fmt::format("'{}' cannot be named '{}': {}", from, to, wrong.message()));
}

}  // namespace

void describe(Schema& schema, DoneItem& item) {
  schema.text("identity", item.identity, "All that the result depends on").required();
  schema.text("label", item.label, "Stage and values").required();
  schema.text("host", item.host, "Where it ran");
  schema.text("boot", item.boot, "Since when that machine was up");
  schema.quantity("seconds", item.seconds, "s", "Wall time of the last try").at_least(0);
  schema.integer("tries", item.tries, "How often it was begun").at_least(1);
  schema.texts("files", item.files, "Size, XXH64 and name of each file");
}

Store::Store(const std::string& directory) : directory_(directory) {
  const std::string folder = directory + "/.quintet";
  std::error_code failed;
  fs::create_directories(folder, failed);
  QUINTET_CHECK(!failed, "The directory '{}' cannot be used: {}", directory, failed.message());
  owner_ = std::make_unique<RunOwner>(folder, "quintet campaign", [](const std::string& why) {
    log::error("{}", why);  // another campaign has the store: nothing here may touch it any more
    log::flush();
    std::_Exit(static_cast<int>(ExitCode::resource));
  });
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
  end_what_is_left();
}

void Store::end_what_is_left() const {
  for (const auto& entry : fs::directory_iterator(directory_ + "/work")) {
    const std::string text = first_line((entry.path() / process_file).string());
    const auto blank = text.find(' ');
    if (blank != std::string::npos) {
      const auto process = to_integer(text.substr(0, blank));
      // The same number may be another process by now: its start tells.
      for (int wait_ms = 0; process && *process > 1 && start_of(*process) == text.substr(blank + 1);
           ++wait_ms) {
        if (wait_ms == 0) log::info("Ending process {}, which a campaign that was killed has left", *process);
        kill(static_cast<pid_t>(-*process), SIGKILL);
        if (wait_ms > 10000) throw ResourceError(fmt::format("process {} does not end", *process));
        usleep(1000);
      }
    }
  }
}

std::string Store::state(const std::string& directory, const Item& item) {
  if (find(directory, item, false)) return "done";
  const std::string text = first_line(directory + "/work/" + item.key + "/" + process_file);
  const auto blank = text.find(' ');
  if (blank != std::string::npos) {
    const auto process = to_integer(text.substr(0, blank));
    if (process && start_of(*process) == text.substr(blank + 1))
      return fmt::format("running as {}", *process);
  }
  return fs::exists(directory + "/failed/" + item.key) ? "failed" : "waiting";
}

std::optional<DoneItem> Store::find(const std::string& directory, const Item& item, bool all_bytes) {
  const std::string folder = directory + "/store/" + item.key, file = folder + "/" + std::string(item_file);
  if (!fs::exists(file)) return std::nullopt;
  DoneItem done;
  parse_options(read_yaml(file), described(done));
  QUINTET_CHECK(done.identity == item.identity, "'{}' is of another run with the same key: move it away",
                folder);
  // A machine that went down may have lost what was written last, though not the name: read all again.
  all_bytes = all_bytes || done.boot != boot();
  for (const auto& line : done.files) {
    const auto first = line.find(' '), second = line.find(' ', first + 1);
    const std::string path = folder + "/" + line.substr(second + 1);
    std::error_code wrong;
    const auto size = fs::file_size(path, wrong);
    const bool good = !wrong && fmt::format("{}", size) == line.substr(0, first) &&
                      (!all_bytes || contents_of(path) == line.substr(0, second));
    QUINTET_CHECK(good, "'{}' is damaged or gone: remove '{}', and it is made again", path, folder);
  }
  return done;
}

bool Store::is_begun(const Item& item) const { return fs::exists(work(item)); }

void Store::begin(const Item& item, bool afresh) const {
  if (afresh) remove_folder(work(item));
  std::error_code wrong;
  fs::create_directories(work(item), wrong);
  if (wrong) throw ResourceError(fmt::format("'{}' cannot be made: {}", work(item), wrong.message()));
}

void Store::claim(const Item& item, std::int64_t process) const {
  write_text_file(work(item) + "/" + std::string(process_file),
                  fmt::format("{} {}\n", process, start_of(process)));
}

std::string Store::finish(const Item& item, const StageOptions& stage, double seconds,
                          std::int64_t tries) const {
  const std::string folder = work(item);
  for (const auto& pattern : stage.outputs)
    if (!matches(folder + "/" + pattern)) return fmt::format("it ended well but made no '{}'", pattern);
  fs::remove(folder + "/" + std::string(process_file));
  DoneItem done{.identity = item.identity,
                .label = item.label,
                .host = host_name(),
                .boot = boot(),
                .seconds = seconds,
                .tries = tries,
                .files = {}};
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && !entry.is_symlink() && fs::relative(entry.path(), folder) != item_file) {
      done.files.push_back(contents_of(entry.path().string()) + " " +
                           fs::relative(entry.path(), folder).string());
    }
  write_text_file(folder + "/" + std::string(item_file), print_options(described(done)));
  remove_folder(directory_ + "/failed/" + item.key);
  rename_folder(folder, directory_ + "/store/" + item.key);
  return "";
}

void Store::give_up(const Item& item, const std::string& why) const {
  const std::string to = directory_ + "/failed/" + item.key;
  remove_folder(to);
  rename_folder(work(item), to);
  write_text_file(to + "/why.txt", fmt::format("{}\n{}\n", item.label, why));
}

}  // namespace quintet::campaign
