#include "apps/application/citations/citations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "apps/application/citations/publications.hpp"
#include "apps/application/citations/references.hpp"
#include "io/config/tree.hpp"

using quintet::parse_yaml;

namespace {

bool cites(const std::string& command, const std::string& configuration, const std::string& key) {
  const auto text = quintet::bibliography(command, parse_yaml(configuration, "configuration"), "0.1.0");
  return text.find("{" + key + ",") != std::string::npos;
}

std::string npt(const std::string& method, const std::string& thermostat,
                const std::string& more = "axes: [x, y, z]") {
  return "integrator: {ensemble: npt, barostat: {method: " + method + ", thermostat: " + thermostat +
         ", coupling: isotropic, " + more + "}}";
}

}  // namespace

TEST(Citations, a_run_cites_the_methods_that_its_configuration_names) {
  EXPECT_TRUE(cites("dpmd run", "integrator: {ensemble: langevin}", "leimkuhler2013"));
  EXPECT_FALSE(cites("dpmd run", "integrator: {ensemble: nve}", "leimkuhler2013"));
  EXPECT_FALSE(cites("dpmd train", "integrator: {ensemble: langevin}", "leimkuhler2013"));
  EXPECT_TRUE(cites("vlasov run", "collisions: {operator: bgk}", "bhatnagar1954"));
  EXPECT_FALSE(cites("vlasov run", "collisions: {operator: bgk}", "lenard1958"));
  EXPECT_FALSE(cites("vlasov run", "collisions: null", "bhatnagar1954"));
  EXPECT_TRUE(cites("dpmd run", "potential: {repulsion: {kind: zbl}}", "ziegler1985"));
  EXPECT_FALSE(cites("dpmd run", "potential: {repulsion: null}", "ziegler1985"));
  EXPECT_TRUE(cites("dpmd run", "{}", "zhang2018deepmd"));
  EXPECT_FALSE(cites("dpmdx run", "{}", "zhang2018deepmd"));
}

TEST(Citations, the_barostat_that_auto_takes_is_cited) {
  EXPECT_TRUE(cites("dpmd run", npt("auto", "velocity_rescaling"), "bernetti2020"));
  EXPECT_FALSE(cites("dpmd run", npt("auto", "velocity_rescaling"), "martyna1994"));
  EXPECT_TRUE(cites("dpmd run", npt("auto", "nose_hoover"), "martyna1994"));
  EXPECT_FALSE(cites("dpmd run", npt("auto", "nose_hoover"), "bernetti2020"));
  EXPECT_TRUE(cites("dpmd run", npt("auto", "langevin", "axes: [x, y]"), "martyna1994"));
  EXPECT_FALSE(cites("dpmd run", npt("auto", "langevin", "axes: [x, y]"), "bernetti2020"));
}

TEST(Citations, the_file_holds_each_entry_once_and_its_braces_match) {
  const auto text =
      quintet::bibliography("dpmd run", parse_yaml(npt("auto", "langevin"), "configuration"), "0.1.0");

  std::set<std::string> keys;
  for (auto at = text.find("\n@"); at != std::string::npos; at = text.find("\n@", at + 1)) {
    const auto begin = text.find('{', at) + 1;
    EXPECT_TRUE(keys.insert(text.substr(begin, text.find(',', begin) - begin)).second) << text;
  }
  EXPECT_TRUE(keys.contains("quintet") && keys.contains("bernetti2020") && keys.contains("leimkuhler2013"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}'));
}

TEST(Citations, every_reference_names_a_publication_and_every_publication_has_one) {
  std::set<std::string_view> known, cited;
  for (const auto& row : quintet::publications()) EXPECT_TRUE(known.insert(row.key).second) << row.key;
  for (const auto& row : quintet::references()) cited.insert(row.key);

  EXPECT_EQ(known, cited);
}

TEST(Citations, every_publication_is_a_whole_entry) {
  for (const auto& row : quintet::publications()) {
    const auto text = quintet::bibtex(row);

    EXPECT_EQ(text.find(fmt::format("@{}{{{},\n", row.kind, row.key)), 0U) << text;
    for (const auto field : {row.author, row.title, row.year}) EXPECT_FALSE(field.empty()) << row.key;
    EXPECT_EQ(row.venue.empty(), row.kind == "misc") << row.key;
    EXPECT_TRUE(row.doi.empty() || row.doi.starts_with("10.")) << row.doi;
    EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}')) << text;
  }
}
