#include "surrogates/flow/equations/residual_program.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

#include "io/log/error.hpp"

namespace quintet::flow {

namespace {

/// Place of a derivative in a SymbolicOperator.
int derivative_place(const Orders& orders) {
  std::vector<int> axes;
  for (int axis = 0; axis < n_axes; ++axis) axes.insert(axes.end(), orders[axis], axis);
  if (axes.size() == 1) return axes[0];
  for (int pair = 0; pair < n_second; ++pair)
    if (second_axes[pair] == std::array{axes[0], axes[1]}) return n_axes + pair;
  throw InternalError("a derivative of an order that expressions do not have");
}

/// A linear form with its parts still apart: coefficients by what they multiply.
struct Collected {
  int constant = -1;
  std::map<std::pair<int, Orders>, int> jets;
  std::map<int, int> products;  ///< of expressions that are not linear
};

class Translator {
 public:
  explicit Translator(Expressions& graph) : graph_(graph) {}

  ResidualProgram program(const std::vector<int>& residuals) {
    for (const int residual : residuals) program_.results.push_back(value(residual));
    return std::move(program_);
  }

 private:
  /// The register that holds an expression.
  int value(int node) {
    if (const auto found = registers_.find(node); found != registers_.end()) return found->second;
    const int made = is_product(node) ? product(node) : linear(node);
    registers_[node] = made;
    return made;
  }

  /// Whether a node is neither a sum, a multiple nor a jet, and so has a register of its own.
  [[nodiscard]] bool is_product(int node) const {
    if (graph_.is_uniform(node)) return false;
    const Expression& e = graph_[node];
    switch (e.kind) {
      case ExpressionKind::coordinate:
      case ExpressionKind::call:
        return true;
      case ExpressionKind::multiply:
        return !graph_.is_uniform(e.x) && !graph_.is_uniform(e.y);
      case ExpressionKind::divide:
        return !graph_.is_uniform(e.y);
      case ExpressionKind::number:
      case ExpressionKind::constant:
      case ExpressionKind::jet:
      case ExpressionKind::add:
        return false;
    }
    throw InternalError("an expression of no kind");
  }

  int product(int node) {
    const Expression e = graph_[node];
    Instruction made{e.kind, e.index, -1, -1};
    if (e.x >= 0) made.x = value(e.x);
    if (e.y >= 0) made.y = value(e.y);
    program_.uses_coordinates = program_.uses_coordinates || e.kind == ExpressionKind::coordinate;
    return emit(made);
  }

  int linear(int node) {
    Collected parts;
    collect(node, graph_.number(1), parts);
    LinearForm form;
    form.constant = parts.constant;
    std::map<int, SymbolicOperator> operators;  // by field
    for (const auto& [jet, coefficient] : parts.jets) {
      const auto& [field, orders] = jet;
      if (orders == Orders{}) {
        form.values.push_back({field, coefficient});
        continue;
      }
      const auto [place, is_new] = operators.try_emplace(field);
      if (is_new) place->second.fill(-1);
      place->second[derivative_place(orders)] = coefficient;
    }
    for (const auto& [field, operation] : operators) form.derivatives.push_back({field, wanted(operation)});
    for (const auto& [source, coefficient] : parts.products)
      form.terms.push_back({value(source), coefficient});
    program_.forms.push_back(std::move(form));
    return emit({ExpressionKind::add, static_cast<int>(program_.forms.size()) - 1, -1, -1});
  }

  /// parts += factor * node, the factor a number of a sample.
  void collect(int node, int factor, Collected& parts) {
    QUINTET_CHECK(++visits_ < Expressions::most, "the equations expand to more than {} terms",
                  Expressions::most);
    const Expression e = graph_[node];
    const auto add_to = [&](int& sum, int term) { sum = sum < 0 ? term : graph_.add(sum, term); };
    if (graph_.is_uniform(node)) return add_to(parts.constant, graph_.multiply(factor, node));
    if (is_product(node)) return add_to(parts.products.try_emplace(node, -1).first->second, factor);
    switch (e.kind) {
      case ExpressionKind::jet:
        return add_to(parts.jets.try_emplace({e.index, e.orders}, -1).first->second, factor);
      case ExpressionKind::add:
        collect(e.x, factor, parts);
        return collect(e.y, factor, parts);
      case ExpressionKind::multiply:
        if (graph_.is_uniform(e.x)) return collect(e.y, graph_.multiply(factor, e.x), parts);
        return collect(e.x, graph_.multiply(factor, e.y), parts);
      case ExpressionKind::divide:
        return collect(e.x, graph_.divide(factor, e.y), parts);
      case ExpressionKind::number:
      case ExpressionKind::constant:
      case ExpressionKind::coordinate:
      case ExpressionKind::call:
        break;
    }
    throw InternalError("a sum of what is no term");
  }

  int wanted(const SymbolicOperator& operation) {
    auto& all = program_.wanted;
    const auto found = std::find(all.begin(), all.end(), operation);
    if (found != all.end()) return found - all.begin();
    all.push_back(operation);
    return std::ssize(all) - 1;
  }

  int emit(const Instruction& instruction) {
    program_.instructions.push_back(instruction);
    return std::ssize(program_.instructions) - 1;
  }

  Expressions& graph_;
  ResidualProgram program_;
  std::map<int, int> registers_;
  std::size_t visits_ = 0;
};

}  // namespace

ResidualProgram make_program(Expressions& graph, const std::vector<int>& residuals) {
  return Translator(graph).program(residuals);
}

}  // namespace quintet::flow
