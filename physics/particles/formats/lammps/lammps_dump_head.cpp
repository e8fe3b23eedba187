#include "physics/particles/formats/lammps/lammps_dump_head.hpp"

#include <algorithm>
#include <initializer_list>

#include "io/log/error.hpp"

namespace quintet {

std::optional<DumpHead> DumpHeads::next() {
  if (!reader_.next_filled()) return {};
  DumpHead head;
  bool counted = false, bounded = false;
  for (bool more = true; more;) {
    const std::string item = item_here();
    if (item.starts_with("ATOMS")) {
      for (const auto word : text::split(std::string_view(item).substr(5))) head.columns.emplace_back(word);
      QUINTET_CHECK(counted && bounded, "{}: ITEM: {} is missing before the atoms", reader_.where(),
                    counted ? "BOX BOUNDS" : "NUMBER OF ATOMS");
      head.units = units_;
      return head;
    }
    more = read_item(item, head, counted, bounded);
  }
  throw InputError(fmt::format("{}: the file ends within the head of a frame", reader_.where()));
}

std::string DumpHeads::item_here() const {
  const auto& line = reader_.line();
  QUINTET_CHECK(line.starts_with("ITEM: "), "{}: found {} where a line 'ITEM: ...' was expected",
                reader_.where(), text::shown(line));
  return line.substr(6);
}

std::vector<std::string_view> DumpHeads::step(const std::string& item) {
  QUINTET_CHECK(reader_.next(), "{}: the file ends within ITEM: {}", reader_.where(), item);
  return text::split(reader_.line());
}

bool DumpHeads::read_item(const std::string& item, DumpHead& head, bool& counted, bool& bounded) {
  if (item == "NUMBER OF ATOMS") {
    const auto words = step(item);
    QUINTET_CHECK(words.size() == 1, "{}: {} is no number of atoms", reader_.where(),
                  text::shown(reader_.line()));
    head.n_atoms = text::to_integer(words[0], reader_.where(), "the number of atoms");
    // A line of an atom has eight bytes at least.
    QUINTET_CHECK(head.n_atoms >= 1 && static_cast<std::uint64_t>(head.n_atoms) <= reader_.bytes() / 6,
                  "{}: {} atoms cannot be true of a file of {} bytes; expected 1 or more", reader_.where(),
                  head.n_atoms, reader_.bytes());
    counted = true;
  } else if (item.starts_with("BOX BOUNDS")) {
    read_bounds(item, head);
    bounded = true;
  } else if (item == "UNITS") {
    const auto words = step(item);
    units_ = words.empty() ? "" : std::string(words[0]);
    QUINTET_CHECK(units_ == "metal" || units_ == "real",
                  "{}: the dump is in LAMMPS units {}, only metal and real are read", reader_.where(),
                  text::shown(units_));
  } else if (item == "TIMESTEP" || item == "TIME") {
    QUINTET_CHECK(step(item).size() == 1, "{}: {} is no {}", reader_.where(), text::shown(reader_.line()),
                  item);
  } else {
    QUINTET_CHECK(!item.starts_with("ENTRIES") && !item.starts_with("NUMBER OF ENTRIES"),
                  "{}: a dump of style local holds no atoms; write one of style custom", reader_.where());
    head.reading.leave("item " + item);
    while (reader_.next_filled())
      if (reader_.line().starts_with("ITEM: ")) return true;
    return false;
  }
  return reader_.next_filled();
}

void DumpHeads::read_bounds(const std::string& item, DumpHead& head) {
  auto words = text::split(item);
  words.erase(words.begin(), words.begin() + 2);
  const auto begins = [&](std::initializer_list<std::string_view> with) {
    return words.size() >= with.size() && std::equal(with.begin(), with.end(), words.begin());
  };
  const bool slanted = begins({"xy", "xz", "yz"}), general = begins({"abc", "origin"});
  words.erase(words.begin(), words.begin() + (slanted ? 3 : general ? 2 : 0));
  if (!words.empty()) {
    head.periodic.emplace();
    QUINTET_CHECK(words.size() == 3, "{}: {} has {} boundary words, expected 3 as in pp pp ff",
                  reader_.where(), text::shown(item), words.size());
    for (int k = 0; k < 3; ++k) (*head.periodic)[k] = is_periodic(words[k]);
  }
  std::array<std::array<double, 4>, 3> lines{};
  for (auto& line : lines) {
    const auto numbers = step(item);
    const std::size_t n = general ? 4 : slanted ? 3 : 2;
    QUINTET_CHECK(numbers.size() == n, "{}: a line of the box has {} numbers, expected {}", reader_.where(),
                  numbers.size(), n);
    for (std::size_t i = 0; i < n; ++i) line[i] = text::to_double(numbers[i], reader_.where(), "a bound");
  }
  if (general) {
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < 3; ++k) head.rows[3 * r + k] = lines[r][k];
      head.origin[r] = lines[r][3];
    }
    return;
  }
  // The bounds are those of the box around the slanted one.
  const double xy = lines[0][2], xz = lines[1][2], yz = lines[2][2];
  lines[0][0] -= std::min({0.0, xy, xz, xy + xz});
  lines[0][1] -= std::max({0.0, xy, xz, xy + xz});
  lines[1][0] -= std::min(0.0, yz);
  lines[1][1] -= std::max(0.0, yz);
  for (int k = 0; k < 3; ++k) {
    QUINTET_CHECK(lines[k][0] < lines[k][1], "{}: the box is empty or inverted along {}", reader_.where(),
                  "xyz"[k]);
    head.origin[k] = lines[k][0];
    head.rows[4 * k] = lines[k][1] - lines[k][0];
  }
  head.rows[3] = xy;
  head.rows[6] = xz;
  head.rows[7] = yz;
}

bool DumpHeads::is_periodic(std::string_view word) const {
  QUINTET_CHECK(word.size() == 2 && word.find_first_not_of("pfsm") == std::string_view::npos,
                "{}: {} is no boundary, expected two letters of p, f, s and m", reader_.where(),
                text::shown(word));
  return word[0] == 'p';
}

}  // namespace quintet
