#include "io/formula/formula.hpp"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "io/config/suggest.hpp"
#include "io/formula/names.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

double power(double x, double y) { return std::pow(x, y); }
double sign(double x) { return x > 0 ? 1 : (x < 0 ? -1 : x); }
double step(double x) { return x < 0 ? 0 : (x >= 0 ? 1 : x); }
double gauss(double x) { return std::exp(-0.5 * x * x); }
double least(const double* values, int n) { return *std::min_element(values, values + n); }
double greatest(const double* values, int n) { return *std::max_element(values, values + n); }

using Unary = double (*)(double);
using Binary = double (*)(double, double);

/// Ours alone: no random numbers, no sums, no "ln" beside "log".
void define_functions(mu::Parser& parser) {
  parser.ClearFun();
  const std::pair<const char*, Unary> unary[] = {
      {"sin", std::sin},   {"cos", std::cos},   {"tan", std::tan},   {"asin", std::asin},
      {"acos", std::acos}, {"atan", std::atan}, {"sinh", std::sinh}, {"cosh", std::cosh},
      {"tanh", std::tanh}, {"exp", std::exp},   {"log", std::log},   {"log10", std::log10},
      {"sqrt", std::sqrt}, {"abs", std::abs},   {"erf", std::erf},   {"floor", std::floor},
      {"sign", sign},      {"step", step},      {"gauss", gauss}};
  for (const auto& [name, function] : unary) parser.DefineFun(name, function);
  parser.DefineFun("atan2", Binary(std::atan2));
  parser.DefineFun("pow", power);
  parser.DefineFun("min", least);
  parser.DefineFun("max", greatest);
}

/// Explain a parse error in words.
std::string explain(const mu::Parser::exception_type& error, const std::string& text) {
  const std::string value = "expected a number, a name or '('",
                    more = "expected an operator such as * or the end";
  std::string token = error.GetToken();
  token.erase(token.find_last_not_of(' ') + 1);
  switch (error.GetCode()) {
    case mu::ecUNEXPECTED_OPERATOR:
      if (text.find("**") != std::string::npos) return "'*' follows an operator; powers are written x^2";
      return fmt::format("'{}' follows an operator; {}", token, value);
    case mu::ecUNEXPECTED_EOF:
      return "the formula ends too early; " + value;
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      return fmt::format("'{}' follows a value; {}", token, more);
    case mu::ecUNASSIGNABLE_TOKEN:
      return fmt::format("'{}' cannot be read here; expected numbers, names, operators and parentheses",
                         token);
    case mu::ecUNEXPECTED_PARENS:
      return fmt::format("unexpected '{}'", token);
    case mu::ecMISSING_PARENS:
      return "a ')' is missing";
    case mu::ecUNEXPECTED_ARG_SEP:
    case mu::ecUNEXPECTED_ARG:
      return "',' stands between the arguments of a function alone";
    case mu::ecTOO_MANY_PARAMS:
      return fmt::format("too many arguments of {}", token);
    case mu::ecTOO_FEW_PARAMS:
      return fmt::format("too few arguments of {}", token);
    default:
      return error.GetMsg();
  }
}

/// "what: 'text', character 5: "; position from 0, beyond the text or negative: unknown.
std::string place(const std::string& what, const std::string& text, long position) {
  if (position < 0 || text.empty()) return fmt::format("{}: '{}': ", what, text);
  return fmt::format("{}: '{}', character {}: ", what, text,
                     std::min<std::size_t>(static_cast<std::size_t>(position), text.size()) + 1);
}

std::string known_names(const std::vector<std::string>& variables,
                        const std::vector<std::string>& constants) {
  std::string known = variables.empty() ? "no variables" : "variables " + name_list(variables);
  return known + "; constants " + name_list(constants);
}

/// Throws at the first name that does not exist, or is a function without its arguments.
void check_names(const std::string& text, const std::vector<std::string>& variables,
                 const std::vector<std::string>& constants, const std::string& what) {
  auto values = variables;
  values.insert(values.end(), constants.begin(), constants.end());
  const auto& functions = detail::formula_functions();
  const auto holds = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& name : detail::used_names(text)) {
    const std::string here = place(what, text, name.position);
    if (name.called) {
      QUINTET_CHECK(!holds(values, name.text), "{}'{}' is no function; expected an operator such as *", here,
                    name.text);
      QUINTET_CHECK(holds(functions, name.text), "{}unknown function '{}'{} (known: {})", here, name.text,
                    did_you_mean(name.text, functions), name_list(functions));
    } else {
      QUINTET_CHECK(!holds(functions, name.text), "{}'{}' is a function; expected '(' after it", here,
                    name.text);
      QUINTET_CHECK(holds(values, name.text), "{}unknown name '{}'{} (known: {})", here, name.text,
                    did_you_mean(name.text, values), known_names(variables, constants));
    }
  }
}

/// A lone '=' would assign.
void check_equals(const std::string& text, const std::string& what) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    const bool pair = i + 1 < text.size() && text[i + 1] == '=';
    const bool compares =
        pair || (i > 0 && std::string_view("<>!=").find(text[i - 1]) != std::string_view::npos);
    QUINTET_CHECK(compares, "{}'=' has no meaning in a formula; write == to compare", place(what, text, i));
  }
}

}  // namespace

struct Formula::Implementation {
  std::string text, what;
  std::vector<std::string> variables;
  std::map<std::string, double> constants;
  std::vector<double> values;  ///< where the parser reads the variables
  mu::Parser parser;

  Implementation(std::string formula, std::vector<std::string> names,
                 std::map<std::string, double> named_constants, std::string key)
      : text(std::move(formula)),
        what(std::move(key)),
        variables(std::move(names)),
        constants(std::move(named_constants)),
        values(variables.size()) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    check();
    prepare();
  }

  void check() const {
    constexpr std::size_t longest = 10000;
    QUINTET_CHECK(text.find_first_not_of(' ') != std::string::npos,
                  "{}: the formula is empty; expected, say, '1'", what);
    QUINTET_CHECK(text.size() <= longest, "{}: a formula of {} characters; expected at most {}", what,
                  text.size(), longest);
    auto known = detail::formula_constants();
    for (const auto& [name, value] : constants) known.push_back(name);
    for (const auto& name : variables)
      QUINTET_CHECK(constants.count(name) == 0,
                    "{}: '{}' is a variable here and a constant too; rename the constant", what, name);
    check_names(text, variables, known, what);
    check_equals(text, what);
  }

  void prepare() {
    try {
      define_functions(parser);
      parser.ClearConst();
      parser.DefineConst("pi", std::numbers::pi);
      parser.DefineConst("e", std::numbers::e);
      for (const auto& [name, value] : constants) parser.DefineConst(name, value);
      for (std::size_t i = 0; i < variables.size(); ++i) parser.DefineVar(variables[i], &values[i]);
      parser.SetExpr(text);
      int n_results = 0;
      static_cast<void>(parser.Eval(n_results));
      QUINTET_CHECK(n_results == 1, "{}{} values, parted by ','; expected one", place(what, text, -1),
                    n_results);
    } catch (const mu::Parser::exception_type& error) {
      throw InputError(place(what, text, static_cast<int>(error.GetPos())) + explain(error, text));
    }
  }
};

Formula::Formula(std::string text, std::vector<std::string> variables,
                 std::map<std::string, double> constants, std::string what)
    : implementation_(std::make_unique<Implementation>(std::move(text), std::move(variables),
                                                       std::move(constants), std::move(what))) {}
Formula::Formula(const Formula& other)
    : Formula(other.implementation_->text, other.implementation_->variables, other.implementation_->constants,
              other.implementation_->what) {}
Formula& Formula::operator=(const Formula& other) { return *this = Formula(other); }
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;

double Formula::operator()(std::span<const double> values) const {
  auto& implementation = *implementation_;
  QUINTET_ASSERT(values.size() == implementation.values.size(), "{} values for {} variables of {}",
                 values.size(), implementation.values.size(), what());
  std::copy(values.begin(), values.end(), implementation.values.begin());
  return implementation.parser.Eval();
}

bool Formula::uses(std::string_view name) const {
  const auto names = detail::used_names(implementation_->text);
  return std::any_of(names.begin(), names.end(), [&](const auto& used) { return used.text == name; });
}
const std::string& Formula::text() const { return implementation_->text; }
const std::string& Formula::what() const { return implementation_->what; }

}  // namespace quintet
