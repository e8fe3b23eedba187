#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/dedalus_files.hpp"
#include "io/fields/field_formats.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

// What a file handler of Dedalus (versions 2 and 3) wrote (its H5FileHandler):
//
//     scales/sim_time [writes]; scales/x_hash_HASH [n] (version 3), scales/x/SCALE [n] (version 2)
//     tasks/NAME [writes, components..., axes...]; labels of its dimensions "t", "", "x", "z"
//
// and, where each process wrote its own file, tasks/NAME of a part of the grid with the attributes
// local_start and local_shape (version 2: start and count).

namespace quintet::field_formats {
namespace {

struct Symbol {
  const char *name, *symbol;
};
constexpr Symbol components[] = {{"x", "u"}, {"y", "v"}, {"z", "w"}};
constexpr const char* velocities[] = {"u", "velocity"};

class Dedalus : public Source {
 public:
  Dedalus(const std::string& path, const FieldSeriesOptions& options)
      : path_(path), wanted_(options.fields), files_(path), sets_(files_.sets()) {
    header.name = "dedalus";
    header.n_samples = 1;
    for (std::size_t s = 0; s < sets_.size(); ++s) add_writes(s);
    choose_tasks();
    name_fields();
    for (std::size_t d = 0; d < tasks_[0].axes.size(); ++d) read_axis(d, options);
    for (std::size_t s = 0; s < sets_.size(); ++s) require_equal(s);
    n_frames = {times.size()};
    if (sets_.size() == 1 && sets_[0].parts.empty()) return;
    reading.assume(fmt::format("{} set{} of Dedalus{}", sets_.size(), sets_.size() == 1 ? "" : "s",
                               sets_[0].parts.empty() ? "" : ", a file for each process"));
  }

  void read(int field, std::uint64_t, const FieldBox& box, std::vector<float>& values) const override {
    read_as(field, box, values);
  }
  void read(int field, std::uint64_t, const FieldBox& box, std::vector<double>& values) const override {
    read_as(field, box, values);
  }

 private:
  /// A frame: the set and the number of the write in it.
  struct Write {
    std::size_t set;
    std::uint64_t number;
  };
  /// A field: its task, and the components of it.
  struct Place {
    std::size_t task;
    hdf5::Shape component;
  };

  std::string path_;
  std::vector<std::string> wanted_;
  DedalusFiles files_;
  const std::vector<DedalusSet>& sets_;
  std::vector<Write> writes_;       ///< [frame]
  std::vector<DedalusTask> tasks_;  ///< those that are read
  std::vector<Place> places_;       ///< [field]

  /// Times of a set. A run that was begun again goes back in time: its frames replace those before.
  void add_writes(std::size_t s) {
    const auto& from = files_.scales_of(s);
    const auto own = from.root().read<double>("scales/sim_time");
    std::size_t n = own.size(), dropped = 0;
    const auto tasks = from.root().open_group("tasks");
    for (const auto& name : tasks.names())
      if (sets_[s].parts.empty() && is_wanted_task(name))
        n = std::min<std::size_t>(n, tasks.shape(name).at(0));
    for (const auto& part : sets_[s].parts) {
      const auto group = files_.file(part).root().open_group("tasks");
      for (const auto& name : group.names())
        if (is_wanted_task(name)) n = std::min<std::size_t>(n, group.shape(name).at(0));
    }
    QUINTET_CHECK(own.empty() || (n > 0 && n + 1 >= own.size()),
                  "{}: set {} has {} writes, of which its tasks have {}: are files of processes missing?",
                  path_, sets_[s].number, own.size(), n);
    if (n < own.size())
      reading.leave(
          fmt::format("the last of {} writes of set {}, which is not whole", own.size(), sets_[s].number));
    for (std::size_t i = 0; i < n; ++i) {
      while (!times.empty() && times.back() >= own[i] && writes_.back().set != s) {
        times.pop_back();
        writes_.pop_back();
        ++dropped;
      }
      times.push_back(own[i]);
      writes_.push_back({s, i});
    }
    if (dropped > 0)
      reading.assume(
          fmt::format("set {} begins at time {:.6g}, before the end of those before: {} of their "
                      "frames are left out",
                      sets_[s].number, own[0], dropped));
  }

  /// Whether a task of tasks/ may be read; any other is named as not used.
  [[nodiscard]] bool is_wanted_task(const std::string& name) const {
    if (wanted_.empty()) return true;
    const auto wants = [&](const std::string& field) {
      return std::find(wanted_.begin(), wanted_.end(), field) != wanted_.end();
    };
    if (wants(name) || wants(symbol_of(name, wanted_))) return true;
    return std::any_of(wanted_.begin(), wanted_.end(), [&](const std::string& field) {
      return field.starts_with(name + "_") ||
             (is_velocity(name) && std::any_of(std::begin(components), std::end(components),
                                               [&](const Symbol& one) { return field == one.symbol; }));
    });
  }

  [[nodiscard]] static bool is_velocity(const std::string& name) {
    return std::find(std::begin(velocities), std::end(velocities), name) != std::end(velocities);
  }

  /// The tasks on the grid that most fields have, or that those wanted have.
  void choose_tasks() {
    std::vector<DedalusTask> all;
    for (const auto& name : files_.scales_of(0).root().open_group("tasks").names()) {
      std::string why;
      auto task = files_.task_of(0, name, why);
      if (why.empty() && !is_wanted_task(name)) why = "not needed";
      if (why.empty())
        all.push_back(std::move(task));
      else
        reading.leave(why == "not needed" ? name : fmt::format("{} ({})", name, why));
    }
    QUINTET_CHECK(
        !all.empty(), "{}: has no task that is a field on a grid{}", path_,
        reading.not_used.empty() ? "" : fmt::format("; it has {}", fmt::join(reading.not_used, ", ")));
    std::size_t best = 0, most = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto n = std::count_if(all.begin(), all.end(),
                                   [&](const DedalusTask& one) { return one.is_on_grid_of(all[i]); });
      if (static_cast<std::size_t>(n) > most) best = i, most = n;
    }
    for (const auto& task : all) {
      if (task.is_on_grid_of(all[best])) {
        tasks_.push_back(task);
        continue;
      }
      QUINTET_CHECK(wanted_.empty(),
                    "{}: tasks/{} is on a grid [{}] of {}, but {} on [{}] of {}: write them on one grid",
                    path_, task.name, fmt::join(task.grid, ", "), fmt::join(task.axes, ", "), all[best].name,
                    fmt::join(all[best].grid, ", "), fmt::join(all[best].axes, ", "));
      reading.leave(fmt::format("{} (grid [{}])", task.name, fmt::join(task.grid, ", ")));
    }
  }

  /// Fields as equations call them; a map that is not the identity is told.
  void name_fields() {
    std::vector<std::string> told;
    const auto is_task = [&](const std::string& name) {
      return std::any_of(tasks_.begin(), tasks_.end(),
                         [&](const DedalusTask& one) { return one.name == name && one.tensor.empty(); });
    };
    for (std::size_t k = 0; k < tasks_.size(); ++k) {
      const auto& task = tasks_[k];
      std::uint64_t n = 1;
      for (const auto extent : task.tensor) n *= extent;
      QUINTET_CHECK(n >= 1 && n <= 81, "{}: tasks/{} has {} components", path_, task.name, n);
      header.double_precision = header.double_precision || task.double_precision;
      for (std::uint64_t c = 0; c < n; ++c) {
        Place place{k, hdf5::Shape(task.tensor.size())};
        std::uint64_t rest = c;
        std::string name = task.tensor.empty() ? symbol_of(task.name, wanted_) : task.name + "_";
        for (std::size_t d = task.tensor.size(); d-- > 0; rest /= task.tensor[d])
          place.component[d] = rest % task.tensor[d];
        for (const auto index : place.component)
          name += index < task.axes.size() ? task.axes[index] : fmt::to_string(index);
        if (task.tensor.size() == 1 && is_velocity(task.name) && c < task.axes.size())
          for (const auto& one : components)
            if (task.axes[c] == one.name && !is_task(one.symbol)) name = one.symbol;
        const auto own = task.tensor.empty()
                             ? task.name
                             : fmt::format("{}[{}]", task.name, fmt::join(place.component, ","));
        if (name != own) told.push_back(fmt::format("{} is {}", own, name));
        header.fields.push_back({name, "1", "", "", -1});
        places_.push_back(std::move(place));
      }
    }
    if (!told.empty()) reading.assume(fmt::format("{}", fmt::join(told, ", ")));
  }

  /// Equal spacing is a Fourier basis, roots of a Chebyshev polynomial tell where the walls are.
  void read_axis(std::size_t d, const FieldSeriesOptions& options) {
    FieldAxis axis;
    axis.name = tasks_[0].axes[d];
    axis.coordinates = files_.scale(0, axis.name, tasks_[0].grid[d]);
    const auto found = options.facts.find(axis.name);
    const bool given = found != options.facts.end(), any = !given || !found->second.periodic;
    const bool may_repeat = any || *found->second.periodic, may_end = any || !*found->second.periodic;
    const auto ends = chebyshev_ends(axis.coordinates);
    bool known = false;
    if (const auto spacing = equal_spacing(axis.coordinates); spacing && may_repeat) {
      QUINTET_CHECK(
          !any || !may_be_sines(axis, *spacing),
          "{}: axis {} has points at half spacings, as of a SinCos basis, or of a Fourier one that begins "
          "there: say which (periodic: yes, or no with lower and upper, in describe_file(s).axes)",
          path_, axis.name);
      axis.periodic = known = true;
      axis.lower = axis.coordinates.front();
      axis.upper = axis.lower + axis.size() * *spacing;
      if (any)
        reading.assume(
            fmt::format("axis {} periodic from {:.6g} to {:.6g}: its points are equally spaced, as "
                        "of a Fourier basis (describe_file(s).axes changes it)",
                        axis.name, axis.lower, axis.upper));
    } else if (ends && may_end) {
      known = true;
      std::tie(axis.lower, axis.upper) = *ends;
      if (!(given && found->second.lower && found->second.upper))
        reading.assume(fmt::format("axis {} has walls at {:.6g} and {:.6g}: its points are Chebyshev's",
                                   axis.name, axis.lower, axis.upper));
    }
    QUINTET_CHECK(known || (given && found->second.lower && found->second.upper),
                  "{}: the points of axis {} are not those of a Fourier or a Chebyshev basis: state its ends "
                  "(lower and upper in describe_file(s).axes)",
                  path_, axis.name);
    complete_axis(axis, options, known, path_, reading);
    header.axes.push_back(std::move(axis));
  }

  /// Version 2 has bases of sines and cosines, whose equally spaced points begin half a spacing from a wall.
  [[nodiscard]] bool may_be_sines(const FieldAxis& axis, double spacing) const {
    const auto scales = files_.scales_of(0).root().open_group("scales");
    const double place = axis.coordinates.front() / spacing;
    return scales.has(axis.name) && std::abs(place - std::floor(place) - 0.5) < 1e-6;
  }

  /// Tasks and grid of a set are those of the first.
  void require_equal(std::size_t s) const {
    for (const auto& task : tasks_) {
      const auto tasks = files_.scales_of(s).root().open_group("tasks");
      QUINTET_CHECK(tasks.has(task.name), "{}: set {} has no task '{}', but set {} has", path_,
                    sets_[s].number, task.name, sets_[0].number);
      std::string why;
      QUINTET_CHECK(files_.task_of(s, task.name, why) == task && why.empty(),
                    "{}: task '{}' of set {} has another type, shape or other axes than in set {}", path_,
                    task.name, sets_[s].number, sets_[0].number);
      for (std::size_t d = 0; d < task.axes.size(); ++d)
        QUINTET_CHECK(s == 0 || files_.scale(s, task.axes[d], task.grid[d]) ==
                                    files_.scale(0, task.axes[d], task.grid[d]),
                      "{}: axis {} of set {} has other points than in set {}: two runs?", path_, task.axes[d],
                      sets_[s].number, sets_[0].number);
      (void)files_.pieces(s, task);
    }
  }

  template <class T>
  void read_as(int field, const FieldBox& box, std::vector<T>& values) const {
    const auto& place = places_[field];
    const auto& task = tasks_[place.task];
    std::uint64_t frame = 1;
    for (const auto extent : box.space.count) frame *= extent;
    values.assign(box.n_frames * frame, T{0});
    if (values.empty()) return;
    for (std::uint64_t t = 0; t < box.n_frames;) {
      const auto first = writes_[box.first_frame + t];
      std::uint64_t n = 1;
      while (t + n < box.n_frames && writes_[box.first_frame + t + n].set == first.set) ++n;
      for (const auto& piece : files_.pieces(first.set, task))
        read_piece(piece, place, {first.number, n, box.space}, task.name, &values[t * frame]);
      t += n;
    }
  }

  /// Read a file's part of a box into [frame][axes of the box].
  template <class T>
  void read_piece(const DedalusPiece& piece, const Place& place, const FieldBox& box, const std::string& task,
                  T* to) const {
    const std::size_t rank = place.component.size(), n_axes = box.space.count.size();
    hdf5::Box part{{box.first_frame}, {box.n_frames}};
    for (std::size_t d = 0; d < rank; ++d) {
      if (place.component[d] < piece.start[d] || place.component[d] >= piece.start[d] + piece.count[d])
        return;
      part.start.push_back(place.component[d] - piece.start[d]);
      part.count.push_back(1);
    }
    std::array<std::uint64_t, 3> offset{}, count{1, 1, 1}, stride{};  // of the part within the box
    std::uint64_t frame = 1;
    for (std::size_t d = n_axes; d-- > 0; frame *= box.space.count[d]) stride[d] = frame;
    for (std::size_t d = 0; d < n_axes; ++d) {
      const std::uint64_t begin = std::max(box.space.start[d], piece.start[rank + d]),
                          end = std::min(box.space.start[d] + box.space.count[d],
                                         piece.start[rank + d] + piece.count[rank + d]);
      if (begin >= end) return;
      part.start.push_back(begin - piece.start[rank + d]);
      part.count.push_back(end - begin);
      offset[d] = begin - box.space.start[d];
      count[d] = end - begin;
    }
    const auto own = files_.file(piece.file).root().read_box<T>("tasks/" + task, part);
    std::size_t at = 0;
    for (std::uint64_t f = 0; f < box.n_frames; ++f)
      for (std::uint64_t i = 0; i < count[0]; ++i)
        for (std::uint64_t j = 0; j < count[1]; ++j)
          for (std::uint64_t k = 0; k < count[2]; ++k)
            to[f * frame + (offset[0] + i) * stride[0] + (offset[1] + j) * stride[1] +
               (offset[2] + k) * stride[2]] = own[at++];
  }
};

}  // namespace

bool is_dedalus(const hdf5::Group& root) {
  return !root.has_attribute("schema") && root.has("tasks") && root.is_group("tasks") &&
         (root.has("scales") || root.has_attribute("handler_name") || root.names().size() == 1);
}

std::unique_ptr<Source> open_dedalus(const Comm& comm, const std::string& path,
                                     const FieldSeriesOptions& options) {
  std::unique_ptr<Source> source;
  together(comm, [&] { source = std::make_unique<Dedalus>(path, options); });
  return source;
}

}  // namespace quintet::field_formats
