#include <algorithm>
#include <filesystem>
#include <optional>

#include "apps/application/life/run_owner.hpp"
#include "apps/dpmd/label/label.hpp"
#include "apps/dpmd/setup/command_line.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/batch_job.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/files/read_configuration.hpp"

namespace quintet::dpmd {

namespace {

enum Argument {
  with,
  template_file,
  command,
  output,
  known,
  jobs,
  time_limit,
  types,
  masses,
  periodic,
  frames
};

}  // namespace

std::vector<Application::Flag> label_flags() {
  auto flags = std::vector<Application::Flag>{
      {"--with", "cp2k or lammps", true, ""},
      {"--template",
       "Input with placeholders: {{cell}} and {{coordinates}} (CP2K), {{data_file}} and {{label}} "
       "(LAMMPS)",
       true, ""},
      {"--command", "Shell command, run in each frame's folder", false, ""},
      {"--output", "Folder for frames, labelled.xyz and systems/; labels that are there are kept", false,
       "labels"},
      {"--known",
       "Folder of labels by what was asked: frames in it are not asked for again, new ones go there", false,
       ""},
      {"--jobs", "Programs that run at once", false, "1"},
      {"--time-limit", "Of one frame: '10 min'", false, ""}};
  for (auto& flag : naming_flags()) flags.push_back(std::move(flag));
  flags.push_back(
      {"FRAMES...", "Extended XYZ, LAMMPS data, DeePMD folder, H5MD or POSCAR; all frames", true, ""});
  return flags;
}

void label(const Comm& comm, const Application::Arguments& arguments) {
  QUINTET_CHECK(comm.size() == 1,
                "dpmd label is one process, but runs on {} ranks; --jobs {} labels as many frames at once",
                comm.size(), comm.size());
  const auto options = options_of<LabelOptions>(arguments, {{"with", with},
                                                            {"template", template_file},
                                                            {"command", command},
                                                            {"jobs", jobs},
                                                            {"time_limit", time_limit}});
  const std::string& folder = arguments[output].front();
  check_label_options(options);
  const ReadOptions read = read_options_of(arguments, types, masses);
  std::vector<Configuration> all;
  for (const auto& path : arguments[frames]) {
    auto found = read_configurations(path, read);
    tell_reading(path, found);
    for (auto& frame : found) {
      validate(frame, 0.1);
      frame.ids.clear();
      frame.energy.reset();
      frame.virial.reset();
      frame.forces.clear();
      all.push_back(std::move(frame));
    }
  }
  for (const auto& [name, mass] : read.masses)
    QUINTET_CHECK(std::any_of(all.begin(), all.end(),
                              [&, &of = name](const Configuration& frame) {
                                return std::count(frame.type_names.begin(), frame.type_names.end(), of) > 0;
                              }),
                  "--masses: no frame has atoms of '{}'", name);
  const auto own = std::filesystem::absolute(folder) / ".quintet";
  std::filesystem::create_directories(own);
  const auto end_at_once = [&comm](const std::string& why) {
    log::error("{}", why);
    comm.abort(static_cast<int>(ExitCode::resource));
  };
  const RunOwner owner(own.string(), "dpmd label", end_at_once,
                       this_job() ? RunOwner::Patience::waits : RunOwner::Patience::none);
  const auto memory = arguments[known].empty() ? std::nullopt : std::optional(arguments[known].front());
  const Labelling labelling = label_frames(all, options, folder, memory);
  write_labelled(folder, labelling.frames);
  log::info("{} of {} labelled, {} failed: {}/labelled.xyz, {}/systems", labelling.frames.size(),
            counted(all.size(), "frame"), labelling.failures.size() + labelling.killed.size(), folder,
            folder);
  if (labelling.stopped)
    throw Interrupted("stopped by a signal; the same command goes on with the frames that are left");
  if (!labelling.killed.empty())  // what follows must not go on without them
    throw ResourceError(fmt::format(
        "the program was killed at every try for {}: did it run out of memory, or get a signal? The same "
        "command labels these again and keeps the others. The first is frame {}: {}",
        counted(labelling.killed.size(), "frame"), labelling.killed.front().frame,
        labelling.killed.front().reason));
  QUINTET_CHECK(!labelling.frames.empty(), "none of {} could be labelled; the first: {}",
                counted(all.size(), "frame"), labelling.failures.front().reason);
}

}  // namespace quintet::dpmd
