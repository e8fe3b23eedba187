#include "apps/quintet/verify/verify.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/application/life/owner_state.hpp"
#include "apps/application/life/restart.hpp"
#include "apps/quintet/verify/file_check.hpp"
#include "io/files/put_aside.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::commands {

namespace fs = std::filesystem;
using namespace quintet::verify;

namespace {

/// The files of a directory that are known, or that one file; no links are followed, and no folder of a run
/// within.
std::vector<std::string> files_of(const std::string& place) {
  if (fs::is_regular_file(place)) return {place};
  QUINTET_CHECK(fs::is_directory(place), "{}: no such file or folder", place);
  std::vector<std::string> files;
  const auto add = [&](const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_regular_file() && !entry.is_symlink() && is_known(entry.path().string()))
        files.push_back(entry.path().string());
  };
  add(place);
  for (const char* inner : {"checkpoints", "failed"})
    if (fs::is_directory(fs::path(place) / inner)) add(fs::path(place) / inner);
  std::sort(files.begin(), files.end());
  return files;
}

/// Counts of rows in a checkpoint.
struct Counted {
  std::string path;
  RowCounts rows;
};

/// The newest whole checkpoint; files are in the order of their steps.
std::optional<Counted> newest_of(const std::vector<FileCheck>& checks) {
  for (auto check = checks.rbegin(); check != checks.rend(); ++check) {
    if (!check->is_checkpoint || check->verdict != Verdict::whole) continue;
    return Counted{check->path, read_row_counts(hdf5::File::open(Comm::self(), check->path).root())};
  }
  return std::nullopt;
}

/// The rows that a checkpoint counts of a table: tables go by their name, frames by that of their file.
std::optional<std::uint64_t> rows_counted(const Counted& checkpoint, const FileCheck& file,
                                          const Table& table) {
  const auto name = fs::path(file.path).filename().string();
  const auto found = checkpoint.rows.find(name == "run.h5" ? table.group : name);
  return found == checkpoint.rows.end() ? std::nullopt : std::optional(found->second);
}

/// Rows that a checkpoint counts and that are not there any more.
void compare(std::vector<FileCheck>& checks, const Counted& checkpoint) {
  for (auto& check : checks)
    for (const auto& table : check.tables)
      if (const auto rows = rows_counted(checkpoint, check, table); rows && table.whole < *rows) {
        check.verdict = Verdict::damaged;
        check.what +=
            fmt::format("{}{}: {} of the {} rows that {} counts", check.what.empty() ? "" : "; ", table.group,
                        table.whole, *rows, fs::path(checkpoint.path).filename().string());
      }
}

std::string line_of(const FileCheck& check) {
  switch (check.verdict) {
    case Verdict::whole:
      return fmt::format("whole       {}{}{}{}", check.path, check.has_seal ? " (its checksum agrees)" : "",
                         check.what.empty() ? "" : ": ", check.what);
    case Verdict::damaged:
      return fmt::format("damaged     {}: {}", check.path, check.what);
    case Verdict::put_aside:
      return fmt::format("put aside   {}", check.path);
    case Verdict::in_use:
      return fmt::format("in use      {}: a living run writes to it", check.path);
  }
  throw InternalError("a verdict without words");
}

void say(const std::string& line) { std::fputs((line + "\n").c_str(), stdout); }

/// Who is alive and owns the run directory that a place is, or lies in.
std::optional<OwnerState> living_owner(const std::string& place) {
  const fs::path folder = fs::is_directory(place) ? fs::path(place) : fs::path(place).parent_path();
  auto owner = owner_state((folder / ".quintet").string());
  return owner && owner->is_alive ? owner : std::nullopt;
}

/// Cut what grows in a file; `.before_repair` is the file as it was.
void repair_file(const FileCheck& check, const std::optional<Counted>& checkpoint) {
  std::vector<std::pair<const Table*, std::uint64_t>> cuts;
  for (const auto& table : check.tables) {
    std::uint64_t rows = table.whole;
    if (checkpoint) rows = std::min(rows, rows_counted(*checkpoint, check, table).value_or(rows));
    if (rows < table.rows || !table.damage.empty()) cuts.emplace_back(&table, rows);
  }
  if (cuts.empty()) return;
  const std::string aside = check.path + ".before_repair";
  QUINTET_CHECK(!fs::exists(aside), "{}: is there from an earlier repair; move it away first", aside);
  fs::copy_file(check.path, aside);
  auto file = hdf5::File::open_for_update(Comm::self(), check.path);
  for (const auto& [table, rows] : cuts) {
    cut(file, *table, rows);
    say(fmt::format("repaired    {}: {} has {} now, of {}; the file as it was is {}", check.path,
                    table->group, counted(rows, "row"), table->rows, aside));
  }
  file.close();
}

void repair(const std::vector<FileCheck>& checks, const std::optional<Counted>& checkpoint) {
  for (const auto& check : checks) {
    if (check.is_checkpoint && check.verdict == Verdict::damaged) {
      say(fmt::format("put aside   {} as {}", check.path, put_aside(check.path)));
    } else if (check.can_be_opened) {
      repair_file(check, checkpoint);
    }
  }
}

std::vector<FileCheck> check_all(const std::string& place) {
  std::vector<FileCheck> checks;
  const bool is_owned = living_owner(place).has_value();
  for (const auto& path : files_of(place)) checks.push_back(check_file(path, is_owned));
  QUINTET_CHECK(!checks.empty(), "{}: no HDF5 file and no model (.h5, .dp) is in it; name a run directory",
                place);
  if (const auto newest = newest_of(checks)) compare(checks, *newest);
  return checks;
}

std::size_t n_damaged(const std::vector<FileCheck>& checks) {
  return std::count_if(checks.begin(), checks.end(),
                       [](const auto& check) { return check.verdict == Verdict::damaged; });
}

}  // namespace

std::vector<Application::Flag> verify_flags() {
  return {{"DIR", "a run directory, or one file of it", true, ""},
          {"--repair", "cut tables and frames to the newest whole checkpoint; copies of what is changed stay",
           false, "", true}};
}

void verify(const Application::Arguments& arguments) {
  const std::string place = arguments[0].front();
  const bool repairs = !arguments[1].empty();
  if (repairs) {
    QUINTET_CHECK(fs::is_directory(place), "{}: --repair takes a run directory", place);
    const auto owner = living_owner(place);
    QUINTET_CHECK(!owner,
                  "{}: a run on {} (process {}) owns it; nothing was changed. Wait for its end, or stop it",
                  place, owner->host, owner->process);
  }
  auto checks = check_all(place);
  for (const auto& check : checks) say(line_of(check));
  if (repairs) {
    repair(checks, newest_of(checks));
    checks = check_all(place);
  }
  const auto n = n_damaged(checks);
  QUINTET_CHECK(n == 0, "{}: {} of {} files {} damaged{}", place, n, checks.size(), n == 1 ? "is" : "are",
                repairs ? " and cannot be mended by cutting" : "; --repair cuts what can be cut");
}

}  // namespace quintet::commands
