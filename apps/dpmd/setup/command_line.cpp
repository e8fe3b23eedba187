#include "apps/dpmd/setup/command_line.hpp"

#include "apps/dpmd/setup/run_options.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',' || c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  std::erase(words, "");
  return words;
}

const std::string& model_of(const std::optional<std::string>& by_place,
                            const std::optional<std::string>& by_flag) {
  QUINTET_CHECK(by_place.has_value() != by_flag.has_value(), "{}; expected one model: --model MODEL",
                by_place ? "a model is given twice" : "no model is given");
  return by_flag ? *by_flag : *by_place;
}

void describe(Schema& schema, NamingOptions& options) {
  schema.text("types", options.types, "Names of types that files number and do not name: O,H");
  describe_masses(schema, options.masses);
  schema.text("periodic", options.periodic, "Of x, y, z where files do not say it: true,true,false");
}

ReadOptions read_options_of(const NamingOptions& options) {
  ReadOptions read;
  read.all_frames = true;
  read.labels.use = LabelSource::Use::none;
  if (options.periodic) {
    const auto words = names_in(*options.periodic);
    const auto problem = problem_of_periodic(words);
    QUINTET_CHECK(!problem, "--{}", problem.value_or(""));
    read.periodic = periodic_of(words);
  }
  if (options.types) read.type_names = names_in(*options.types);
  read.masses = options.masses;
  return read;
}

}  // namespace quintet::dpmd
