#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// What the harnesses of tests/fuzz are made of: a reader, good files to start from, and one rule of what is
/// right.
namespace quintet::fuzz {

/// One reader of the project under attack.
struct Reader {
  std::string name;
  std::string file;  ///< name of the file that it is given, by which some formats are known
  std::function<std::vector<std::string>()> seeds;    ///< contents of good files
  std::function<void(const std::string& path)> read;  ///< reads all that is there
};

/// The readers of this program; each harness defines it.
std::vector<Reader> readers();

/// Hand `bytes` to a reader as a file in `folder`.
///
/// Right is to read it or to refuse it with an error of the user's (InputError, UsageError, NumericalError).
/// All else leaves this function as an exception or ends the process: another error, more than 1 GB, more
/// than 10 s.
void give(const Reader& reader, const std::string& folder, std::string_view bytes);

/// Content of a file.
std::string bytes_of(const std::string& path);
/// The contents of `path`, which `make(path)` writes and which is removed again.
std::string written(const std::string& name, const std::function<void(const std::string& path)>& make);

/// Take off a model's seal, which would refuse each change before the reader sees it.
void leave_seal(const std::string& path);

/// A folder as one input: the files of it, each begun by a line "=== name".
std::string packed(const std::vector<std::pair<std::string, std::string>>& files);
/// Make the files of such an input beside it, in its folder's folder "unpacked"; returns that. Names that are
/// no plain names below it are left out.
std::string unpack(const std::string& path);

}  // namespace quintet::fuzz
