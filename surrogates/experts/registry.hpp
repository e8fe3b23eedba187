#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config/tree.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/experts/network_router.hpp"

/// Many models in one file, each with what it is valid for.
namespace quintet::experts {

/// Where an expert is valid: least <= key <= most.
struct KeyRange {
  std::string key;
  double least = 0, most = 0;
  std::string unit = "1";
};

/// All that a registry says of a model but its numbers.
struct Expert {
  std::string id;
  std::string app;        ///< "dpmd"
  std::string kind;       ///< "deep_potential"
  std::string precision;  ///< "float32", ...
  std::string source;     ///< program and run that made it
  std::string licence;
  std::string checksum;      ///< "xxh64:..." of its file's bytes
  std::uint64_t bytes = 0;   ///< of its file
  std::uint64_t memory = 0;  ///< that it takes once it is open, as its application says
  std::vector<KeyRange> range;
  std::vector<std::pair<std::string, std::string>> words;  ///< ("type", "O"), ("type", "H"): what it knows

  [[nodiscard]] const KeyRange* range_of(const std::string& key) const;
  /// True if all of these words of the key are among its own.
  [[nodiscard]] bool knows(const std::string& key, const std::vector<std::string>& wanted) const;
};

/// Convert an application's description of a model (`dpmd expert MODEL`) to a document, and back.
[[nodiscard]] Tree to_tree(const Expert& expert);
/// Throws InputError: keys that are missing, no numbers, ranges that do not ascend or are not finite.
[[nodiscard]] Expert expert_of(const Tree& tree);

/// The list of a registry's experts; no numbers are read.
class Registry {
 public:
  /// Collective. Throws InputError (file, expert, what): no registry, attributes that are missing or make no
  /// sense, more bytes than the file has.
  static Registry read(const Comm& comm, const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<Expert>& experts() const { return experts_; }
  [[nodiscard]] const std::optional<NetworkRouter>& router() const { return router_; }
  /// Number of an expert. Throws InputError with those there are.
  [[nodiscard]] int find(const std::string& id) const;
  /// Name that opens an expert wherever a model is accepted: "registry.h5:ID".
  [[nodiscard]] std::string name_of(int expert) const;

 private:
  std::string path_;
  std::vector<Expert> experts_;
  std::optional<NetworkRouter> router_;
};

/// Put the model of a file into a registry, which is made where it is not there. The registry is copied,
/// added to, verified, brought to the disk and renamed: whatever happens on the way, the old one stays. One
/// writer at a time; others wait. `expert` without bytes and checksum. Throws InputError (an ID that is there
/// and not `replaces`, no HDF5 file, numbers that are not finite) and ResourceError.
void add_expert(const std::string& registry, const Expert& expert, const std::string& model, bool replaces,
                const hdf5::Provenance& provenance);
/// Take an expert out, likewise.
void remove_expert(const std::string& registry, const std::string& id);
/// Throws InputError unless an expert's bytes are those that were written, and an HDF5 file whose datasets
/// are where the layout says.
void verify_expert(const Registry& registry, int expert);

}  // namespace quintet::experts
