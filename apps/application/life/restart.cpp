#include "apps/application/life/restart.hpp"

#include <algorithm>
#include <filesystem>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

constexpr const char* rows_group = "rows";

/// One file of hdf5::Provenance::inputs.
struct KnownFile {
  std::string key, path, bytes, checksum;
};

std::vector<KnownFile> known_files(const std::string& inputs, const std::string& where) {
  std::vector<KnownFile> files;
  if (inputs.empty()) return files;
  const Tree list = parse_yaml(inputs, where + ": inputs");
  for (const auto& item : list.items())
    files.push_back({item.at("key").as_text(), item.at("path").as_text(), item.at("bytes").as_text(),
                     item.at("checksum").as_text()});
  return files;
}

/// The files of a key, one after the other.
std::vector<KnownFile> of_key(const std::vector<KnownFile>& files, const std::string& key) {
  std::vector<KnownFile> mine;
  std::copy_if(files.begin(), files.end(), std::back_inserter(mine),
               [&](const auto& file) { return file.key == key; });
  return mine;
}

bool same_content(const std::vector<KnownFile>& a, const std::vector<KnownFile>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.checksum == y.checksum; });
}

std::string shown(const std::vector<KnownFile>& files) {
  std::string text;
  for (const auto& file : files)
    text += fmt::format("{}{} ({} bytes, checksum {})", text.empty() ? "" : ", ", file.path, file.bytes,
                        file.checksum);
  return text.empty() ? "absent" : text;
}

/// Compare files by their content: a moved file does not count as changed, another content under the same
/// name does.
void compare_files(std::vector<Change>& changes, const Describe& describe, const std::vector<KnownFile>& then,
                   const std::vector<KnownFile>& now) {
  std::erase_if(changes, [&](auto& change) {
    if (!change.is_file) return false;
    const auto before = of_key(then, change.key), after = of_key(now, change.key);
    change.from = shown(before), change.to = shown(after);
    return same_content(before, after);
  });
  for (const auto& file : input_files(describe)) {
    const auto before = of_key(then, file.key), after = of_key(now, file.key);
    const bool told = std::any_of(changes.begin(), changes.end(),
                                  [&](const auto& change) { return change.key == file.key; });
    if (!told && !before.empty() && !same_content(before, after))
      changes.push_back({file.key, file.rule, shown(before), shown(after), true});
  }
}

std::vector<Change> changes_of(const hdf5::Provenance& former, const std::string& where,
                               const Describe& describe, const std::string& inputs) {
  if (former.configuration.empty()) {
    log::warning("{}: holds no configuration; that it is of this run cannot be checked", where);
    return {};
  }
  auto changes = changes_since(parse_yaml(former.configuration, where + ": configuration"), describe);
  if (!former.inputs.empty())
    compare_files(changes, describe, known_files(former.inputs, where), known_files(inputs, "this run"));
  return changes;
}

std::string lines_of(const std::vector<Change>& changes, OnRestart rule) {
  std::string text;
  for (const auto& change : changes)
    if (change.rule == rule)
      text += fmt::format("\n  {}: {} there, {} here", change.key, change.from, change.to);
  return text;
}

/// Refuse, or say in the log, what differs from the run that wrote `where`.
void judge(const std::vector<Change>& changes, const std::string& where, bool may_change,
           const std::string& way_out) {
  const std::string fixed = lines_of(changes, OnRestart::fixed),
                    physics = lines_of(changes, OnRestart::physics);
  QUINTET_CHECK(fixed.empty(),
                "{}: is of another run, which this one cannot continue as it differs in{}\nPut the values "
                "back, or {}",
                where, fixed, way_out);
  QUINTET_CHECK(physics.empty() || may_change,
                "{}: is of a run with other physics:{}\nPut the values back, {}; or, if the change is meant, "
                "add --restart-with-changes: the results then say where it was made",
                where, physics, way_out);
  for (const auto& change : changes) {
    if (change.rule == OnRestart::free)
      log::info("restart: {}: {} -> {}", change.key, change.from, change.to);
    else
      log::warning("From here on {} is {}; it was {}", change.key, change.to, change.from);
  }
}

/// The changes so far and those made now.
std::string record(const std::string& former, const std::vector<Change>& changes, std::int64_t step) {
  Tree list = Tree::list();
  if (!former.empty()) list = parse_yaml(former, "changes");
  for (const auto& change : changes) {
    if (change.rule == OnRestart::free) continue;
    Tree tree = Tree::map();
    tree.set("step", Tree::integer(step));
    tree.set("date", Tree::text(hdf5::current_provenance().date));
    tree.set("key", Tree::text(change.key));
    tree.set("from", Tree::text(change.from));
    tree.set("to", Tree::text(change.to));
    list.append(std::move(tree));
  }
  return list.items().empty() ? "" : to_yaml(list);
}

bool is_there(const Comm& comm, const std::string& path) {
  return comm.any(comm.is_root() && fs::exists(path));
}

/// Provenance of a run.h5 that can be read.
std::optional<hdf5::Provenance> provenance_of_results(const Comm& comm, const std::string& path) {
  // A kill may have left it unreadable: it is put aside later.
  if (!is_there(comm, path) || !damage_of_results(comm, path).empty()) return std::nullopt;
  const auto file = hdf5::File::open(comm, path);
  hdf5::check_header(file, results_schema, results_version);
  return hdf5::read_provenance(file.root());
}

void require_program(const std::string& found, const Request& request, const std::string& path,
                     const char* what) {
  QUINTET_CHECK(found == request.program, "{}: is {} of '{}'; '{}' cannot go on from it", path, what, found,
                request.program);
}

/// No checkpoint: what was begun here must have been this run.
RestartPoint begin_again(const Comm& comm, const Request& request, const std::string& directory,
                         const Describe& describe, const std::string& inputs) {
  log::info("No checkpoint in {} to restart from; starting from the beginning", directory);
  const std::string path = directory + "/run.h5";
  const auto former = provenance_of_results(comm, path);
  if (!former) return {};
  require_program(former->program, request, path, "a file of results");
  auto changes = changes_of(*former, path, describe, inputs);
  for (auto& change : changes)  // nothing is continued, so nothing has to fit
    if (change.rule == OnRestart::fixed) change.rule = OnRestart::physics;
  judge(changes, path, request.restart_with_changes,
        "choose another directory with --output DIR, or replace it with --overwrite");
  return {};
}

}  // namespace

void write_row_counts(hdf5::Group& root, const RowCounts& rows) {
  if (rows.empty()) return;
  auto group = root.group(rows_group);
  std::vector<std::string> names;
  for (const auto& [name, n] : rows) {
    group.set_attribute(name, n);
    names.push_back(name);
  }
  group.set_attribute("names", names);
}

RowCounts read_row_counts(const hdf5::Group& root) {
  RowCounts rows;
  if (!root.has(rows_group)) return rows;
  const auto group = root.open_group(rows_group);
  for (const auto& name : group.texts_attribute("names")) {
    const std::int64_t n = group.integer_attribute(name);
    QUINTET_CHECK(n >= 0, "{}/{}: is {}; expected 0 or more", rows_group, name, n);
    rows[name] = n;
  }
  return rows;
}

void write_losses(hdf5::Group& root, const Losses& losses) {
  if (losses.empty()) return;
  std::vector<std::string> names, texts;
  for (const auto& [what, text] : losses) {
    names.push_back(what);
    texts.push_back(text);
  }
  root.set_attribute("lost", names);
  root.set_attribute("lost_texts", texts);
}

Losses read_losses(const hdf5::Group& root) {
  Losses losses;
  if (!root.has_attribute("lost")) return losses;
  const auto names = root.texts_attribute("lost"), texts = root.texts_attribute("lost_texts");
  for (std::size_t i = 0; i < std::min(names.size(), texts.size()); ++i)
    losses.emplace_back(names[i], texts[i]);
  return losses;
}

std::string damage_of_results(const Comm& comm, const std::string& path) {
  if (!is_there(comm, path)) return "";
  try {
    const auto file = hdf5::File::open(comm, path);
    if (!file.root().has_attribute("schema")) return "it has no header";
    (void)hdf5::read_provenance(file.root());
    file.check_attributes();
    return hdf5::damage(comm, path).value_or("");
  } catch (const InputError& error) {
    // What the system refuses (locked by a reader, no permission) is no damage: the file may be whole.
    std::string text = error.what();
    if (text.find("errno = ") != std::string::npos || text.find("MPI_File_open failed") != std::string::npos)
      throw;
    return text;
  }
}

RestartPoint find_restart(const Comm& comm, const Request& request, const std::string& directory,
                          const Describe& describe, const std::string& inputs) {
  if (request.restart.empty()) return {};
  std::string path;
  if (request.restart == "auto") {
    const auto newest = hdf5::CheckpointStore(comm, directory + "/checkpoints", 1).newest();
    if (!newest) return begin_again(comm, request, directory, describe, inputs);
    path = *newest;
  } else {
    path = fs::absolute(request.restart).lexically_normal().string();
    hdf5::verify_checkpoint(comm, path);
  }
  const auto file = hdf5::File::open(comm, path);
  const std::int64_t step = hdf5::checkpoint_step(file);
  const auto former = hdf5::read_provenance(file.root());
  require_program(former.program, request, path, "a checkpoint");
  const auto results = request.overwrite ? std::nullopt : provenance_of_results(comm, directory + "/run.h5");
  QUINTET_CHECK(!results || results->program.empty() || results->run == former.run,
                "{}: is of another run than the results in '{}', which would be continued with it; choose "
                "another directory with --output DIR, or replace them with --overwrite",
                path, directory);
  const auto changes = changes_of(former, path, describe, inputs);
  judge(changes, path, request.restart_with_changes, "start a new run in another directory (--output DIR)");
  return {path, former.run, record(former.changes, changes, step), read_row_counts(file.root()),
          read_losses(file.root())};
}

}  // namespace quintet
