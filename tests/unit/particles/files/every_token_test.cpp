#include <cctype>

#include "files_support.hpp"
#include "physics/particles/files/read_configuration.hpp"

// What holds for every word of a file in every text format: a number is read to its last character, and what
// changes a result is not passed over.

namespace {

using namespace quintet;

struct Sample {
  std::string name, content;
};

const Sample samples[] = {
    {"a.xyz",
     "2\nLattice=\"9 0 0 0.5 9 0 0 0 9\" pbc=\"T T T\" Origin=\"0.5 0 0\" energy=-3.5 virial=\"1 2 3 2 4 5 3 "
     "5 6\" "
     "stress=\"-1.371742112e-3 -2.743484225e-3 -4.115226337e-3 -2.743484225e-3 -5.486968450e-3 "
     "-6.858710562e-3 "
     "-4.115226337e-3 -6.858710562e-3 -8.230452675e-3\" "
     "Properties=species:S:1:pos:R:3:id:I:1:mass:R:1:velocities:R:3:forces:R:3\n"
     "O 1 2 3 7 15.999 0.1 0.2 0.3 1 2 3\nH 2 3 4 8 1.008 0.4 0.5 0.6 4 5 6\n"},
    {"a.data",
     "title\n\n2 atoms\n2 atom types\n0 9 xlo xhi\n1 9 ylo yhi\n2 9 zlo zhi\n0.5 0.25 0.125 xy xz "
     "yz\n\nMasses\n\n1 "
     "15.999 # O\n2 1.008 # H\n\nAtoms # full\n\n3 1 1 -0.8 1 2 3 0 1 0\n4 1 2 0.4 2 3 4 1 0 "
     "0\n\nVelocities\n\n3 0.1 0.2 "
     "0.3\n4 0.4 0.5 0.6\n"},
    {"POSCAR",
     "title\n1.5\n4 0 0\n0.5 4 0\n0 0 4\nO H\n1 1\nSelective dynamics\nDirect\n0.1 0.2 0.3 T F T\n0.4 0.5 "
     "0.6 F F "
     "F\n\n0.001 0.002 0.003\n0.004 0.005 0.006\n"},
};

bool same(const Configuration& a, const Configuration& b) {
  return a.box == b.box && a.type_names == b.type_names && a.types == b.types && a.positions == b.positions &&
         a.ids == b.ids && a.masses == b.masses && a.velocities == b.velocities && a.held == b.held &&
         a.energy == b.energy && a.forces == b.forces && a.virial == b.virial;
}

/// Begin and end of every number of a text.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  const auto is_part = [&](std::size_t i) {
    return i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) != 0 ||
                               std::string_view("+-.e").find(text[i]) != std::string_view::npos);
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = is_part(i) && text[i] != 'e' &&
                        (i == 0 || std::string_view(" \n\":=").find(text[i - 1]) != std::string_view::npos);
    if (!begins) continue;
    std::size_t end = i;
    while (is_part(end)) ++end;
    found.emplace_back(i, end);
  }
  return found;
}

TEST(EveryToken, a_number_is_read_to_its_last_character) {
  const Scratch scratch("every_token");
  for (const auto& [name, content] : samples) {
    const auto path = scratch / name;
    const auto whole = read_configuration(files::put(path, content));
    const auto numbers = numbers_in(content);
    EXPECT_GT(numbers.size(), 20u) << name;
    int refused = 0;
    for (const auto& [begin, end] : numbers)
      for (const std::string tail : {"x", ",5", "-101x", "e"}) {
        const auto changed = content.substr(0, end) + tail + content.substr(end);
        try {
          const auto read = read_configuration(files::put(path, changed));
          EXPECT_TRUE(same(read, whole)) << name << ": '" << content.substr(begin, end - begin) << tail
                                         << "' was read as a number, at byte " << begin;
        } catch (const InputError& error) {
          EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
          ++refused;
        }
      }
    EXPECT_GT(refused, static_cast<int>(2 * numbers.size())) << name;
  }
}

TEST(EveryToken, what_a_format_does_not_say_is_told) {
  const Scratch scratch("every_token");
  for (const auto& [name, content] : samples) {
    const bool says_all = name == "a.xyz";
    const auto reading = read_configuration(files::put(scratch / name, content)).reading.text();
    EXPECT_EQ(reading.find("periodic in x y z") == std::string::npos, says_all) << name << ": " << reading;
    ReadOptions options;
    options.periodic = std::array{true, true, false};
    if (says_all)
      EXPECT_MESSAGE(read_configuration(scratch / name, options), "periodic is given as true true false");
    else
      EXPECT_EQ(read_configuration(scratch / name, options).box.periodic(), *options.periodic) << name;
  }
}

}  // namespace
