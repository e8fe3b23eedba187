#include "surrogates/flow/equations/expression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/log/error.hpp"
#include "surrogates/flow/equations/expression_functions.hpp"

namespace quintet::flow {

int Expressions::make(const Expression& expression) {
  if (const auto found = places_.find(expression); found != places_.end()) return found->second;
  QUINTET_CHECK(nodes_.size() < most, "the equations expand to more than {} operations", most);
  const auto depth_of = [&](int i) { return i < 0 ? 0 : depths_[i]; };
  const int depth = 1 + std::max(depth_of(expression.x), depth_of(expression.y));
  QUINTET_CHECK(depth <= deepest, "the equations expand to operations nested deeper than {} levels", deepest);
  const auto is_uniform_operand = [&](int i) { return i < 0 || uniform_[i]; };
  const bool leaf_varies =
      expression.kind == ExpressionKind::coordinate || expression.kind == ExpressionKind::jet;
  const int place = size();
  nodes_.push_back(expression);
  uniform_.push_back(!leaf_varies && is_uniform_operand(expression.x) && is_uniform_operand(expression.y));
  const auto has_field = [&](int i) { return i >= 0 && fields_[i]; };
  fields_.push_back(expression.kind == ExpressionKind::jet || has_field(expression.x) ||
                    has_field(expression.y));
  depths_.push_back(depth);
  places_.emplace(expression, place);
  return place;
}

bool Expressions::is_number(int i, double value) const {
  return (*this)[i].kind == ExpressionKind::number && (*this)[i].value == value;
}

int Expressions::number(double value) {
  // Of equal numbers one is kept, and NaN, which compares with nothing, would be taken for another.
  QUINTET_CHECK(!std::isnan(value), "this has no value, as sqrt(-1) and log(-1) have none");
  Expression made;
  made.value = value == 0 ? 0 : value;  // -0 is 0
  return make(made);
}

int Expressions::constant(int index) {
  Expression made;
  made.kind = ExpressionKind::constant;
  made.index = index;
  return make(made);
}

int Expressions::coordinate(int axis) {
  Expression made;
  made.kind = ExpressionKind::coordinate;
  made.index = axis;
  return make(made);
}

int Expressions::jet(int field, const Orders& orders) {
  Expression made;
  made.kind = ExpressionKind::jet;
  made.index = field;
  made.orders = orders;
  return make(made);
}

int Expressions::add(int x, int y) {
  if (is_number(x, 0)) return y;
  if (is_number(y, 0)) return x;
  const Expression a = (*this)[x], b = (*this)[y];
  if (a.kind == ExpressionKind::number && b.kind == ExpressionKind::number) return number(a.value + b.value);
  Expression made;
  made.kind = ExpressionKind::add;
  made.x = x;
  made.y = y;
  return make(made);
}

int Expressions::multiply(int x, int y) {
  if (is_number(x, 0) || is_number(y, 1)) return x;
  if (is_number(y, 0) || is_number(x, 1)) return y;
  const Expression a = (*this)[x], b = (*this)[y];
  if (a.kind == ExpressionKind::number && b.kind == ExpressionKind::number) return number(a.value * b.value);
  Expression made;
  made.kind = ExpressionKind::multiply;
  made.x = x;
  made.y = y;
  return make(made);
}

int Expressions::divide(int x, int y) {
  if (is_number(x, 0) || is_number(y, 1)) return x;
  const Expression a = (*this)[x], b = (*this)[y];
  if (a.kind == ExpressionKind::number && b.kind == ExpressionKind::number) return number(a.value / b.value);
  Expression made;
  made.kind = ExpressionKind::divide;
  made.x = x;
  made.y = y;
  return make(made);
}

int Expressions::power(int x, int y) {
  if (is_number(y, 0)) return number(1);
  if (is_number(y, 1)) return x;
  if (is_number(y, 2)) return multiply(x, x);
  if (is_number(y, 3)) return multiply(multiply(x, x), x);
  return call(0, x, y);
}

int Expressions::call(int function, int x, int y) {
  const auto& row = expression_functions()[function];
  const bool numbers =
      (*this)[x].kind == ExpressionKind::number && (y < 0 || (*this)[y].kind == ExpressionKind::number);
  if (numbers) return number(row.value((*this)[x].value, y < 0 ? 0 : (*this)[y].value));
  Expression made;
  made.kind = ExpressionKind::call;
  made.index = function;
  made.x = x;
  made.y = y;
  return make(made);
}

int Expressions::call(const std::string& function, int x) {
  return call(find_expression_function(function), x);
}

int Expressions::differentiate(int x, int axis) {
  if (is_uniform(x)) return number(0);
  const auto key = std::tuple(x, axis);
  if (const auto found = derivatives_.find(key); found != derivatives_.end()) return found->second;
  const int derivative = derivative_of(x, axis);
  derivatives_.emplace(key, derivative);
  return derivative;
}

int Expressions::derivative_of(int i, int axis) {
  const Expression node = (*this)[i];  // a copy: the graph grows below
  switch (node.kind) {
    case ExpressionKind::number:
    case ExpressionKind::constant:
      return number(0);
    case ExpressionKind::coordinate:
      return number(node.index == axis ? 1 : 0);
    case ExpressionKind::jet: {
      Orders orders = node.orders;
      ++orders[axis];
      QUINTET_CHECK(std::accumulate(orders.begin(), orders.end(), 0) <= 2,
                    "a third derivative; expected first and second ones");
      return jet(node.index, orders);
    }
    case ExpressionKind::add: {
      const int dx = differentiate(node.x, axis);
      return add(dx, differentiate(node.y, axis));
    }
    case ExpressionKind::multiply: {
      const int dx = differentiate(node.x, axis), dy = differentiate(node.y, axis);
      const int first = multiply(dx, node.y);
      return add(first, multiply(node.x, dy));
    }
    case ExpressionKind::divide: {
      const int dx = differentiate(node.x, axis), dy = differentiate(node.y, axis);
      const int rise = divide(dx, node.y);
      return subtract(rise, divide(multiply(i, dy), node.y));
    }
    case ExpressionKind::call: {
      const auto& row = expression_functions()[node.index];
      const auto part = [&](int argument, auto derivative) {
        if (argument < 0 || is_uniform(argument)) return number(0);
        QUINTET_CHECK(derivative != nullptr, "{} has no derivative everywhere", row.name);
        const int inner = differentiate(argument, axis);
        return multiply(derivative(*this, node.x, node.y), inner);
      };
      const int first = part(node.x, row.derivative_x);
      return add(first, part(node.y, row.derivative_y));
    }
  }
  throw InternalError(fmt::format("expression of kind {}", static_cast<int>(node.kind)));
}

}  // namespace quintet::flow
