#include <unistd.h>

#include <array>
#include <ctime>

#include "io/config/tree.hpp"
#include "io/hdf5/build_info.hpp"
#include "io/hdf5/embedded_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet::hdf5 {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Now, as ISO 8601 in UTC.
std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

int integer_or(const Group& root, const std::string& name, int otherwise) {
  const auto values = root.has_attribute(name) ? root.number_attribute(name) : std::vector<double>{};
  return values.empty() ? otherwise : static_cast<int>(values[0]);
}

}  // namespace

Provenance current_provenance() {
  Provenance provenance;
  provenance.version = build_info::version;
  provenance.git_hash = build_info::git_hash;
  provenance.build = build_info::build;
  provenance.host = host_name();
  provenance.date = date_text();
  return provenance;
}

void write_header(Group& root, const std::string& schema, int schema_version, const Provenance& provenance) {
  root.set_attribute("schema", schema);
  root.set_attribute("schema_version", schema_version);
  root.set_attribute("program", provenance.program);
  root.set_attribute("version", provenance.version);
  root.set_attribute("git_hash", provenance.git_hash);
  root.set_attribute("build", provenance.build);
  root.set_attribute("host", provenance.host);
  root.set_attribute("date", provenance.date);
  root.set_attribute("blas", provenance.blas);
  root.set_attribute("ranks", provenance.ranks);
  root.set_attribute("threads", provenance.threads);
  root.set_attribute("seed", provenance.seed);
  root.set_attribute("configuration", provenance.configuration);
  root.set_attribute("run", provenance.run);
  root.set_attribute("inputs", provenance.inputs);
  root.set_attribute("changes", provenance.changes);
}

Provenance read_provenance(const Group& root) {
  Provenance provenance;
  const auto text = [&](const char* name) {
    return root.has_attribute(name) ? root.text_attribute(name) : "";
  };
  provenance.program = text("program");
  provenance.version = text("version");
  provenance.git_hash = text("git_hash");
  provenance.build = text("build");
  provenance.host = text("host");
  provenance.date = text("date");
  provenance.blas = text("blas");
  provenance.configuration = text("configuration");
  provenance.run = text("run");
  provenance.inputs = text("inputs");
  provenance.changes = text("changes");
  provenance.ranks = integer_or(root, "ranks", 0);
  provenance.threads = integer_or(root, "threads", 0);
  provenance.seed = root.has_attribute("seed") ? root.integer_attribute("seed") : 0;
  return provenance;
}

int check_header(const File& file, const std::string& schema, int newest_version) {
  const Group& root = file.root();
  QUINTET_CHECK(root.has_attribute("schema") && root.has_attribute("schema_version"),
                "{}: has no schema: it was not written by Quintet; expected schema '{}'", file.path(),
                schema);
  const std::string found = root.text_attribute("schema");
  if (schema != registry_schema) refuse_registry(file);
  QUINTET_CHECK(found == schema, "{}: has schema '{}', but '{}' is expected: is this the right file?",
                file.path(), found, schema);
  const int version = integer_or(root, "schema_version", 0);
  const std::string writer = root.has_attribute("version") ? root.text_attribute("version") : "unknown";
  QUINTET_CHECK(
      version <= newest_version,
      "{}: has version {} of schema '{}' (written by Quintet {}), but this program ({}) reads up to {}: use "
      "a newer Quintet",
      file.path(), version, schema, writer, build_info::version, newest_version);
  QUINTET_CHECK(
      version >= newest_version - 1 && version >= 1,
      "{}: has version {} of schema '{}' (written by Quintet {}), but this program ({}) reads {} and {}: "
      "open and rewrite it with the releases between, one schema version at a time",
      file.path(), version, schema, writer, build_info::version, newest_version - 1, newest_version);
  return version;
}

}  // namespace quintet::hdf5
