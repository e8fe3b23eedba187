#include "tests/emulation/ptx/names.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace quintet::emulation {

void Names::open(Symbols formals) {
  scopes_.registers.push_back({});
  scopes_.symbols.push_back(std::move(formals));
}

void Names::close() {
  scopes_.registers.pop_back();
  scopes_.symbols.pop_back();
}

Names::Scopes Names::hide() { return std::exchange(scopes_, {}); }

int Names::constant(std::uint64_t value) {
  const auto [found, fresh] = constants_.try_emplace(value, n_registers_);
  if (fresh) ++n_registers_;
  return found->second;
}

void Names::declare(const std::string &s) {
  if (s.rfind(".reg", 0) == 0) {
    const auto a = s.find_first_of(" \t");
    const std::string rest = trim(s.substr(a));
    const auto b = rest.find_first_of(" \t");
    const bool is_predicate = rest.substr(0, b) == ".pred";
    const auto fresh = [&] {
      return Register{is_predicate ? kernel_.n_predicates++ : n_registers_++, is_predicate};
    };
    for (const std::string &n : split(rest.substr(b), ',')) {
      const auto angle = n.find('<');
      if (angle == std::string::npos) {
        scopes_.registers.back()[n] = fresh();
      } else {
        const int count = std::atoi(n.c_str() + angle + 1);
        for (int k = 0; k < count; ++k)
          scopes_.registers.back()[n.substr(0, angle) + std::to_string(k)] = fresh();
      }
    }
    return;
  }
  if (s.rfind(".pragma", 0) == 0 || s.rfind(".loc ", 0) == 0 || s.rfind(".loc\t", 0) == 0 ||
      s.rfind(".file", 0) == 0)
    return;
  const Declaration d = declaration(s);
  if (s.rfind(".local", 0) == 0 || s.rfind(".param", 0) == 0) {
    kernel_.local_bytes = up(kernel_.local_bytes, std::max<std::size_t>(d.align, 8));
    scopes_.symbols.back()[d.name] = {Where::lane, kernel_.local_bytes, d.bytes};
    kernel_.local_bytes = up(kernel_.local_bytes + std::max<std::size_t>(d.bytes, 8), 16);
  } else if (s.rfind(".shared", 0) == 0) {
    scopes_.symbols.front()[d.name] = shared(d);
  } else {
    unknown(s);
  }
}

Symbol Names::shared(const Declaration &d) {
  if (d.open) return {Where::dynamic_shared, 0, 0};
  kernel_.static_shared = up(kernel_.static_shared, std::max<std::size_t>(d.align, 16));
  const Symbol out{Where::shared, kernel_.static_shared, d.bytes};
  kernel_.static_shared += d.bytes;
  return out;
}

Symbol Names::symbol(const std::string &name) {
  for (auto scope = scopes_.symbols.rbegin(); scope != scopes_.symbols.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return found->second;
  if (const auto found = module_shared_.find(name); found != module_shared_.end()) return found->second;
  if (const auto found = text_.shared.find(name); found != text_.shared.end())
    return module_shared_[name] = shared(found->second);
  if (const auto found = text_.variables.find(name); found != text_.variables.end())
    return {Where::address, found->second.address, found->second.bytes};
  unknown("symbol " + name);
}

int Names::predicate(const std::string &name) const {
  for (auto scope = scopes_.registers.rbegin(); scope != scopes_.registers.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end() && found->second.is_predicate)
      return found->second.id;
  unknown("predicate " + name);
}

Operand Names::operand(const std::string &text) {
  Operand o;
  o.text = text;
  if (text.empty()) unknown("an empty operand");
  if (text[0] == '{') {
    o.what = Operand::list;
    for (const auto &t : split(text.substr(1, text.size() - 2), ',')) o.items.push_back(operand(t));
    return o;
  }
  if (text[0] == '[') {
    std::string inside = trim(text.substr(1, text.size() - 2));
    const auto plus = inside.find('+');
    if (plus != std::string::npos) {
      o.offset = number(trim(inside.substr(plus + 1)));
      inside = trim(inside.substr(0, plus));
    }
    const Operand base = operand(inside);
    o.what = Operand::memory;
    o.id = base.id;
    o.space = base.space;
    return o;
  }
  if (text[0] == '!') {
    o = operand(text.substr(1));
    o.negated = !o.negated;
    return o;
  }
  if (text == "_") {
    o.what = Operand::reg;
    o.id = n_registers_++;
    return o;
  }
  if (text[0] == '%') {
    static const std::map<std::string, int> special{
        {"%tid.x", tid_x},         {"%tid.y", tid_y},           {"%tid.z", tid_z},
        {"%ntid.x", ntid_x},       {"%ntid.y", ntid_y},         {"%ntid.z", ntid_z},
        {"%ctaid.x", ctaid_x},     {"%ctaid.y", ctaid_y},       {"%ctaid.z", ctaid_z},
        {"%nctaid.x", nctaid_x},   {"%nctaid.y", nctaid_y},     {"%nctaid.z", nctaid_z},
        {"%laneid", laneid},       {"%warpid", warpid},         {"%clock", clock_now},
        {"%clock64", clock_now},   {"%globaltimer", clock_now}, {"%lanemask_lt", mask_lt},
        {"%lanemask_le", mask_le}, {"%lanemask_eq", mask_eq},   {"%lanemask_gt", mask_gt},
        {"%lanemask_ge", mask_ge}};
    o.what = Operand::reg;
    if (const auto found = special.find(text); found != special.end()) {
      o.id = found->second;
      return o;
    }
    for (auto scope = scopes_.registers.rbegin(); scope != scopes_.registers.rend(); ++scope)
      if (const auto found = scope->find(text); found != scope->end()) {
        o.id = found->second.id;
        o.what = found->second.is_predicate ? Operand::pred : Operand::reg;
        return o;
      }
    if (text.find('|') != std::string::npos) return o;  // two results: taken apart by who knows of them
    unknown("register " + text);
  }
  if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-') {
    o.what = Operand::reg;
    o.id = constant(number(text));
    return o;
  }
  // a register declared without %, or a symbol
  for (auto scope = scopes_.registers.rbegin(); scope != scopes_.registers.rend(); ++scope)
    if (const auto found = scope->find(text); found != scope->end()) {
      o.what = found->second.is_predicate ? Operand::pred : Operand::reg;
      o.id = found->second.id;
      return o;
    }
  const Symbol y = symbol(text);
  o.what = Operand::reg;
  switch (y.where) {
    case Where::parameter:
      o.space = Space::param;
      o.id = constant(y.offset);
      break;
    case Where::lane:
      o.space = Space::local;
      o.id = constant(y.offset);
      break;
    case Where::shared:
      o.space = Space::shared;
      o.id = constant(y.offset);
      break;
    case Where::dynamic_shared:
      o.space = Space::shared;
      o.id = dynamic_shared;
      break;
    case Where::address:
      o.space = Space::global;
      o.id = constant(y.offset);
      break;
  }
  return o;
}

}  // namespace quintet::emulation
