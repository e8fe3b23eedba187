#pragma once

#include <map>
#include <string>
#include <vector>

namespace quintet::campaign {

/// Meaning of a name in braces: one text, or a list of any number of them.
struct Meaning {
  std::vector<std::string> texts;
  bool is_list = false;  ///< also where it has one text, or none
};
using Values = std::map<std::string, Meaning>;

/// A word with what its names stand for: as many words as the one list in it has texts. {list:/path} stays
/// one word: each text with /path behind it, with commas between; {=formula} is a number of those values that
/// are numbers. "{{" is a brace. `who` begins messages. Throws InputError for names without meaning, two
/// lists in a word, open braces.
[[nodiscard]] std::vector<std::string> expanded(const std::string& word, const Values& values,
                                                const std::string& who);

/// A word and what lies in it between '=', ',', '[' and ']': "data.files=[/a,/b]" names two files.
[[nodiscard]] std::vector<std::string> parts_of(const std::string& word);

/// Files that are there and that a word names by their full paths anywhere in it, as a line of shell does:
/// "cat /a/b > x" names /a/b. What the word itself writes ("> /a/c") is not among them, nor are empty files,
/// which are mere signs, nor what the system only makes up (/dev, /proc, /sys).
[[nodiscard]] std::vector<std::string> files_within(const std::string& word);

/// A path as a pattern that matches nothing else: folders have names like "run[1]".
[[nodiscard]] std::string literal(const std::string& path);
/// A pattern in full. A relative one is taken from `folder`, whose own name is taken literally.
[[nodiscard]] std::string pattern_in(const std::string& folder, const std::string& pattern);

/// Files that match a pattern, sorted.
[[nodiscard]] std::vector<std::string> files_that_match(const std::string& pattern);

/// Whether a pattern has any file or folder.
[[nodiscard]] bool anything_matches(const std::string& pattern);

/// An executable: a path (from `here`), a program beside this one, or a name in one of the folders of `path`
/// (with ':' between). Throws InputError.
[[nodiscard]] std::string executable(const std::string& word, const std::string& here,
                                     const std::string& path, const std::string& who);

}  // namespace quintet::campaign
