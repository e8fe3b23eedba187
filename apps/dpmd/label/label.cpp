#include "apps/dpmd/label/label.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "apps/dpmd/label/label_driver.hpp"
#include "apps/dpmd/label/label_memory.hpp"
#include "apps/dpmd/label/label_process.hpp"
#include "apps/dpmd/label/label_program.hpp"
#include "apps/dpmd/label/label_template.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/files/output_file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/formats/extended_xyz.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

struct ProgramRow {
  LabelProgram value;
  std::string_view name;
  const LabelRecipe& (*recipe)();
};
constexpr std::array<ProgramRow, 3> programs{{{LabelProgram::cp2k, "cp2k", cp2k_recipe},
                                              {LabelProgram::lammps, "lammps", lammps_recipe},
                                              {LabelProgram::ipi, "ipi", ipi_recipe}}};

}  // namespace

void describe(Schema& schema, LabelOptions& options) {
  schema.choice("with", options.program, choices_of(programs), "Program that makes the labels");
  schema
      .text("template", options.template_file,
            "Its input with {{cell}} and {{coordinates}} (CP2K), {{data_file}} and {{label}} and, if wanted, "
            "{{types}} and {{boundary}} (LAMMPS) where a frame's come, {{port}} (ipi). With {{driver}} CP2K "
            "and LAMMPS (in the place of {{label}}) stay and take frames by i-PI's protocol")
      .required()
      .existing_file();
  schema.text("command", options.command,
              "Shell command, run in a frame's folder; absent: 'cp2k.psmp -i cp2k.inp', 'lmp -in in.lammps "
              "-log none'; ipi needs one");
  schema.integer("jobs", options.jobs, "Programs that run at once")
      .at_least(1)
      .at_most(1000)
      .on_restart(OnRestart::free);
  schema.quantity("time_limit", options.time_limit, "s", "Time that one frame may take")
      .above(0)
      .on_restart(OnRestart::free);
}

const LabelRecipe& recipe_of(LabelProgram program) { return row_of(programs, program).recipe(); }

std::string command_of(const LabelOptions& options) {
  return options.command.value_or(recipe_of(options.program).default_command);
}

void check_labels(const Configuration& frame) {
  QUINTET_CHECK(frame.energy && std::isfinite(*frame.energy), "the energy is not a number");
  QUINTET_CHECK(frame.forces.size() == frame.n_atoms(), "found {} for {}",
                counted(frame.forces.size(), "force"), counted(frame.n_atoms(), "atom"));
  for (std::size_t i = 0; i < frame.n_atoms(); ++i)
    for (const double component : frame.forces[i])
      QUINTET_CHECK(std::isfinite(component), "the force on atom {} is not a number", i + 1);
  if (!frame.virial) return;
  for (const double component : *frame.virial)
    QUINTET_CHECK(std::isfinite(component), "the virial is not a number");
}

namespace {

/// One thread for each program unless the user says more: several run at once.
constexpr const char* threads = "export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}\n";

/// What a Fortran program that stays has printed of a frame is there when its result is.
constexpr const char* unbuffered = "export GFORTRAN_UNBUFFERED_PRECONNECTED=y\n";

/// In a frame's folder: the key of what was asked (label_memory.hpp).
constexpr const char* asked_file = "asked.txt";

/// How often a program is begun for a frame while signals end it.
constexpr int most_tries = 3;

/// What came of one frame.
struct Outcome {
  std::optional<Configuration> labelled;
  std::string reason;  ///< why not
  bool kept = false;
  bool was_killed = false;  ///< from outside: that is no verdict on the frame
  double seconds = 0;
};

class Labeller {
 public:
  Labeller(const std::vector<Configuration>& frames, const LabelOptions& options, const std::string& folder,
           const std::optional<std::string>& known)
      : frames_(frames),
        options_(options),
        folder_(folder),
        text_(read_text_file(options.template_file)),
        memory_(options, text_, known),
        recipe_(recipe_of(options.program)),
        outcomes_(frames.size()) {}

  Labelling run() {
    take_kept();
    std::vector<std::thread> workers;
    for (int j = 0; j < options_.jobs; ++j) workers.emplace_back([this, j] { work(j); });
    report();
    for (auto& worker : workers) worker.join();
    Labelling result;
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      auto& outcome = outcomes_[i];
      result.kept += outcome.kept;
      if (outcome.labelled)
        result.frames.push_back(std::move(*outcome.labelled));
      else if (!outcome.reason.empty())
        (outcome.was_killed ? result.killed : result.failures).push_back({i, outcome.reason});
    }
    result.stopped = stop_.seen();
    return result;
  }

 private:
  [[nodiscard]] std::string folder_of(std::size_t i) const {
    return fmt::format("{}/frame_{:06}", folder_, i);
  }

  /// Labels that an earlier call left here, then those that are known.
  void take_kept() {
    std::size_t n_known = 0, n_otherwise = 0;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const std::string folder = folder_of(i), key = memory_.key(frames_[i]), label = folder + "/label.xyz";
      if (!fs::exists(label) && memory_.recall(frames_[i], label)) {
        write_text_file(folder + "/" + asked_file, key);
        ++n_known;
      }
      outcomes_[i].labelled = read_label(label, frames_[i]);
      outcomes_[i].kept = outcomes_[i].labelled.has_value();
      if (!outcomes_[i].kept) open_.push_back(i);
      n_otherwise += outcomes_[i].kept && fs::exists(folder + "/" + asked_file) &&
                     read_text_file(folder + "/" + asked_file) != key;
    }
    if (stays(text_))  // frames that one start of the program can take come together
      std::stable_sort(open_.begin(), open_.end(),
                       [this](std::size_t a, std::size_t b) { return frames_[a].types < frames_[b].types; });
    if (open_.size() < frames_.size())
      log::info("{} of {} are labelled already{}", frames_.size() - open_.size(),
                counted(frames_.size(), "frame"),
                n_known > 0 ? fmt::format(", {} of them by an earlier loop or call", n_known) : "");
    if (n_otherwise > 0)
      log::warning(
          "{} of them with another template, program or command: remove their folders in {} to have them "
          "labelled as the others",
          n_otherwise, folder_);
  }

  /// A worker's life: the next open frame, until there is none.
  void work(int number) {
    std::optional<LabelDriver> driver;
    if (stays(text_))
      driver.emplace(recipe_, options_, std::string(threads) + unbuffered + command_of(options_), text_,
                     fmt::format("{}/program_{:03}", folder_, number));
    for (;;) {
      const std::size_t next = next_++;
      if (next >= open_.size()) break;
      const std::size_t i = open_[next];
      if (!stop_.seen()) label_one(i, driver ? &*driver : nullptr);
      const std::lock_guard lock(mutex_);
      done_.push_back(i);
      news_.notify_one();
    }
  }

  /// @param driver nullptr: a start of the program for the frame
  void label_one(std::size_t i, LabelDriver* driver) {
    Outcome& outcome = outcomes_[i];
    const auto start = std::chrono::steady_clock::now();
    for (int tries = 1; tries <= most_tries && !outcome.labelled && !stop_.seen(); ++tries) {
      outcome.was_killed = false;
      try {
        outcome.labelled = ask(folder_of(i), frames_[i], driver);
      } catch (const NoLabel& error) {
        outcome.reason = fmt::format("{}{}", tries > 1 ? fmt::format("at try {} ", tries) : "", error.what());
        outcome.was_killed = error.end.was_killed();
        if (!error.end.died()) break;
      } catch (const std::exception& error) {
        outcome.reason = error.what();
        break;
      }
    }
    if (stop_.seen() && !outcome.labelled) outcome.reason.clear();  // no failure of the frame
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  [[nodiscard]] Configuration ask(const std::string& folder, const Configuration& frame,
                                  LabelDriver* driver) const {
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_text_file(folder + "/" + asked_file, memory_.key(frame));
    Configuration labelled = driver != nullptr ? driver->label(frame) : started_for(folder, frame);
    make_new_file(folder + "/label.unfinished");
    write_extended_xyz(folder + "/label.unfinished", labelled);
    fs::rename(folder + "/label.unfinished", folder + "/label.xyz");
    memory_.remember(frame, folder + "/label.xyz");
    return labelled;
  }

  /// The label by a start of the program in the frame's folder.
  [[nodiscard]] Configuration started_for(const std::string& folder, const Configuration& frame) const {
    recipe_.write(text_, folder, frame);
    const std::string output = folder + "/" + label_output;
    const ProcessEnd end =
        run_program(threads + command_of(options_), folder, output, options_.time_limit, stop_.seen());
    if (!end.good())
      throw NoLabel(fmt::format("{} ended with {}; the last lines of {}:{}", recipe_.name, end.text(), output,
                                last_lines(output, 6)),
                    end);
    try {
      Configuration labelled = recipe_.read(folder, frame);
      check_labels(labelled);
      return labelled;
    } catch (const Error& error) {
      throw InputError(fmt::format("{} ({})", error.what(), output));
    }
  }

  /// Tell what is done as it comes: the log is this thread's alone.
  void report() {
    for (std::size_t told = 0; told < open_.size();) {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return done_.size() > told; });
      const std::size_t i = done_[told++];
      lock.unlock();
      const Outcome& outcome = outcomes_[i];
      if (outcome.labelled)
        log::info("frame {} ({} of {}): energy {:.6f} eV in {:.1f} s", i, told, open_.size(),
                  *outcome.labelled->energy, outcome.seconds);
      else if (!outcome.reason.empty())
        log::warning("frame {} ({} of {}) is not labelled: {}", i, told, open_.size(), outcome.reason);
    }
  }

  const std::vector<Configuration>& frames_;
  const LabelOptions& options_;
  std::string folder_, text_;
  LabelMemory memory_;
  const LabelRecipe& recipe_;
  std::vector<Outcome> outcomes_;
  std::vector<std::size_t> open_;  ///< frames without labels
  StopWatch stop_;
  std::atomic<std::size_t> next_ = 0;  ///< of open_
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::size_t> done_;  ///< guarded by mutex_
};

/// Names of types become words of a program's input and names of folders: all but letters, digits, '_', '-',
/// '+' and, not in front, '.' is refused before any program is asked.
void check_type_names(const std::vector<Configuration>& frames) {
  for (const auto& frame : frames)
    for (const auto& name : frame.type_names)
      QUINTET_CHECK(name == file_name_part(name),
                    "the type name {} cannot be handed to a program; expected letters, digits, '_', '-', '+' "
                    "and '.', at most 100",
                    text::shown(name));
}

}  // namespace

void check_label_options(const LabelOptions& options) {
  const LabelRecipe& recipe = recipe_of(options.program);
  QUINTET_CHECK(!command_of(options).empty(), "no command; {}", recipe.how_to_get_it);
  recipe.check(read_text_file(options.template_file), options.template_file);
  require_program(command_of(options), recipe.how_to_get_it);
}

Labelling label_frames(const std::vector<Configuration>& frames, const LabelOptions& options,
                       const std::string& folder, const std::optional<std::string>& known) {
  check_label_options(options);
  check_type_names(frames);
  return Labeller(frames, options, fs::absolute(folder).string(), known).run();
}

}  // namespace quintet::dpmd
