#include "apps/campaign/words.hpp"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/ranges.h>

#include "io/config/scalar.hpp"
#include "io/formula/formula.hpp"
#include "io/formula/names.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

const Meaning& meaning_of(const std::string& name, const std::string& word, const Values& values,
                          const std::string& who) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, value] : values) known.push_back("{" + key + "}");
  throw InputError(fmt::format("{}: '{{{}}}' in '{}' stands for nothing here; known are {}", who, name, word,
                               fmt::join(known, ", ")));
}

/// All texts of a list within one word.
std::string joined(const Meaning& meaning, const std::string& path, const std::string& who) {
  constexpr std::string_view store = "{store}";  // stands for the store's folder where words make an identity
  constexpr const char* not_in_lists = ",[]{}'\"#";
  std::string all;
  for (const auto& text : meaning.texts) {
    const std::string folder = text.starts_with(store) ? text.substr(store.size()) : text;
    QUINTET_CHECK(
        (folder + path).find_first_of(not_in_lists) == std::string::npos,
        "{}: the path '{}{}' has one of the characters {}, which a list in a word cannot hold; use a "
        "folder without them",
        who, text, path, not_in_lists);
    all += (all.empty() ? "" : ",") + text + path;
  }
  return all;
}

/// Value of a formula of those values that are numbers.
std::string computed(const std::string& formula, const Values& values, const std::string& who) {
  std::map<std::string, double> numbers;
  for (const auto& [name, meaning] : values)
    if (meaning.texts.size() == 1 && detail::is_name(name))
      if (const auto number = to_number(meaning.texts.front())) numbers[name] = *number;
  return fmt::format("{}", Formula(formula, {}, numbers, who + ": {=...}")({}));
}

std::vector<std::string> paths_that_match(const std::string& pattern) {
  glob_t found{};
  const int code = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths;
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  return paths;
}

/// Whether a character before a slash is of the same name: the slash begins no full path.
bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-.~}/").find(c) != std::string_view::npos;
}

/// The longest path from `begin` on that is a file with something in it; "" for none. A name may hold what
/// ends a word of shell, so each place where one may end is tried, as far as there are folders.
std::string longest_file(const std::string& word, std::size_t begin) {
  constexpr std::string_view made_up[] = {"/proc/", "/sys/"}, ends = " \t\n'\"`;|&<>()[]{},:=$*?\\";
  const std::string_view rest = std::string_view(word).substr(begin);
  if (std::any_of(std::begin(made_up), std::end(made_up),
                  [&](auto folder) { return rest.starts_with(folder); }))
    return "";
  std::string best;
  for (std::size_t end = 1; end <= rest.size(); ++end) {
    const bool is_over = end == rest.size() || rest[end] == '\n';
    if (!is_over && ends.find(rest[end]) == std::string_view::npos && rest[end] != '/') continue;
    const std::string path(rest.substr(0, end));
    std::error_code wrong;
    const auto kind = fs::status(path, wrong).type();
    if (kind == fs::file_type::regular && fs::file_size(path, wrong) > 0 && !wrong) best = path;
    if (is_over || (rest[end] == '/' && kind != fs::file_type::directory)) break;
  }
  return best;
}

}  // namespace

std::vector<std::string> expanded(const std::string& word, const Values& values, const std::string& who) {
  std::vector<std::string> texts{""};
  bool has_list = false;
  const auto append = [&](const auto& more) {
    for (auto& text : texts) text += more;
  };
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if ((c == '{' || c == '}') && i + 1 < word.size() && word[i + 1] == c) {
      append(c);
      ++i;
      continue;
    }
    if (c != '{') {
      append(c);
      continue;
    }
    const auto end = word.find('}', i);
    QUINTET_CHECK(end != std::string::npos, "{}: '{}' has a brace that is not closed; write {{{{ for one",
                  who, word);
    const std::string inner = word.substr(i + 1, end - i - 1);
    i = end;
    if (inner.starts_with('=')) {
      append(computed(inner.substr(1), values, who));
      continue;
    }
    const auto colon = inner.find(':');
    const auto& meaning = meaning_of(inner.substr(0, colon), word, values, who);
    if (colon != std::string::npos) {
      append(joined(meaning, inner.substr(colon + 1), who));
    } else if (meaning.texts.size() == 1) {
      append(meaning.texts.front());
    } else {
      QUINTET_CHECK(
          !has_list,
          "{}: '{}' names two stages of several items each; use a word for each, or {{STAGE:/path}}", who,
          word);
      has_list = true;
      const std::string front = texts.empty() ? "" : texts.front();
      texts.clear();
      for (const auto& value : meaning.texts) texts.push_back(front + value);
    }
  }
  return texts;
}

std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts;
  if (!word.empty()) parts.push_back(word);
  for (std::size_t begin = 0; begin < word.size();) {
    const auto end = std::min(word.find_first_of("=,[]", begin), word.size());
    if (end > begin && end - begin < word.size()) parts.push_back(word.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> files_within(const std::string& word) {
  std::vector<std::string> files;
  std::set<std::string> written;
  for (std::size_t begin = word.find('/'); begin != std::string::npos; begin = word.find('/', begin + 1)) {
    if (begin > 0 && is_of_name(word[begin - 1])) continue;  // in the midst of a relative path
    const std::string file = longest_file(word, begin);
    if (file.empty()) continue;
    const auto before = begin == 0 ? std::string::npos : word.find_last_not_of(" \t\"'", begin - 1);
    if (before != std::string::npos && word[before] == '>') written.insert(file);
    files.push_back(file);
    begin += file.size() - 1;
  }
  std::erase_if(files, [&](const auto& file) { return written.contains(file); });
  return files;
}

std::string literal(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string pattern_in(const std::string& folder, const std::string& pattern) {
  return fs::path(pattern).is_absolute() ? pattern : (fs::path(literal(folder)) / pattern).string();
}

std::vector<std::string> files_that_match(const std::string& pattern) {
  auto files = paths_that_match(pattern);
  std::erase_if(files, [](const auto& path) { return !fs::is_regular_file(path); });
  return files;
}

bool anything_matches(const std::string& pattern) { return !paths_that_match(pattern).empty(); }

std::string executable(const std::string& word, const std::string& here, const std::string& path,
                       const std::string& who) {
  const auto runs = [](const std::string& path) {
    return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) {
    const std::string file = fs::path(word).is_absolute() ? word : (fs::path(here) / word).string();
    QUINTET_CHECK(runs(file), "{}: '{}' is no program that can be run", who, file);
    return file;
  }
  if (const auto beside = fs::read_symlink("/proc/self/exe").parent_path() / word; runs(beside.string()))
    return beside.string();
  std::string rest = path;
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const std::string file = (fs::path(rest.substr(0, end)) / word).string();
    if (runs(file)) return file;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  throw InputError(
      fmt::format("{}: there is no program '{}', neither beside quintet nor on the PATH", who, word));
}

}  // namespace quintet::campaign
