#include "physics/spectral/flow_equations.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include <fmt/ranges.h>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet::spectral {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

template <class Table>
int index_in(const Table& table, const std::string& name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  return found == table.end() ? -1 : found - table.begin();
}

template <class Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

}  // namespace

/// Recursive descent over one text.
class FlowParser {
 public:
  FlowParser(const FlowText& text, FlowReader& reader)
      : text_(text.text), what_(text.what), reader_(reader) {}

  FlowValue formula() {
    constexpr std::size_t longest = 10000;
    QUINTET_CHECK(text_.find_first_not_of(" \t\r\n") != std::string::npos,
                  "{}: the formula is empty; expected, say, 'nu*lap(w)'", what_);
    QUINTET_CHECK(text_.size() <= longest, "{}: a formula of {} characters; expected at most {}", what_,
                  text_.size(), longest);
    FlowValue value = sum();
    const char c = next();
    fail_unless(c != ')', "unexpected ')'");
    fail_unless(c != '=', "'=' has no meaning here: the key names what changes, the text how it does");
    fail_unless(c != ',', "',' stands between the arguments of a function alone");
    fail_unless(c == '\0', expected_operator());
    return value;
  }

 private:
  static constexpr int deepest = 200;  ///< parentheses, signs and powers in each other
  struct Depth {
    int& depth;
    explicit Depth(FlowParser& parser) : depth(parser.depth_) {
      parser.fail_unless(++depth <= deepest, fmt::format("nested deeper than {} levels", deepest));
    }
    ~Depth() { --depth; }
  };

  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    throw InputError(fmt::format("{}: '{}', character {}: {}", what_, text_, at + 1, message));
  }
  void fail_unless(bool condition, const std::string& message) const {
    if (!condition) fail(std::min(at_, text_.size()), message);
  }
  [[nodiscard]] std::string expected_operator() const {
    return fmt::format("'{}' follows a value; expected an operator such as * or the end",
                       at_ < text_.size() ? character() : " ");
  }
  /// The character at this place with all its bytes of UTF-8, as messages quote it.
  [[nodiscard]] std::string character() const {
    const auto goes_on = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    std::size_t end = at_ + 1;
    while (end < text_.size() && goes_on(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  /// The next character that is not a blank; '\0' at the end.
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// Call `action`; what the program refuses gets this place.
  template <class Action>
  FlowValue placed(std::size_t at, const Action& action) const {
    try {
      return action(reader_.program());
    } catch (const InputError& error) {
      fail(at, error.what());
    }
  }

  FlowValue sum() {
    const Depth depth(*this);
    FlowValue value = product();
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      const std::size_t at = at_++;
      const FlowValue right = product();
      value =
          placed(at, [&](FlowProgram& p) { return p.add(value, c == '+' ? right : p.scaled(right, -1)); });
    }
    return value;
  }

  FlowValue product() {
    FlowValue value = sign();
    for (char c = next(); c == '*' || c == '/'; c = next()) {
      const std::size_t at = at_++;
      fail_unless(next() != '*', "'*' follows an operator; powers are written x^2");
      const FlowValue right = sign();
      value = placed(
          at, [&](FlowProgram& p) { return c == '*' ? p.multiply(value, right) : p.divide(value, right); });
    }
    return value;
  }

  FlowValue sign() {
    const char c = next();
    if (c != '-' && c != '+') return power();
    const Depth depth(*this);
    const std::size_t at = at_++;
    const FlowValue value = sign();
    return c == '+' ? value : placed(at, [&](FlowProgram& p) { return p.scaled(value, -1); });
  }

  FlowValue power() {
    const FlowValue base = primary();
    if (next() != '^') return base;
    const Depth depth(*this);
    const std::size_t at = at_++;
    const FlowValue exponent = sign();
    return placed(at, [&](FlowProgram& p) { return p.power(base, exponent); });
  }

  FlowValue primary() {
    const char c = next();
    fail_unless(c != '\0', "the formula ends too early; expected a number, a name or '('");
    if (c == '(') {
      ++at_;
      FlowValue value = sum();
      close();
      return value;
    }
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name();
    fail(at_, fmt::format("'{}' cannot be read here; expected a number, a name or '('", character()));
  }

  void close() {
    const char c = next();
    fail_unless(c != '\0', "a ')' is missing");
    fail_unless(c != ',', "',' stands between the arguments of a function alone");
    fail_unless(c == ')', expected_operator());
    ++at_;
  }

  FlowValue number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    fail_unless(error == std::errc() && std::isfinite(value), "not a number that can be held");
    at_ = end - text_.data();
    return reader_.program().number(value);
  }

  FlowValue name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (next() == '(') return call(begin, word);
    FlowValue value;
    if (reader_.find(word, value)) return value;
    fail_unless(index_in(point_functions(), word) < 0 && index_in(linear_operators(), word) < 0,
                fmt::format("'{}' is a function; expected '(' after it", word));
    const auto known = reader_.value_names();
    fail(begin,
         fmt::format("unknown name '{}'{} (known: {})", word, did_you_mean(word, known), name_list(known)));
  }

  std::vector<FlowValue> arguments() {
    ++at_;
    std::vector<FlowValue> values{sum()};
    while (next() == ',') {
      ++at_;
      values.push_back(sum());
    }
    close();
    return values;
  }

  FlowValue call(std::size_t at, const std::string& word) {
    const int function = index_in(point_functions(), word), linear = index_in(linear_operators(), word);
    if (function < 0 && linear < 0) fail_call(at, word);
    const auto values = arguments();
    const int n = function < 0 ? 1 : point_functions()[function].n_arguments;
    if (std::ssize(values) != n)
      fail(at, fmt::format("{} has {} argument{}; {} given", word, n, n == 1 ? "" : "s", values.size()));
    return placed(at, [&](FlowProgram& p) {
      if (linear >= 0) return p.apply(linear_operators()[linear], values[0]);
      return function == 0 ? p.power(values[0], values[1])
                           : p.call(function, values[0], n > 1 ? values[1] : p.number(0));
    });
  }

  [[noreturn]] void fail_call(std::size_t at, const std::string& word) const {
    const auto values = reader_.value_names();
    if (std::find(values.begin(), values.end(), word) != values.end())
      fail(at, fmt::format("'{}' is no function; expected an operator such as *", word));
    auto known = names_in(linear_operators());
    for (const auto& function : point_functions()) known.emplace_back(function.name);
    fail(at, fmt::format("unknown function '{}'{} (known: {})", word, did_you_mean(word, known),
                         name_list(known)));
  }

  const std::string& text_;
  const std::string& what_;
  FlowReader& reader_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

namespace {

void check_names(const FlowEquations& equations) {
  std::map<std::string, std::string> meanings{
      {"x", "a coordinate"}, {"y", "a coordinate"}, {"t", "the time"}, {"pi", "a number"}, {"e", "a number"}};
  for (const auto& function : point_functions()) meanings[function.name] = "a function";
  for (const auto& row : linear_operators()) meanings[row.name] = "an operator";
  const auto add = [&](const std::string& name, const std::string& what, const char* kind) {
    const bool plain =
        !name.empty() && is_letter(name[0]) &&
        std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
    QUINTET_CHECK(plain, "{}: '{}' is no name; expected a letter, then letters, digits or '_'", what, name);
    const auto [place, is_new] = meanings.emplace(name, kind);
    QUINTET_CHECK(is_new, "{}: '{}' is {} already; choose another name", what, name, place->second);
  };
  for (const auto& [name, value] : equations.parameters) add(name, "parameters", "a parameter");
  for (const auto& row : equations.variables) add(row.name, row.what, "a variable");
  for (const auto& row : equations.diagnosed) add(row.name, row.what, "a diagnosed field");
}

}  // namespace

FlowReader::FlowReader(FlowEquations equations)
    : equations_(std::move(equations)), program_(equations_.variables.size()) {
  check_names(equations_);
}

FlowValue FlowReader::read(const FlowText& text) { return FlowParser(text, *this).formula(); }

bool FlowReader::find(const std::string& name, FlowValue& value) {
  if (const int slot = index_in(equations_.variables, name); slot >= 0) {
    value = program_.variable(slot);
    return true;
  }
  if (const auto found = equations_.parameters.find(name); found != equations_.parameters.end()) {
    value = program_.number(found->second);
    return true;
  }
  const std::pair<const char*, PointOperation> coordinates[] = {
      {"x", PointOperation::x}, {"y", PointOperation::y}, {"t", PointOperation::t}};
  for (const auto& [coordinate, operation] : coordinates)
    if (name == coordinate && (equations_.has_time || operation != PointOperation::t)) {
      value = program_.coordinate(operation);
      return true;
    }
  if (name == "pi" || name == "e") {
    value = program_.number(name == "e" ? std::numbers::e : std::numbers::pi);
    return true;
  }
  const int row = index_in(equations_.diagnosed, name);
  if (row < 0) return false;
  if (const auto found = diagnosed_.find(name); found != diagnosed_.end()) {
    value = found->second;
    return true;
  }
  const FlowText text = equations_.diagnosed[row];
  if (const auto begin = std::find(under_way_.begin(), under_way_.end(), name); begin != under_way_.end())
    throw InputError(fmt::format("{}: defined by itself: {} -> {}", text.what,
                                 fmt::join(begin, under_way_.end(), " -> "), name));
  under_way_.push_back(name);
  value = read(text);
  under_way_.pop_back();
  diagnosed_[name] = value;
  return true;
}

FlowValue FlowReader::named(const std::string& name, const std::string& what) {
  const auto known = field_names();
  QUINTET_CHECK(std::find(known.begin(), known.end(), name) != known.end(),
                "{}: no variable or diagnosed field '{}'{} (known: {})", what, name,
                did_you_mean(name, known), name_list(known));
  FlowValue value;
  static_cast<void>(find(name, value));
  return value;
}

std::vector<std::string> FlowReader::field_names() const {
  auto names = names_in(equations_.variables);
  for (const auto& row : equations_.diagnosed) names.push_back(row.name);
  return names;
}

std::vector<std::string> FlowReader::value_names() const {
  auto names = field_names();
  for (const auto& [name, value] : equations_.parameters) names.push_back(name);
  for (const char* name : {"x", "y", "pi", "e"}) names.emplace_back(name);
  if (equations_.has_time) names.emplace_back("t");
  return names;
}

}  // namespace quintet::spectral
