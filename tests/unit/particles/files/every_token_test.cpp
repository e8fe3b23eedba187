#include <cctype>

#include "files_support.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "text_samples.hpp"

// What holds for every word of a file in every text format: a number is read to its last character, and what
// changes a result is not passed over.

namespace {

using namespace quintet;
using files::samples;

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
  for (const auto& [name, content, says_boundaries] : samples) {
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
  for (const auto& [name, content, says_all] : samples) {
    const auto reading = read_configuration(files::put(scratch / name, content)).reading.text();
    EXPECT_EQ(reading.find("periodic in x y z") == std::string::npos, says_all) << name << ": " << reading;
    ReadOptions options;
    options.periodic = std::array{true, true, false};
    if (says_all)
      EXPECT_MESSAGE(read_configuration(scratch / name, options), "leave it out, the file says it itself");
    else
      EXPECT_EQ(read_configuration(scratch / name, options).box.periodic(), *options.periodic) << name;
  }
}

}  // namespace
