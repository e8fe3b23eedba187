#include <algorithm>
#include <filesystem>

#include "apps/application/life/run_owner.hpp"
#include "apps/dpmd/label/label.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/batch_job.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/files/read_configuration.hpp"

namespace quintet::dpmd {

void describe(Schema& schema, LabelCommandOptions& options) {
  describe(schema, options.labelling);
  schema.text("output", options.output,
              "Folder for frames, labelled.xyz and systems/; labels that are there are kept");
  schema.text("known", options.known,
              "Folder of labels by what was asked: frames in it are not asked for again, new ones go there");
  describe(schema, options.naming);
  schema
      .texts("frames", options.frames, "Extended XYZ, LAMMPS data, DeePMD folder, H5MD or POSCAR; all frames")
      .required();
}

void label(const Comm& comm, const LabelCommandOptions& options) {
  QUINTET_CHECK(comm.size() == 1,
                "dpmd label is one process, but runs on {}; --jobs {} labels as many frames at once",
                counted(comm.size(), "rank"), comm.size());
  const std::string& folder = options.output;
  check_label_options(options.labelling);
  ReadOptions read = read_options_of(options.naming);
  read.n_atom_parameters = any_number;  // labels are of the same atoms
  std::vector<Configuration> all;
  for (const auto& path : options.frames) {
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
    comm.abort(ExitCode::resource);
  };
  const RunOwner owner(own.string(), "dpmd label", end_at_once,
                       this_job() ? RunOwner::Patience::waits : RunOwner::Patience::none);
  const Labelling labelling = label_frames(all, options.labelling, folder, options.known);
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
