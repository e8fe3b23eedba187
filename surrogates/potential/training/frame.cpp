#include "surrogates/potential/training/frame.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/particles/domain/ghosts.hpp"
#include "physics/particles/domain/neighbour_list.hpp"

namespace quintet::potential {

namespace {

/// Fractional coordinates in [0, 1) along the periodic directions.
std::vector<Vec3> wrapped(const Configuration& configuration) {
  std::vector<Vec3> s;
  for (const auto& x : configuration.positions) {
    s.push_back(configuration.box.to_fractional(x));
    for (int k = 0; k < 3; ++k)
      if (configuration.box.periodic()[k]) s.back()[k] -= std::floor(s.back()[k]);
  }
  return s;
}

/// Rows to add to a coordinate s so that the image lies within `reach` of [0, 1): first .. last.
std::array<int, 2> images(bool periodic, double s, double reach) {
  if (!periodic) return {0, 0};
  return {static_cast<int>(std::ceil(-reach - s)), static_cast<int>(std::floor(1 + reach - s))};
}

void add_row(TrainingFrame& frame, int owner, int type, const Vec3& x) {
  frame.owner.push_back(owner);
  frame.type.push_back(type);
  frame.position.insert(frame.position.end(), x.begin(), x.end());
}

void add_images(TrainingFrame& frame, const Box& box, const std::vector<Vec3>& wrapped, double cutoff) {
  Vec3 reach{};
  for (int k = 0; k < 3; ++k) {
    if (!box.periodic()[k]) continue;
    reach[k] = cutoff / box.width(k) + 1e-9;
    QUINTET_CHECK(reach[k] <= most_images,
                  "a box {:.4g} angstrom wide along row {} has more than {} images within the cutoff of {} "
                  "angstrom; is its unit angstrom?",
                  box.width(k), k, most_images, cutoff);
  }
  for (int i = 0; i < frame.n_atoms; ++i) {
    const Vec3& s = wrapped[i];
    std::array<int, 2> range[3];
    for (int k = 0; k < 3; ++k) range[k] = images(box.periodic()[k], s[k], reach[k]);
    for (int a = range[0][0]; a <= range[0][1]; ++a)
      for (int b = range[1][0]; b <= range[1][1]; ++b)
        for (int c = range[2][0]; c <= range[2][1]; ++c)
          if (a != 0 || b != 0 || c != 0)
            add_row(frame, i, frame.type[i], box.to_cartesian({s[0] + a, s[1] + b, s[2] + c}));
  }
}

void add_neighbours(TrainingFrame& frame, const Configuration& configuration, double cutoff) {
  Atoms atoms;
  atoms.box = configuration.box;
  atoms.type_names = configuration.type_names;
  atoms.n_local = frame.n_atoms;
  atoms.n_ghost = static_cast<int>(frame.type.size()) - frame.n_atoms;
  atoms.reserve(frame.type.size());
  std::copy(frame.position.begin(), frame.position.end(), atoms.position.data());
  std::copy(frame.type.begin(), frame.type.end(), atoms.type.data());
  NeighbourList list;
  NeighbourListBuilder().build(Exec(), atoms, cutoff, list);
  frame.offset.assign(list.offset.data(), list.offset.data() + frame.n_atoms + 1);
  frame.neighbour.assign(list.neighbour.data(), list.neighbour.data() + frame.offset.back());
}

double least_distance(const TrainingFrame& frame) {
  double least = 1e300;
  for (int i = 0; i < frame.n_atoms; ++i)
    for (std::size_t n = frame.offset[i]; n < frame.offset[i + 1]; ++n) {
      double r2 = 0;
      for (int k = 0; k < 3; ++k)
        r2 += std::pow(frame.position[3 * std::int64_t{frame.neighbour[n]} + k] -
                           frame.position[3 * std::int64_t{i} + k],
                       2);
      least = std::min(least, r2);
    }
  return std::sqrt(least);
}

}  // namespace

std::size_t TrainingFrame::bytes() const {
  return sizeof(TrainingFrame) +
         (position.capacity() + force.capacity() + parameters.capacity()) * sizeof(double) +
         offset.capacity() * sizeof(std::size_t) +
         (type.capacity() + owner.capacity() + neighbour.capacity()) * sizeof(int);
}

TrainingFrame make_frame(const Configuration& configuration, double cutoff) {
  TrainingFrame frame;
  frame.n_atoms = configuration.n_atoms();
  const auto s = wrapped(configuration);
  for (int i = 0; i < frame.n_atoms; ++i)
    add_row(frame, i, configuration.types[i], configuration.box.to_cartesian(s[i]));
  add_images(frame, configuration.box, s, cutoff);
  add_neighbours(frame, configuration, cutoff);
  frame.least_distance = least_distance(frame);
  frame.parameters = configuration.parameters;
  frame.energy = configuration.energy;
  for (const auto& f : configuration.forces) frame.force.insert(frame.force.end(), f.begin(), f.end());
  frame.virial = configuration.virial;
  return frame;
}

}  // namespace quintet::potential
