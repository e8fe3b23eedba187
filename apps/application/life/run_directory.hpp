#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/application/life/last_word.hpp"
#include "apps/application/life/request.hpp"
#include "apps/application/life/run_owner.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// The directory that a request names, absolute.
[[nodiscard]] std::string requested_directory(const Request& request);

/// The directory of a run: owned by one run at a time, written to from one moment on.
///
/// Its folder `.quintet` says who owns it (RunOwner) and, in `files`, what its runs wrote: names and patterns
/// relative to the directory, one a line, `*` within a name, `NAME/**` for a folder with all it holds. Only
/// such files are ever removed, and folders that are empty then. What a new run replaces waits in
/// `.quintet/replaced` until that run is done. With --validate nothing is made, locked or
/// removed; with --cost and --step-times it is not looked at.
class RunDirectory {
 public:
  /// Take the directory for this process; nothing in it is changed. Collective. Throws InputError if it is a
  /// file, has an owner, or holds a run that the request neither goes on from nor overwrites; `last_word`, if
  /// given, learns whose the directory is and that the run has begun. In a job it waits for an owner that may
  /// be dead.
  RunDirectory(const Comm& comm, const Request& request, LastWord* last_word = nullptr);
  ~RunDirectory();  ///< lets it go; removes it if it was made here and not written to
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has_begun() const { return begun_; }

  /// The run begins: put `writes`, which the run will write besides what all write, on the list; take away
  /// what the former run left unless this one goes on from it (see replaced()); of that, what is `damaged` is
  /// put aside. Collective. Throws InputError, before anything is changed, if a file of the user's is in the
  /// way, or if one of `reads` would be removed.
  void begin(const std::vector<std::string>& writes, bool goes_on, const std::vector<std::string>& reads,
             const std::vector<std::string>& damaged = {});
  /// Folder with what this run replaces, "" if there is none.
  [[nodiscard]] std::string replaced() const;
  /// The run is done: remove what it replaces. Root only.
  void forget_replaced() const;
  /// Put one more name on the list. Root only. Throws InputError if a file of the user's has that name.
  void claim(const std::string& name);
  /// Paths of the HDF5 files in the directory that runs wrote: results, frames, models. Root only.
  [[nodiscard]] std::vector<std::string> hdf5_files() const;

 private:
  void take(const Request& request);
  [[nodiscard]] std::string begin_on_root(const std::vector<std::string>& writes, bool goes_on,
                                          const std::vector<std::string>& reads,
                                          const std::vector<std::string>& damaged);
  void write_list() const;

  const Comm& comm_;
  LastWord* last_word_;
  std::string path_;
  bool validates_, overwrites_, restarts_;
  bool begun_ = false;
  std::string made_;  ///< the uppermost folder that was made here
  std::unique_ptr<RunOwner> owner_;
  std::vector<std::string> list_;
};

}  // namespace quintet
