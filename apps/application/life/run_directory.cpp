#include "apps/application/life/run_directory.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "io/config/tree.hpp"
#include "io/files/put_aside.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/batch_job.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

constexpr const char* own_folder = ".quintet";
constexpr const char* list_title = "# What runs of this directory write; --overwrite removes it.";

/// Files that every run writes.
const std::vector<std::string> common_files = {"run.log",
                                               "run.h5",
                                               "*.damaged.h5",
                                               "*.damaged.*.h5",
                                               "summary.json",
                                               "progress.json",
                                               "progress.json.tmp",
                                               "report.html",
                                               "citations.bib",
                                               "checkpoints/step_*.h5",
                                               "checkpoints/step_*.h5.*",
                                               "emergency/step_*.h5",
                                               "emergency/step_*.h5.*"};

bool holds_run(const fs::path& directory) {
  for (const char* name : {"run.h5", "summary.json", "trajectory.h5"})
    if (fs::exists(directory / name)) return true;
  return fs::exists(directory / "checkpoints") && !fs::is_empty(directory / "checkpoints");
}

/// Whether a pattern of the list means the file `name`, relative to the directory.
bool means(const std::string& pattern, const std::string& name) {
  if (pattern.ends_with("/**")) {
    const std::string folder = pattern.substr(0, pattern.size() - 3);
    const auto depth = std::count(folder.begin(), folder.end(), '/');
    std::size_t end = 0;
    for (auto i = -1; i < depth && end != std::string::npos; ++i)
      end = name.find('/', end + (i >= 0 ? 1 : 0));
    return end != std::string::npos &&
           ::fnmatch(folder.c_str(), name.substr(0, end).c_str(), FNM_PATHNAME) == 0;
  }
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME) == 0;
}

bool is_listed(const std::vector<std::string>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& pattern) { return means(pattern, name); });
}

/// Files of the directory but those of our own folder, relative to it; links are not followed.
std::vector<std::string> files_in(const fs::path& directory) {
  std::vector<std::string> files;
  if (!fs::is_directory(directory)) return files;
  for (auto at = fs::recursive_directory_iterator(directory); at != fs::recursive_directory_iterator();
       ++at) {
    const bool is_folder = at->is_directory() && !at->is_symlink();
    if (at.depth() == 0 && at->path().filename() == own_folder)
      at.disable_recursion_pending();
    else if (!is_folder)
      files.push_back(at->path().lexically_relative(directory).string());
  }
  return files;
}

/// The file that "NAME.tmp" or "NAME.tmp4711" was to become; "" for other names.
std::string finished_name(const std::string& name) {
  const auto end = name.find_last_not_of("0123456789");
  const std::string stem = end == std::string::npos ? "" : name.substr(0, end + 1);
  return stem.ends_with(".tmp") ? stem.substr(0, stem.size() - 4) : "";
}

/// Remove what a killed process had not yet given its name; the directory is ours, so nobody else writes it.
void remove_unfinished(const fs::path& directory, const std::vector<std::string>& list) {
  std::error_code ignored;
  for (const auto& name : files_in(directory))
    if (const auto finished = finished_name(name); !finished.empty() && is_listed(list, finished))
      fs::remove(directory / name, ignored);
  for (const auto& entry : fs::directory_iterator(directory / own_folder, ignored))
    if (const auto finished = finished_name(entry.path().filename().string());
        finished == "files" || finished.starts_with("last_word"))
      fs::remove(entry.path(), ignored);
}

std::vector<std::string> read_list(const fs::path& directory) {
  std::vector<std::string> list;
  std::ifstream file(directory / own_folder / "files");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') list.push_back(line);
  return list;
}

/// Whether only --overwrite removes a file: the log, and what was put aside.
bool is_kept(const std::string& name) {
  return name == "run.log" || is_listed({"*.damaged.h5", "*.damaged.*.h5"}, name);
}

/// Remove a file and the folders that are empty without it.
void remove_with_folders(const fs::path& directory, const std::string& name) {
  std::error_code not_empty;
  fs::path at = directory / name;
  fs::remove(at);
  for (at = at.parent_path(); at != directory && fs::remove(at, not_empty); at = at.parent_path()) continue;
}

constexpr const char* replaced_folder = "replaced";
constexpr const char* moving_folder = "replacing";  // until all is there

/// Whether a run waits in the folder; what a user has taken back leaves empty folders.
bool holds_files(const fs::path& kept) { return fs::is_directory(kept) && !files_in(kept).empty(); }

/// Take away what a new run replaces: to the folder where it waits until that run is done. Where one waits
/// already, this is of a run that was never done, and is removed.
void replace(const fs::path& directory, const std::vector<std::string>& names) {
  const fs::path moving = directory / own_folder / moving_folder,
                 kept = directory / own_folder / replaced_folder;
  const bool has_kept = holds_files(kept);
  for (const auto& name : names) {
    if (!has_kept) {
      fs::create_directories((moving / name).parent_path());
      fs::rename(directory / name, moving / name);
    }
    remove_with_folders(directory, name);
  }
  if (has_kept || !fs::exists(moving)) return;
  fs::remove_all(kept);
  fs::rename(moving, kept);
}

/// Make a folder; returns the uppermost one that was not there, "" if all were.
std::string make_folder(const fs::path& folder) {
  fs::path made;
  for (fs::path at = folder; !at.empty() && !fs::exists(at); at = at.parent_path()) made = at;
  fs::create_directories(folder);
  return made.string();
}

/// Objection to using the directory for the request, or nothing.
std::string objection(const fs::path& directory, const Request& request) {
  if (fs::exists(directory) && !fs::is_directory(directory))
    return fmt::format("The output directory '{}' is a file; name another one with --output",
                       directory.string());
  if (!request.restart.empty() || !holds_run(directory)) return "";
  if (!request.overwrite)
    return fmt::format(
        "The directory '{}' already holds a run; nothing was written over. Continue it with --restart "
        "auto, choose another directory with --output DIR, or replace it with --overwrite",
        directory.string());
  if (!read_list(directory).empty()) return "";
  return fmt::format(
      "The directory '{}' holds files, but no list of what runs wrote there (.quintet/files): nothing was "
      "removed. Remove by hand what is not needed, or choose another directory with --output DIR",
      directory.string());
}

/// Run `work` on root and throw what it threw, or said is wrong, on all ranks. Collective.
template <class Work>
void object_together(const Comm& comm, const Work& work) {
  on_root(comm, [&] {
    try {
      const std::string wrong = work();
      QUINTET_CHECK(wrong.empty(), "{}", wrong);
    } catch (const fs::filesystem_error& error) {
      throw InputError(
          fmt::format("The output directory cannot be used: '{}': {}. Name another one with --output",
                      error.path1().string(), error.code().message()));
    }
  });
}

}  // namespace

std::string requested_directory(const Request& request) {
  const fs::path named =
      request.output.empty() ? fs::path("runs") / fs::path(request.input).stem() : fs::path(request.output);
  return fs::absolute(named).lexically_normal().string();
}

RunDirectory::RunDirectory(const Comm& comm, const Request& request, LastWord* last_word)
    : comm_(comm),
      last_word_(last_word),
      path_(requested_directory(request)),
      validates_(request.validate),
      overwrites_(request.overwrite),
      restarts_(!request.restart.empty()) {
  path_ = comm.broadcast(path_);
  if (request.measures) return;  // nothing will be written: a run that is there, or goes on, is no matter
  object_together(comm, [&]() -> std::string {
    if (auto wrong = objection(path_, request); !wrong.empty() || validates_) return wrong;
    take(request);
    return objection(path_, request);  // another run may have come and gone
  });
}

void RunDirectory::take(const Request& request) {
  const bool in_job = (last_word_ != nullptr && last_word_->is_awaited()) || this_job().has_value();
  const auto patience = in_job ? RunOwner::Patience::waits : RunOwner::Patience::none;
  const fs::path folder = fs::path(path_) / own_folder;
  const auto end_at_once = [comm = comm_](const std::string& why) {
    log::error("{}", why);
    log::flush();
    comm.abort(ExitCode::resource);
  };
  constexpr int tries = 20;  // one that leaves a new directory may take it away meanwhile
  for (int i_try = 1; !owner_; ++i_try) {
    const std::string made = make_folder(folder);
    if (made_.empty()) made_ = made;
    try {
      owner_ = std::make_unique<RunOwner>(folder.string(), request.program, end_at_once, patience);
    } catch (const InputError&) {
      if (last_word_ != nullptr) last_word_->set_in_use();
      made_.clear();
      throw;
    } catch (const std::exception&) {
      if (i_try == tries || fs::exists(folder)) throw;
    }
  }
}

RunDirectory::~RunDirectory() {
  if (!owner_) return;
  const bool leaves_nothing = !begun_ && owner_->is_first();
  if (leaves_nothing) owner_->vanish();
  owner_.reset();
  if (!leaves_nothing || made_.empty()) return;
  std::error_code not_empty;
  fs::path at = fs::path(path_) / own_folder;
  while (fs::remove(at, not_empty) && at != fs::path(made_)) at = at.parent_path();
}

void RunDirectory::begin(const std::vector<std::string>& writes, bool goes_on,
                         const std::vector<std::string>& reads, const std::vector<std::string>& damaged) {
  if (begun_) return;
  object_together(comm_, [&] { return begin_on_root(writes, goes_on, reads, damaged); });
  begun_ = true;
  if (last_word_ != nullptr) last_word_->set_begun();
}

std::string RunDirectory::begin_on_root(const std::vector<std::string>& writes, bool goes_on,
                                        const std::vector<std::string>& reads,
                                        const std::vector<std::string>& damaged) {
  const auto former = read_list(path_);
  std::vector<std::string> mine = common_files, removed;
  mine.insert(mine.end(), writes.begin(), writes.end());
  const bool adopts = restarts_ && former.empty() && holds_run(path_);  // from before there were lists
  for (const auto& name : files_in(path_)) {
    const bool listed = is_listed(former, name);
    if (!listed && !adopts && is_listed(mine, name))
      return fmt::format(
          "'{}/{}' is in the way: the run would write over it, but no run of this directory made it. Move it "
          "away, or choose another directory with --output DIR",
          path_, name);
    if (listed && (!goes_on || overwrites_) && (overwrites_ || !is_kept(name))) removed.push_back(name);
  }
  const std::string own = fs::weakly_canonical(fs::path(path_) / own_folder).string() + "/";
  for (const auto& file : reads)
    if (fs::weakly_canonical(file).string().starts_with(own))
      return fmt::format("'{}' is an input of this run, but goes when the run is done: copy it out of '{}'",
                         file, own);
  for (const auto& file : reads)
    for (const auto& name : removed)
      if (std::error_code ignored; fs::equivalent(fs::path(path_) / name, file, ignored))
        return fmt::format(
            "'{}' is an input of this run, but also a result in '{}' that it would replace: copy it to "
            "another place, or choose another directory with --output DIR",
            file, path_);
  list_ = former;
  for (const auto& name : mine)
    if (std::find(list_.begin(), list_.end(), name) == list_.end()) list_.push_back(name);
  write_list();
  const auto is_damaged = [&](const auto& name) {
    return std::find(damaged.begin(), damaged.end(), name) != damaged.end();
  };
  std::vector<std::string> replaced;
  for (const auto& name : removed)
    if (is_damaged(name))
      put_aside(path_ + "/" + name);
    else
      replaced.push_back(name);
  replace(path_, replaced);
  remove_unfinished(path_, list_);
  if (goes_on || removed.empty()) return "";
  list_ = mine;  // what a former run wrote besides is gone; such names are the user's again
  write_list();
  return "";
}

std::string RunDirectory::replaced() const {
  const fs::path kept = fs::path(path_) / own_folder / replaced_folder;
  return begun_ && holds_files(kept) ? kept.string() : "";
}

void RunDirectory::forget_replaced() const {
  std::error_code ignored;
  for (const char* name : {replaced_folder, moving_folder})
    fs::remove_all(fs::path(path_) / own_folder / name, ignored);
}

void RunDirectory::claim(const std::string& name) {
  const bool is_folder = std::any_of(list_.begin(), list_.end(),
                                     [&](const auto& entry) { return entry.starts_with(name + "/"); });
  if (is_folder || is_listed(list_, name)) return;
  const fs::path file = fs::path(path_) / name;
  QUINTET_CHECK(!fs::exists(file) || restarts_,
                "'{}' is in the way: the run would write over it, but no run of this directory made it. Move "
                "it away, or choose another directory with --output DIR",
                file.string());
  list_.push_back(name);
  write_list();
}

std::vector<std::string> RunDirectory::hdf5_files() const {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path_)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".h5" || extension == ".dp") &&
        is_listed(list_, entry.path().filename().string()))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void RunDirectory::write_list() const {
  std::string text = std::string(list_title) + "\n";
  for (const auto& name : list_) text += name + "\n";
  write_text_file((fs::path(path_) / own_folder / "files").string(), text);
}

}  // namespace quintet
