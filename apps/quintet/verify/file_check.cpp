#include "apps/quintet/verify/file_check.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::verify {

namespace fs = std::filesystem;

namespace {

/// Whether a run has renamed the file, or a killed one left it unfinished.
bool is_put_aside(const std::string& name) {
  return name.find(".damaged") != std::string::npos || name.find(".superseded") != std::string::npos ||
         name.find(".before_repair") != std::string::npos ||
         fs::path(name).extension().string().starts_with(".tmp");
}

void damage(FileCheck& check, const std::string& what) {
  check.verdict = Verdict::damaged;
  if (!check.what.empty()) check.what += "; ";
  check.what += what;
}

/// Without the path that the line begins with.
std::string without(const std::string& path, std::string text) {
  if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
  return text;
}

void look_inside(FileCheck& check) {
  if (const auto found = hdf5::damage(Comm::self(), check.path))
    return damage(check, without(check.path, *found));
  check.can_be_opened = true;
  const auto file = hdf5::File::open(Comm::self(), check.path);
  check.tables = tables_of(file);
  for (const auto& table : check.tables)
    for (const auto& what : {table.damage, table.altered})
      if (!what.empty())
        damage(check, fmt::format("{}: {}", table.group.empty() ? "table" : table.group, what));
}

}  // namespace

bool is_known(const std::string& path) {
  const auto is_ending = [](const fs::path& ending) { return ending == ".h5" || ending == ".dp"; };
  const fs::path name = fs::path(path).filename();
  return is_ending(name.extension()) || (is_put_aside(name.string()) && is_ending(name.stem().extension()));
}

FileCheck check_file(const std::string& path, bool is_owned) {
  FileCheck check{.path = path};
  const fs::path place = path;
  const std::string name = place.filename().string();
  if (is_put_aside(name)) {
    check.verdict = Verdict::put_aside;
    return check;
  }
  check.is_checkpoint = place.parent_path().filename() == "checkpoints" && name.starts_with("step_");
  try {
    check.has_seal = hdf5::is_sealed(Comm::self(), path);
    if (is_owned && !check.has_seal && !check.is_checkpoint) {
      check.verdict = Verdict::in_use;
      return check;
    }
    if (check.is_checkpoint)
      hdf5::verify_checkpoint(Comm::self(), path);
    else
      hdf5::verify_if_sealed(Comm::self(), path);
  } catch (const Error& error) {
    damage(check, without(path, error.what()));
  }
  if (check.is_checkpoint) return check;
  try {
    look_inside(check);
  } catch (const Error& error) {
    damage(check, without(path, error.what()));
  }
  if (check.verdict != Verdict::whole) return check;
  for (const auto& table : check.tables)
    if (table.rows > 0)
      check.what += fmt::format("{}{} {}", check.what.empty() ? "" : ", ",
                                table.group.empty() ? "rows" : table.group, table.rows);
  return check;
}

}  // namespace quintet::verify
