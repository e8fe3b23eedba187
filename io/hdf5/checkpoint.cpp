#include "io/hdf5/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "io/files/output_file.hpp"
#include "io/hdf5/detail.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/log.hpp"

namespace quintet::hdf5 {
namespace {

namespace fs = std::filesystem;

/// The step in "step_000000001000.h5"; nothing for any other name.
std::optional<std::int64_t> step_of(const std::string& name) {
  std::int64_t step = -1;
  if (name.starts_with("step_")) std::from_chars(name.data() + 5, name.data() + name.size(), step);
  return step >= 0 && name == checkpoint_name(step) ? std::optional(step) : std::nullopt;
}

std::vector<std::int64_t> steps_in(const std::string& directory) {
  std::vector<std::int64_t> steps;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent)) {
    if (const auto step = step_of(entry.path().filename().string())) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

/// Remove what a killed run left half-written.
void remove_stale(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".tmp" && step_of(entry.path().stem().string())) fs::remove(entry.path());
  }
}

void make_ready(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  QUINTET_CHECK(!error, "{}: cannot make the folder for checkpoints: {}", directory, error.message());
  remove_stale(directory);
}

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("step_{:012}.h5", step); }

std::optional<std::int64_t> newest_step(const std::string& directory) {
  const auto steps = steps_in(directory);
  return steps.empty() ? std::nullopt : std::optional(steps.back());
}

CheckpointStore::CheckpointStore(const Comm& comm, std::string directory, int keep)
    : comm_(std::make_shared<const Comm>(comm)), directory_(std::move(directory)), keep_(keep) {
  QUINTET_CHECK(keep >= 1, "number of checkpoints to keep is {}; expected 1 or more", keep);
}

std::string CheckpointStore::path(std::int64_t step) const {
  return (fs::path(directory_) / checkpoint_name(step)).string();
}

void CheckpointStore::write(std::int64_t step, const Provenance& provenance,
                            const std::function<void(Group&)>& write) const {
  QUINTET_CHECK(step >= 0, "checkpoint of step {}: expected 0 or more", step);
  const std::string final_path = path(step), temporary = final_path + ".tmp";
  on_root(*comm_, [&] {
    make_ready(directory_);
    make_new_file(temporary);
  });
  try {
    File file = File::create(*comm_, temporary);
    write_header(file.root(), checkpoint_schema, checkpoint_version, provenance);
    file.root().set_attribute("step", step);
    write(file.root());
    file.flush();
    file.close();
    seal(*comm_, temporary);
  } catch (...) {
    std::error_code ignored;
    if (comm_->is_root()) {
      fs::resize_file(temporary, 0, ignored);  // its space comes back even if a rank still has it open
      fs::remove(temporary, ignored);
    }
    throw;
  }
  on_root(*comm_, [&] {
    if (fs::is_directory(final_path)) fs::rename(final_path, final_path + ".put_aside");
    fs::rename(temporary, final_path);
    detail::sync_to_disk(directory_);
    tidy(step);
  });
}

std::vector<std::int64_t> CheckpointStore::set_aside_after(std::int64_t step) const {
  auto steps = steps_in(directory_);
  while (!steps.empty() && steps.back() > step) {
    const std::string later = path(steps.back());
    log::warning("{}: is of a later step than the run now ({}); renamed to .superseded", later, step);
    fs::rename(later, later + ".superseded");
    steps.pop_back();
  }
  return steps;
}

void CheckpointStore::supersede_after(std::int64_t step) const {
  on_root(*comm_, [&] { set_aside_after(step); });
}

void CheckpointStore::tidy(std::int64_t newest_step) const {
  const auto steps = set_aside_after(newest_step);
  for (std::size_t i = 0; i + keep_ < steps.size(); ++i) fs::remove(path(steps[i]));
}

std::vector<std::int64_t> CheckpointStore::steps() const {
  std::vector<std::int64_t> steps;
  on_root(*comm_, [&] { steps = steps_in(directory_); });
  steps.resize(comm_->broadcast(steps.size()));
  comm_->broadcast(std::span<std::int64_t>(steps));
  return steps;
}

std::optional<std::string> CheckpointStore::newest() const {
  const auto steps = this->steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      verify_checkpoint(*comm_, path(*step));
      return path(*step);
    } catch (const InputError& error) {
      log::warning("checkpoint passed over: {}", error.what());
    }
  }
  QUINTET_CHECK(steps.empty(), "{}: none of its {} checkpoints is whole; start anew, or restart from a copy",
                directory_, steps.size());
  return std::nullopt;
}

std::int64_t checkpoint_step(const File& file) {
  check_header(file, checkpoint_schema, checkpoint_version);
  return file.root().integer_attribute("step");
}

}  // namespace quintet::hdf5
