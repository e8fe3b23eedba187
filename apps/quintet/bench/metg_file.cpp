#include "apps/quintet/bench/metg_file.hpp"

#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::bench {

MetgFile read_metg(const std::string& file) {
  const Tree tree = read_yaml(file);
  QUINTET_CHECK(tree.is_map() && tree.has("metg") && tree.has("doubt"),
                "{}: expected the metg.json of a 'quintet bench metg --output DIR'", file);
  MetgFile metg{.of = tree.at("metg").as_text(), .doubt = tree.at("doubt").as_text()};
  if (const Tree* unit = tree.find("unit")) metg.unit = unit->as_text();
  if (const Tree* bound = tree.find("metg_per_rank")) metg.per_rank = bound->as_number();
  if (metg.doubt.empty() && !tree.at("publishable").as_boolean()) metg.doubt = "not to be published";
  return metg;
}

}  // namespace quintet::bench
