#include "apps/dpmd/deviation/selection.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "apps/dpmd/setup/placed_frame.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/files/output_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/files/h5md.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

void describe(Schema& schema, SelectionOptions& options) {
  schema
      .quantity("force_low", options.force_low, "eV/angstrom",
                "Least max_devi_f of a candidate; below, the models agree")
      .required()
      .at_least(0);
  schema
      .quantity("force_high", options.force_high, "eV/angstrom",
                "max_devi_f from which a frame is no physics any more")
      .required()
      .above(0);
  schema.quantity("virial_low", options.virial_low, "eV", "The same for max_devi_v, per atom").at_least(0);
  schema.quantity("virial_high", options.virial_high, "eV", "The same for max_devi_v, per atom").above(0);
  schema.integer("most", options.most, "Frames to take at most").at_least(1);
  schema.choice(
      "method", options.method,
      {{"random", Pick::random},
       {"time", Pick::time},
       {"deviation", Pick::deviation},
       {"farthest", Pick::farthest}},
      "Which candidates, if there are more: at random, evenly in time, of the largest deviation, or each "
      "farthest from those before in its neighbour distances");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.force_low >= options.force_high)
      return fmt::format("force_low = {:g} is not below force_high = {:g} eV/angstrom", options.force_low,
                         options.force_high);
    if (options.virial_low.has_value() != options.virial_high.has_value())
      return "virial_low and virial_high belong together";
    if (options.virial_low && *options.virial_low >= *options.virial_high)
      return fmt::format("virial_low = {:g} is not below virial_high = {:g} eV", *options.virial_low,
                         *options.virial_high);
    return std::nullopt;
  });
}

Verdict judge(const SelectionOptions& options, const potential::Deviation& deviation) {
  const double force = deviation.max_force, virial = deviation.max_virial;
  const bool by_virial = options.virial_low.has_value();
  if (!(force < options.force_high) || (by_virial && !(virial < *options.virial_high)))
    return Verdict::failed;
  const bool accurate = force < options.force_low && (!by_virial || virial < *options.virial_low);
  return accurate ? Verdict::accurate : Verdict::candidate;
}

VerdictCounts count_verdicts(const SelectionOptions& options, const std::vector<DeviationRow>& rows) {
  VerdictCounts counts;
  for (const auto& row : rows) {
    const Verdict verdict = judge(options, row.deviation);
    counts.accurate += verdict == Verdict::accurate;
    counts.candidate += verdict == Verdict::candidate;
    counts.failed += verdict == Verdict::failed;
  }
  return counts;
}

namespace {

double distance2(const std::vector<double>& a, const std::vector<double>& b) {
  // Frames of other types have other features: as far as can be.
  if (a.size() != b.size()) return std::numeric_limits<double>::max();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Farthest-point sampling, from the candidate of the largest deviation on (Gonzalez 1985).
std::vector<std::size_t> pick_farthest(const std::vector<Candidate>& candidates, std::size_t most) {
  std::vector<double> nearest(candidates.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> chosen;
  std::size_t next = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].max_force > candidates[next].max_force) next = i;
  while (chosen.size() < most) {
    chosen.push_back(next);
    for (std::size_t i = 0; i < candidates.size(); ++i)
      nearest[i] =
          std::min(nearest[i], distance2(candidates[i].features, candidates[chosen.back()].features));
    for (const std::size_t i : chosen) nearest[i] = -1;
    next = std::max_element(nearest.begin(), nearest.end()) - nearest.begin();
  }
  return chosen;
}

bool is_trajectory(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".h5md"); }

/// The frame of each step in an H5MD file; for other files the frame of row i is i.
std::map<std::int64_t, std::int64_t> frames_by_step(const FrameSource& source) {
  std::map<std::int64_t, std::int64_t> frames;
  if (is_trajectory(source.frames)) {
    const hdf5::File file = hdf5::File::open(Comm::self(), source.frames);
    const auto steps = file.root().read<std::int64_t>("particles/atoms/position/step");
    for (std::size_t i = 0; i < steps.size(); ++i) frames[steps[i]] = i;
    return frames;
  }
  for (std::size_t i = 0; i < source.rows.size(); ++i) frames[source.rows[i].step] = i;
  return frames;
}

/// Frames of one source by their number. A file that is no trajectory is read whole, once.
class FrameReader {
 public:
  explicit FrameReader(const FrameSource& source) : source_(source) {}

  Configuration operator()(std::int64_t index) {
    if (is_trajectory(source_.frames)) {
      ReadOptions read = source_.read;
      read.n_atom_parameters = any_number;
      read.all_frames = false;
      read.frame = index;
      return read_configuration(source_.frames, read);
    }
    if (all_.empty()) read_all();
    return all_[index];
  }

 private:
  void read_all() {
    ReadOptions read = source_.read;
    read.n_atom_parameters = any_number;
    read.all_frames = true;
    all_ = read_configurations(source_.frames, read);
    QUINTET_CHECK(all_.size() == source_.rows.size(),
                  "{}: has {}, but the deviation file has {}; use the trajectory that was written with it",
                  source_.frames, counted(all_.size(), "frame"), counted(source_.rows.size(), "row"));
  }

  const FrameSource& source_;
  std::vector<Configuration> all_;
};

Configuration without_labels(Configuration frame) {
  frame.energy.reset();
  frame.virial.reset();
  frame.forces.clear();
  frame.velocities.clear();
  frame.ids.clear();
  return frame;
}

/// Where a candidate's frame is.
struct Place {
  std::size_t source;
  std::int64_t index;
  DeviationRow row;
};

/// The candidates of one source that have a frame.
void add_candidates(const std::vector<FrameSource>& sources, std::size_t source,
                    const SelectionOptions& options, std::vector<Place>& places,
                    std::int64_t& without_frame) {
  const auto frames = frames_by_step(sources[source]);
  for (const auto& row : sources[source].rows) {
    if (judge(options, row.deviation) != Verdict::candidate) continue;
    const auto at = frames.find(row.step);
    if (at == frames.end())
      ++without_frame;
    else
      places.push_back({source, at->second, row});
  }
}

}  // namespace

std::vector<std::size_t> pick(const std::vector<Candidate>& candidates, Pick method, std::size_t most,
                              std::uint64_t seed) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (candidates.size() <= most) return order;
  switch (method) {
    case Pick::random: {
      std::mt19937_64 random(seed);
      for (std::size_t i = 0; i < most; ++i)  // std::shuffle differs between libraries
        std::swap(order[i], order[i + random() % (order.size() - i)]);
      break;
    }
    case Pick::time:
      for (std::size_t i = 0; i < most; ++i) order[i] = (2 * i + 1) * candidates.size() / (2 * most);
      break;
    case Pick::deviation:
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return candidates[a].max_force > candidates[b].max_force;
      });
      break;
    case Pick::farthest:
      order = pick_farthest(candidates, most);
      break;
  }
  order.resize(most);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<double> frame_features(const Configuration& frame) {
  constexpr int n_shells = 8;
  constexpr double range = 6, width = range / n_shells;
  const PlacedFrame placed(Comm::self(), frame, range);
  const Atoms& atoms = placed.atoms;
  const auto n_types = frame.type_names.size();
  std::vector<double> sums(2 * n_shells * n_types * n_types, 0.0), counts(n_types, 0.0);
  std::vector<double> own(n_types * n_shells);
  const NeighbourList& list = placed.domain.list();
  for (int i = 0; i < atoms.n_local; ++i) {
    std::fill(own.begin(), own.end(), 0.0);
    for (std::size_t c = list.offset(i); c < list.offset(i + 1); ++c) {
      const int j = list.neighbour(c);
      double r2 = 0;
      for (int k = 0; k < 3; ++k) r2 += std::pow(atoms.position(j, k) - atoms.position(i, k), 2);
      const double r = std::sqrt(r2);
      for (int s = 0; s < n_shells; ++s)
        own[atoms.type(j) * n_shells + s] +=
            std::exp(-0.5 * std::pow((r - (s + 0.5) * width) / (0.5 * width), 2));
    }
    counts[atoms.type(i)] += 1;
    double* const to = sums.data() + atoms.type(i) * n_types * 2 * n_shells;
    for (std::size_t k = 0; k < own.size(); ++k) {
      to[2 * k] += own[k];
      to[2 * k + 1] += own[k] * own[k];
    }
  }
  for (std::size_t t = 0; t < n_types; ++t)
    for (std::size_t k = 0; k < n_types * n_shells; ++k) {
      double* const pair = sums.data() + 2 * (t * n_types * n_shells + k);
      const double n = std::max(counts[t], 1.0);
      pair[0] /= n;
      pair[1] = std::sqrt(pair[1] / n);
    }
  return sums;
}

Selection select_frames(const std::vector<FrameSource>& sources, const SelectionOptions& options,
                        std::uint64_t seed) {
  Selection selection;
  std::vector<Place> places;
  std::vector<FrameReader> readers;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    readers.emplace_back(sources[s]);
    const VerdictCounts counts = count_verdicts(options, sources[s].rows);
    selection.counts.accurate += counts.accurate;
    selection.counts.candidate += counts.candidate;
    selection.counts.failed += counts.failed;
    if (counts.candidate > 0) add_candidates(sources, s, options, places, selection.without_frame);
  }
  std::vector<Candidate> candidates;
  for (const auto& place : places) {
    candidates.push_back({place.row.deviation.max_force, {}});
    if (options.method == Pick::farthest)
      candidates.back().features = frame_features(readers[place.source](place.index));
  }
  for (const std::size_t i : pick(candidates, options.method, options.most, seed)) {
    const Place& place = places[i];
    selection.frames.push_back(
        {without_labels(readers[place.source](place.index)), sources[place.source].frames, place.row});
  }
  return selection;
}

std::string summary_of(const Selection& selection) {
  const auto& counts = selection.counts;
  return fmt::format("{}: {} accurate, {}, {} failed; {} selected", counted(counts.all(), "frame"),
                     counts.accurate, counted(counts.candidate, "candidate"), counts.failed,
                     selection.frames.size());
}

void write_selection(const std::string& name, const Selection& selection) {
  Tree tree = Tree::map();
  tree.set("accurate", Tree::integer(selection.counts.accurate));
  tree.set("candidates", Tree::integer(selection.counts.candidate));
  tree.set("failed", Tree::integer(selection.counts.failed));
  Tree list = Tree::list();
  fs::remove(name + ".xyz");
  const std::string unfinished = name + ".xyz.unfinished";
  bool append = false;
  for (const auto& frame : selection.frames) {
    if (!append) make_new_file(unfinished);
    write_extended_xyz(unfinished, frame.configuration, {append, {}});
    append = true;
    Tree item;
    item.set("source", Tree::text(frame.source));
    item.set("step", Tree::integer(frame.row.step));
    item.set("max_devi_f_ev_per_angstrom", Tree::number(frame.row.deviation.max_force));
    list.append(item);
  }
  tree.set("selected", list);
  if (append) fs::rename(unfinished, name + ".xyz");
  write_text_file(name + ".json", to_json(tree));
}

}  // namespace quintet::dpmd
