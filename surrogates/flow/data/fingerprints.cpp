#include "surrogates/flow/data/fingerprints.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>

#include "io/hdf5/checksum.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::flow {

std::vector<std::int64_t> frame_fingerprints(const float* values, int n_fields, int n_frames,
                                             std::size_t points_of_frame) {
  std::vector<std::int64_t> result;
  for (int t = 0; t < n_frames; ++t) {
    std::uint64_t hash = 0;
    for (int f = 0; f < n_fields; ++f) {
      const std::size_t frame = std::int64_t{f} * n_frames + t;
      hash = hdf5::xxh64(std::as_bytes(std::span(values + frame * points_of_frame, points_of_frame)), hash);
    }
    result.push_back(std::bit_cast<std::int64_t>(hash));
  }
  return result;
}

std::vector<std::vector<std::int64_t>> fingerprints_of(const Comm& comm, const Samples& samples,
                                                       int n_fields) {
  std::vector<std::vector<std::int64_t>> all;
  std::size_t next = 0;  // sample
  for (const Run& run : samples.runs()) {
    all.emplace_back();
    for (; std::ssize(all.back()) < run.n_frames; ++next) {
      const Sample& sample = samples[next];
      std::vector<std::int64_t> own(sample.n_frames(), 0);
      if (next % comm.size() == static_cast<std::size_t>(comm.rank()))
        own = frame_fingerprints(sample.values, n_fields, sample.n_frames(), sample.n_points() / own.size());
      all.back().insert(all.back().end(), own.begin(), own.end());
    }
    comm.reduce(std::span<std::int64_t>(all.back()), Comm::Reduction::sum);
  }
  return all;
}

std::vector<std::int64_t> fingerprints_of(const std::vector<Part>& parts,
                                          const std::vector<std::vector<std::int64_t>>& all) {
  std::vector<std::int64_t> result;
  for (const auto& part : parts)
    result.insert(result.end(), all[part.sample].begin() + part.first,
                  all[part.sample].begin() + part.first + part.n);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

void check_splits(const std::array<std::vector<Part>, 3>& parts,
                  const std::vector<std::vector<std::int64_t>>& fingerprints, const std::vector<Run>& runs) {
  struct Owner {
    std::size_t split, part;
  };
  std::unordered_multimap<std::int64_t, Owner> owners;
  for (std::size_t split = 0; split < parts.size(); ++split)
    for (std::size_t k = 0; k < parts[split].size(); ++k) {
      const Part& part = parts[split][k];
      std::vector<std::size_t> shared(parts[0].size() + parts[1].size() + parts[2].size(), 0);
      const auto place = [&](const Owner& owner) {
        return owner.part + (owner.split > 0 ? parts[0].size() : 0) + (owner.split > 1 ? parts[1].size() : 0);
      };
      for (int t = part.first; t < part.first + part.n; ++t) {
        const auto [begin, end] = owners.equal_range(fingerprints[part.sample][t]);
        for (auto found = begin; found != end; ++found) ++shared[place(found->second)];
      }
      for (std::size_t before = 0; before < split; ++before)
        for (std::size_t j = 0; j < parts[before].size(); ++j) {
          const Part& other = parts[before][j];
          const auto count = shared[place({before, j})];
          QUINTET_CHECK(other.sample == part.sample || count <= 1 ||
                            2 * count <= static_cast<std::size_t>(std::min(other.n, part.n)),
                        "{} and {} have {} in common: the same flow would be in the {} and in the {} "
                        "split. Name it once in data.files, or split by time",
                        runs[other.sample].name, runs[part.sample].name, counted(count, "frame"),
                        split_names[before], split_names[split]);
        }
      // Frames of this part, each once: a flow at rest has one frame many times.
      std::vector<std::int64_t> own = fingerprints_of(std::vector{part}, fingerprints);
      for (const auto fingerprint : own) owners.emplace(fingerprint, Owner{split, k});
    }
}

std::int64_t count_known(const std::vector<std::int64_t>& frames, const std::vector<std::int64_t>& known) {
  return std::count_if(frames.begin(), frames.end(), [&](std::int64_t frame) {
    return std::binary_search(known.begin(), known.end(), frame);
  });
}

}  // namespace quintet::flow
