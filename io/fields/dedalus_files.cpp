#include "io/fields/dedalus_files.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::field_formats {

const hdf5::File& DedalusFiles::file(const std::string& name) const {
  constexpr std::size_t most_open = 256;
  if (open_.size() >= most_open && !open_.contains(name)) open_.clear();
  const auto found = open_.find(name);
  if (found != open_.end()) return found->second;
  return open_.emplace(name, hdf5::File::open(Comm::self(), name)).first->second;
}

const hdf5::File& DedalusFiles::scales_of(std::size_t s) const {
  const auto& set = sets_[s];
  const auto& name = set.joint.empty() ? set.parts.front() : set.joint;
  const auto& found = file(name);
  QUINTET_CHECK(found.root().has("scales"),
                "{}: has no scales: Dedalus writes them into {}_s{}.h5 beside the folder of the set", name,
                "NAME", set.number);
  return found;
}

DedalusTask DedalusFiles::task_of(std::size_t s, const std::string& name, std::string& why) const {
  const auto& set = sets_[s];
  const auto tasks = scales_of(s).root().open_group("tasks");
  DedalusTask task{name, {}, {}, {}, false};
  const auto type = tasks.element_type(name);
  if (type != "float32" && type != "float64") why = "type " + type;
  task.double_precision = type == "float64";
  if (tasks.has_member_attribute(name, "grid_space")) {
    const auto spaces = tasks.member_number_attribute(name, "grid_space");
    if (std::find(spaces.begin(), spaces.end(), 0.0) != spaces.end()) why = "coefficients, not on a grid";
  }
  auto shape = tasks.shape(name);
  if (shape.empty()) why = "one number";
  if (!why.empty()) return task;
  shape.erase(shape.begin());
  if (set.joint.empty() && tasks.has_member_attribute(name, "global_shape")) {
    const auto whole = tasks.member_number_attribute(name, "global_shape");
    QUINTET_CHECK(whole.size() == shape.size(), "{}: {}: its global_shape has {} numbers; expected {}",
                  set.parts.front(), name, whole.size(), shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d)
      shape[d] = whole[d] >= 1 && whole[d] < 1e9 ? static_cast<std::uint64_t>(whole[d]) : 0;
  }
  QUINTET_CHECK(tasks.has_member_attribute(name, "DIMENSION_LABELS"),
                "{}: tasks/{} has no labels of its dimensions: is it as Dedalus wrote it?", path_, name);
  const auto labels = tasks.member_texts_attribute(name, "DIMENSION_LABELS");
  QUINTET_CHECK(labels.size() == shape.size() + 1, "{}: tasks/{} has {} labels and {} dimensions", path_,
                name, labels.size(), shape.size() + 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto& label = labels[d + 1];
    if (label == "constant") why = "constant along an axis";
    if (label.empty() && task.axes.empty()) {
      task.tensor.push_back(shape[d]);
    } else {
      task.axes.push_back(label);
      task.grid.push_back(shape[d]);
    }
  }
  if (task.axes.empty() || task.axes.size() > 3) why = fmt::format("{} axes", task.axes.size());
  return task;
}

std::vector<double> DedalusFiles::scale(std::size_t s, const std::string& axis, std::uint64_t n) const {
  const auto& from = scales_of(s);
  const auto scales = from.root().open_group("scales");
  std::vector<double> points;
  for (const auto& name : scales.names()) {
    std::vector<std::string> members;
    if (name == axis && scales.is_group(name))
      for (const auto& scale : scales.open_group(name).names()) members.push_back(name + "/" + scale);
    else if (name.starts_with(axis + "_hash_") || name == axis)
      members.push_back(name);
    for (const auto& member : members) {
      if (scales.shape(member) != hdf5::Shape{n}) continue;
      auto own = scales.read<double>(member);
      QUINTET_CHECK(
          points.empty() || points == own,
          "{}: has two scales of {} with {} points each, such as {}: which one belongs to the tasks "
          "is not looked up; write them with one basis",
          from.path(), axis, n, member);
      points = std::move(own);
    }
  }
  QUINTET_CHECK(!points.empty(), "{}: has no scale of {} with {} points", from.path(), axis, n);
  return points;
}

std::vector<DedalusPiece> DedalusFiles::pieces(std::size_t s, const DedalusTask& task) const {
  hdf5::Shape whole = task.tensor;
  whole.insert(whole.end(), task.grid.begin(), task.grid.end());
  if (sets_[s].parts.empty()) return {{sets_[s].joint, hdf5::Shape(whole.size()), whole}};
  std::vector<DedalusPiece> result;
  for (const auto& name : sets_[s].parts) {
    const auto tasks = file(name).root().open_group("tasks");
    if (!tasks.has(task.name)) continue;
    auto shape = tasks.shape(task.name);
    QUINTET_CHECK(shape.size() == whole.size() + 1, "{}: tasks/{} has {} dimensions; expected {}", name,
                  task.name, shape.size(), whole.size() + 1);
    shape.erase(shape.begin());
    const char* key = tasks.has_member_attribute(task.name, "local_start") ? "local_start" : "start";
    const auto start = tasks.member_number_attribute(task.name, key);
    QUINTET_CHECK(start.size() == whole.size(), "{}: tasks/{}: its attribute {} has {} numbers; expected {}",
                  name, task.name, key, start.size(), whole.size());
    DedalusPiece piece{name, {}, shape};
    for (std::size_t d = 0; d < whole.size(); ++d) {
      QUINTET_CHECK(start[d] >= 0 && start[d] + shape[d] <= static_cast<double>(whole[d]),
                    "{}: tasks/{} is a part from {} on of {} points, beyond the {} of the grid", name,
                    task.name, start[d], shape[d], whole[d]);
      piece.start.push_back(start[d]);
    }
    result.push_back(std::move(piece));
  }
  require_whole(task, result);
  return result;
}

/// Parts give each point once: as many as there are, and no two of them meet.
void DedalusFiles::require_whole(const DedalusTask& task, const std::vector<DedalusPiece>& parts) const {
  std::uint64_t sum = 0, all = 1;
  for (const auto extent : task.tensor) all *= extent;
  for (const auto extent : task.grid) all *= extent;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::uint64_t n = 1;
    for (const auto extent : parts[i].count) n *= extent;
    sum += n;
    for (std::size_t k = 0; k < i; ++k) {
      bool meet = n > 0;
      for (std::size_t d = 0; d < parts[i].count.size() && meet; ++d)
        meet = parts[i].start[d] < parts[k].start[d] + parts[k].count[d] &&
               parts[k].start[d] < parts[i].start[d] + parts[i].count[d];
      QUINTET_CHECK(!meet, "{} and {} have the same points of task '{}'", parts[k].file, parts[i].file,
                    task.name);
    }
  }
  QUINTET_CHECK(sum == all,
                "{}: the files of the processes have {} of the {} values of task '{}': one is missing", path_,
                sum, all, task.name);
}

}  // namespace quintet::field_formats
