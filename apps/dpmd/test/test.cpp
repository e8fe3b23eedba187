#include "apps/dpmd/test/test.hpp"

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "apps/dpmd/setup/system.hpp"
#include "apps/dpmd/test/parity.hpp"
#include "apps/dpmd/test/test_results.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/rank_texts.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "surrogates/potential/training/data.hpp"

namespace quintet::dpmd {

namespace {

namespace fs = std::filesystem;

/// Passes on to another force field and keeps its warnings, which a sum over frames would lose.
class Watched final : public ForceField {
 public:
  explicit Watched(ForceField& field) : field_(field) {}
  [[nodiscard]] double cutoff() const override { return field_.cutoff(); }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return field_.type_names(); }
  [[nodiscard]] std::string description() const override { return field_.description(); }
  [[nodiscard]] int n_atom_parameters() const override { return field_.n_atom_parameters(); }
  [[nodiscard]] std::optional<double> memory_needed(const Exec& exec, const Atoms& atoms,
                                                    const NeighbourList& list) override {
    return field_.memory_needed(exec, atoms, list);
  }
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override {
    Energetics result = field_.compute(exec, atoms, list, by_atom);
    if (!result.warning.empty() && warned_++ == 0) first_ = result.warning;
    return result;
  }
  /// Say how many of the frames had a warning, and one of them. Collective.
  void report(const Comm& comm, std::size_t n_frames) const {
    const auto total = comm.sum(warned_);
    const auto texts = words_of_ranks(comm, first_);
    if (!texts.empty())
      log::warning("in {} of {}, for example: {}", total, counted(n_frames, "frame"), texts.front());
  }

 private:
  ForceField& field_;
  std::int64_t warned_ = 0;
  std::string first_;
};

void require_new_files(const TestOptions& options) {
  std::vector<std::string> files{options.output + ".json", options.output + ".html"};
  if (options.detail)
    for (auto& file : detail_files(*options.detail)) files.push_back(std::move(file));
  for (const auto& file : files) {
    const fs::path folder = fs::path(file).parent_path();
    QUINTET_CHECK(folder.empty() || fs::is_directory(folder), "{}: there is no folder {} to write it to",
                  file, folder.string());
    QUINTET_CHECK(options.overwrite || !fs::exists(file),
                  "{} is there; nothing was written over. Remove it, choose another name or add --overwrite",
                  file);
  }
}

std::vector<potential::LabelledSystem> labelled_systems(const std::vector<std::string>& paths,
                                                        const ForceField& field, const LabelSource& source,
                                                        std::vector<std::string>& refused) {
  potential::DataOptions options{
      .type_map = field.type_names(), .types_in_order = false, .need_energy = false, .need_force = false};
  options.labels = source;
  options.n_atom_parameters = field.n_atom_parameters();
  options.refused = &refused;
  auto found = potential::read_systems(paths, options);
  bool labelled = false;
  for (const auto& system : found)
    for (const auto& frame : system.frames)
      labelled = labelled || frame.energy || !frame.forces.empty() || frame.virial;
  QUINTET_CHECK(labelled, "{}: no frame has an energy, forces or a virial to compare with", paths.front());
  return found;
}

/// The frames without those that no model can be asked of, whose reasons go to `refused`. Throws InputError
/// if none is left.
std::vector<FrameIndex> usable(const std::vector<potential::LabelledSystem>& data,
                               const std::vector<FrameIndex>& frames, std::vector<std::string>& refused) {
  std::vector<FrameIndex> left;
  for (const auto& index : frames) try {
      validate(data[index.system].frames[index.frame], closest_start);
      left.push_back(index);
    } catch (const InputError& error) {
      refused.push_back(fmt::format("{}: frame {}: {}", data[index.system].name, index.frame, error.what()));
    }
  QUINTET_CHECK(!left.empty(), "no frame can be tested: {}", fmt::join(refused, "\n"));
  return left;
}

/// Say what labels of another sign or unit look like: virial labels that follow the model's with a factor
/// that is not 1.
/// @param unit that the stress of extended XYZ was read with (eV/angstrom^3, negative: pressure)
void warn_of_stress(const Pairs& virial, double unit) {
  constexpr double sure = 0.9, near = 0.1, gpa = 160.2176634;
  double ll = 0, lm = 0, mm = 0;
  for (std::size_t i = 0; i < virial.label.size(); ++i) {
    ll += virial.label[i] * virial.label[i];
    lm += virial.label[i] * virial.model[i];
    mm += virial.model[i] * virial.model[i];
  }
  if (ll == 0 || mm == 0 || std::abs(lm) < sure * std::sqrt(ll * mm)) return;
  const double factor = lm / mm;
  std::string reason;
  for (const auto& [name, size] :
       {std::pair("eV/angstrom^3", 1.0), std::pair("GPa", gpa), std::pair("kbar", 10 * gpa)})
    if (std::abs(std::abs(factor / unit) / size - 1) < near)
      reason =
          fmt::format("--stress-unit {} --stress-sign {}", name, factor / unit < 0 ? "pressure" : "tension");
  if (factor < 0 || factor > 5 || factor < 0.2)
    log::warning("the labels' virials are {:.4g} times the model's: another sign or unit?{}", factor,
                 reason.empty() ? "" : " For a stress in extended XYZ: " + reason);
}

}  // namespace

void describe(Schema& schema, TestOptions& options) {
  schema.text("model", options.model, "Deep Potential model (.dp, .yaml)").required();
  schema.text("output", options.output, "Name of the files written, new ones: NAME.json and NAME.html");
  schema.text("detail", options.detail,
              "Also write labels and predictions: PREFIX.e.out, .f.out, .v.out ...");
  schema.integer("frames", options.frames, "Most frames to test, evenly spread; 0: all").at_least(0);
  describe_evaluation(schema, options.evaluation);
  schema.flag("overwrite", options.overwrite, "Replace files that are there");
  describe(schema, options.labels);
  schema
      .texts("systems", options.systems,
             "Labelled systems: DeePMD folders or HDF5, extended XYZ, OUTCAR, vasprun.xml")
      .required();
}

void test(const Comm& comm, const TestOptions& options) {
  on_root(comm, [&] { require_new_files(options); });
  const auto field =
      make_force_field({.models = {options.model}, .evaluation = options.evaluation, .repulsion = {}});
  const auto& types = field->type_names();
  std::vector<std::string> refused;
  const LabelSource source = source_of(options.labels);
  const auto data = labelled_systems(options.systems, *field, source, refused);
  Watched watched(*field);
  const auto chosen = usable(data, frames_of(data, options.frames), refused);
  on_root(comm, [&] {
    for (const auto& message : refused) log::error("{}", message);
  });
  const auto predictions = predict(comm, watched, data, chosen);
  watched.report(comm, chosen.size());
  on_root(comm, [&] {
    const auto results = test_results(data, predictions, types.size());
    const TestResult all = sum(results);
    const std::string &name = options.output, &file = options.model;
    if (options.detail) write_details(*options.detail, data, predictions);
    write_text_file(
        name + ".html",
        test_report(file, field->description(), types, results, all, parity(data, predictions)).html());
    write_text_file(name + ".json", to_json(to_tree(file, types, results, all)));
    if (results.size() > 1)
      for (const auto& result : results) log::info("{}", summary(result));
    log::info("{}", summary(all));
    log::info("{}.json, {}.html", name, name);
    warn_of_stress(parity(data, predictions).virial, source.stress_unit);
    QUINTET_CHECK(refused.empty(), "{} refused, see above; {}.json is of the others",
                  counted(refused.size(), "system or frame was", "systems or frames were"), name);
  });
}

}  // namespace quintet::dpmd
