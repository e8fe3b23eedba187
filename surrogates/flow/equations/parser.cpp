#include "surrogates/flow/equations/parser.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <string_view>
#include <utility>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
#include "surrogates/flow/equations/expression_functions.hpp"

namespace quintet::flow {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int index_of(const auto& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

/// Names of all derivatives with the axes that they differentiate along.
std::vector<std::pair<std::string, std::vector<int>>> derivative_names(const EquationNames& names) {
  std::vector<std::pair<std::string, std::vector<int>>> all;
  for (int i = 0; i < n_axes; ++i) all.push_back({"d" + names.axes[i], {i}});
  for (int i = 0; i < n_axes; ++i)
    for (int j = 0; j < n_axes; ++j) all.push_back({"d" + names.axes[i] + names.axes[j], {i, j}});
  return all;
}

/// Recursive descent over one text.
class Parser {
 public:
  Parser(const EquationText& equation, const EquationNames& names, Expressions& graph)
      : text_(equation.text), what_(equation.what), names_(names), graph_(graph) {
    for (const auto& [name, axes] : derivative_names(names)) derivatives_[name] = axes;
  }

  int equation() {
    constexpr std::size_t longest = 10000;
    QUINTET_CHECK(text_.find_first_not_of(" \t\r\n") != std::string::npos,
                  "{}: the equation is empty; expected, say, 'dt(b) + u*dx(b)'", what_);
    QUINTET_CHECK(text_.size() <= longest, "{}: an equation of {} characters; expected at most {}", what_,
                  text_.size(), longest);
    int residual = sum();
    if (next() == '=') {
      ++at_;
      fail_unless(next() != '=', "'==' compares nothing here; write left = right");
      residual = graph_.subtract(residual, sum());
      fail_unless(next() != '=', "a second '='; expected one");
    }
    fail_unless(next() != ')', "unexpected ')'");
    fail_unless(next() != ',', "',' stands between the arguments of a function alone");
    fail_unless(at_ == text_.size(), expected_operator());
    return residual;
  }

 private:
  /// Parentheses, signs and powers that may lie in each other.
  static constexpr int deepest = 200;
  struct Depth {
    int& depth;
    explicit Depth(Parser& parser) : depth(parser.depth_) {
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
                       at_ < text_.size() ? text_[at_] : ' ');
  }
  /// The next character that is not a blank; '\0' at the end.
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// Call `action`; what it throws gets this place.
  template <class Action>
  int placed(std::size_t at, Action&& action) const {
    try {
      return action();
    } catch (const InputError& error) {
      fail(at, error.what());
    }
  }

  int sum() {
    const Depth depth(*this);
    int value = product();
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      const std::size_t at = at_++;
      const int right = product();
      value = placed(at, [&] { return c == '+' ? graph_.add(value, right) : graph_.subtract(value, right); });
    }
    return value;
  }

  int product() {
    int value = sign();
    for (char c = next(); c == '*' || c == '/'; c = next()) {
      const std::size_t at = at_++;
      fail_unless(next() != '*', "'*' follows an operator; powers are written x^2");
      const int right = sign();
      if (c == '/' && graph_.is_number(right, 0)) fail(at, "a division by 0");
      value =
          placed(at, [&] { return c == '*' ? graph_.multiply(value, right) : graph_.divide(value, right); });
    }
    return value;
  }

  int sign() {
    const char c = next();
    if (c != '-' && c != '+') return power();
    const Depth depth(*this);
    ++at_;
    const int value = sign();
    return c == '-' ? graph_.negate(value) : value;
  }

  int power() {
    const int base = primary();
    if (next() != '^') return base;
    const Depth depth(*this);
    const std::size_t at = at_++;
    const int exponent = sign();
    return placed(at, [&] { return graph_.power(base, exponent); });
  }

  int primary() {
    const char c = next();
    fail_unless(c != '\0', "the equation ends too early; expected a number, a name or '('");
    if (c == '(') {
      ++at_;
      const int value = sum();
      close();
      return value;
    }
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name();
    fail(at_, std::string_view("<>&|?:!").find(c) != std::string_view::npos
                  ? fmt::format("'{}': equations compare nothing", c)
                  : fmt::format("'{}' cannot be read here; expected a number, a name or '('", c));
  }

  void close() {
    const char c = next();
    if (c == ')') {
      ++at_;
      return;
    }
    fail_unless(c != '\0', "a ')' is missing");
    fail_unless(c != ',', "',' stands between the arguments of a function alone");
    fail_unless(c != '=', "'=' stands between the two sides of an equation alone");
    fail(at_, expected_operator());
  }

  int number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    fail_unless(error == std::errc() && std::isfinite(value), "not a number that can be held");
    at_ += end - begin;
    return graph_.number(value);
  }

  int name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (next() == '(') return call(begin, word);
    return value(begin, word);
  }

  int value(std::size_t at, const std::string& word) {
    if (const int field = index_of(names_.fields, word); field >= 0) return graph_.jet(field, {});
    if (const int axis = index_of(names_.axes, word); axis >= 0) return graph_.coordinate(axis);
    if (const int constant = index_of(names_.constants, word); constant >= 0)
      return graph_.constant(constant);
    if (word == "pi") return graph_.number(std::numbers::pi);
    if (word == "e") return graph_.number(std::numbers::e);
    if (derivatives_.count(word) != 0 || find_expression_function(word) >= 0)
      fail(at, fmt::format("'{}' is a function; expected '(' after it", word));
    auto known = names_.fields;
    known.insert(known.end(), names_.axes.begin(), names_.axes.end());
    known.insert(known.end(), names_.constants.begin(), names_.constants.end());
    fail(at, fmt::format("unknown name '{}'{} (known: fields {}; axes {}; constants {})", word,
                         did_you_mean(word, known), name_list(names_.fields),
                         name_list({names_.axes.begin(), names_.axes.end()}),
                         names_.constants.empty() ? "pi, e" : name_list(names_.constants) + ", pi, e"));
  }

  std::vector<int> arguments() {
    ++at_;
    std::vector<int> values{sum()};
    while (next() == ',') {
      ++at_;
      values.push_back(sum());
    }
    close();
    return values;
  }

  int call(std::size_t at, const std::string& word) {
    const auto derivative = derivatives_.find(word);
    const int function = derivative == derivatives_.end() ? find_expression_function(word) : -1;
    if (derivative == derivatives_.end() && function < 0) fail_call(at, word);
    const auto values = arguments();
    const int n = values.size();
    if (derivative != derivatives_.end()) {
      if (n != 1) fail(at, fmt::format("{} has one argument; {} are given", word, n));
      return placed(at, [&] {
        int result = values[0];
        for (const int axis : derivative->second) result = graph_.differentiate(result, axis);
        return result;
      });
    }
    const auto& row = expression_functions()[function];
    if (n != row.n_arguments && !(row.folds && n > row.n_arguments))
      fail(at, fmt::format("{} has {}{} argument{}; {} {} given", word, row.n_arguments,
                           row.folds ? " or more" : "", row.n_arguments == 1 ? "" : "s", n,
                           n == 1 ? "is" : "are"));
    return placed(at, [&] {
      if (function == 0) return graph_.power(values[0], values[1]);
      int result = graph_.call(function, values[0], n > 1 ? values[1] : -1);
      for (std::size_t i = 2; i < values.size(); ++i) result = graph_.call(function, result, values[i]);
      return result;
    });
  }

  [[noreturn]] void fail_call(std::size_t at, const std::string& word) const {
    const auto is_value = [&](const auto& names) { return index_of(names, word) >= 0; };
    if (is_value(names_.fields) || is_value(names_.axes) || is_value(names_.constants))
      fail(at, fmt::format("'{}' is no function; expected an operator such as *", word));
    auto known = expression_function_names();
    std::vector<std::string> derivatives;
    for (const auto& [name, axes] : derivatives_) derivatives.push_back(name);
    known.insert(known.end(), derivatives.begin(), derivatives.end());
    fail(at,
         fmt::format("unknown function '{}'{} (known: derivatives {}; {})", word, did_you_mean(word, known),
                     name_list(derivatives), name_list(expression_function_names())));
  }

  const std::string& text_;
  const std::string& what_;
  const EquationNames& names_;
  Expressions& graph_;
  std::map<std::string, std::vector<int>> derivatives_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

void check_names(const EquationNames& names) {
  std::map<std::string, std::string> meanings;
  const auto add = [&](const auto& list, const std::string& kind) {
    for (const auto& name : list) {
      const auto [place, is_new] = meanings.emplace(name, kind);
      QUINTET_CHECK(is_new, "the name '{}' is that of {} and of {}; rename one", name, place->second, kind);
    }
  };
  add(names.fields, "a field");
  add(names.axes, "an axis");
  add(names.constants, "a constant");
  std::map<std::string, std::vector<int>> derivatives;
  for (auto [name, axes] : derivative_names(names)) {
    std::sort(axes.begin(), axes.end());
    const auto [place, is_new] = derivatives.emplace(name, axes);
    QUINTET_CHECK(is_new || place->second == axes,
                  "{}() may mean two derivatives with axes {}; rename an axis", name,
                  name_list({names.axes.begin(), names.axes.end()}));
  }
}

std::vector<std::string> terms_of(const std::string& equation) {
  std::vector<std::string> terms;
  std::string term;
  int depth = 0;
  bool right = false, operand = false;  // behind '='; the last non-blank character ends an operand
  const auto close = [&] {
    if (!term.empty() && term != "-") terms.push_back(std::exchange(term, ""));
  };
  const auto put_minus = [&](bool is_negative) { term.assign(is_negative ? 1 : 0, '-'); };
  const auto sign = [&](char c) {
    close();
    put_minus((c == '-') != right);
  };
  for (std::size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == '=' && depth == 0) {
      close();
      right = true, operand = false;
      put_minus(true);
      continue;
    }
    // "1e-3" is one number.
    const bool exponent = i > 1 && (equation[i - 1] == 'e' || equation[i - 1] == 'E') &&
                          (is_digit(equation[i - 2]) || equation[i - 2] == '.');
    if (depth == 0 && (c == '+' || c == '-') && !exponent && (operand || term.empty() || term == "-")) {
      if (operand)
        sign(c);
      else if (c == '-')
        put_minus(term != "-");
    } else {
      term += c;
    }
    operand = std::string_view("+-*/^").find(c) == std::string_view::npos || exponent;
  }
  close();
  return terms;
}

int parse_equation(const EquationText& equation, const EquationNames& names, Expressions& graph) {
  return Parser(equation, names, graph).equation();
}

}  // namespace quintet::flow
