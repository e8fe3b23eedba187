#include "apps/dpmd/label/label_memory.hpp"

#include <atomic>
#include <filesystem>
#include <utility>

#include <fmt/ranges.h>
#include <unistd.h>

#include "apps/campaign/workers/contents.hpp"
#include "apps/dpmd/label/label_program.hpp"
#include "apps/dpmd/label/label_template.hpp"
#include "io/files/output_file.hpp"
#include "io/log/error.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

/// To be raised where what a label means, or how it is read from a program's output, changes.
constexpr int meaning = 1;

void copy_whole(const std::string& from, const std::string& to) {
  // Several processes and threads may write the same label at once: each its own copy, the last one's name
  // stays.
  static std::atomic<int> n_copies = 0;
  const std::string copy = fmt::format("{}.{}.{}.unfinished", to, ::getpid(), n_copies++);
  std::error_code wrong;
  fs::create_directories(fs::path(to).parent_path(), wrong);
  if (!wrong) {
    make_new_file(copy);
    fs::copy_file(from, copy, fs::copy_options::overwrite_existing, wrong);
  }
  if (!wrong) fs::rename(copy, to, wrong);
  if (!wrong) return;
  std::error_code ignored;
  fs::remove(copy, ignored);
  throw ResourceError(fmt::format("the label '{}' cannot be copied to '{}': {}", from, to, wrong.message()));
}

}  // namespace

LabelMemory::LabelMemory(const LabelOptions& options, const std::string& template_text,
                         std::optional<std::string> folder)
    : asked_(fmt::format("quintet label {}\nprogram {}\ncommand {}\ntemplate {} {}\n", meaning,
                         recipe_of(options.program).name, command_of(options), template_text.size(),
                         template_text)),
      folder_(std::move(folder)) {}

std::string LabelMemory::key(const Configuration& frame) const {
  std::string text =
      asked_ + fmt::format("cell {} periodic {} origin {}\n", fmt::join(frame.box.rows(), " "),
                           fmt::join(frame.box.periodic(), " "), fmt::join(frame.box.origin(), " "));
  for (std::size_t i = 0; i < frame.n_atoms(); ++i)
    text += fmt::format("{} {}\n", frame.type_names[frame.types[i]], fmt::join(frame.positions[i], " "));
  return campaign::key_of(text);
}

bool LabelMemory::recall(const Configuration& frame, const std::string& path) const {
  if (!folder_) return false;
  const std::string known = file(key(frame));
  if (!read_label(known, frame)) return false;  // a damaged one is told of here, by its own name
  copy_whole(known, path);
  return true;
}

void LabelMemory::remember(const Configuration& frame, const std::string& path) const {
  if (folder_) copy_whole(path, file(key(frame)));
}

std::optional<Configuration> read_label(const std::string& path, const Configuration& frame) {
  if (!fs::exists(path)) return std::nullopt;
  // The last number of a file that is cut off may still read as one.
  QUINTET_CHECK(read_text_file(path).ends_with('\n'),
                "{}: is cut off; remove it, and the frame is labelled again", path);
  Configuration label = read_extended_xyz(path).front();
  bool same = label.n_atoms() == frame.n_atoms() && label.box == frame.box;
  for (std::size_t i = 0; same && i < frame.n_atoms(); ++i)
    same = label.positions[i] == frame.positions[i] &&
           label.type_names[label.types[i]] == frame.type_names[frame.types[i]];
  QUINTET_CHECK(same, "{}: is the label of another frame; name another folder, or remove this file", path);
  check_labels(label);
  return label;
}

}  // namespace quintet::dpmd
