#include "tests/emulation/ptx/decoder.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

namespace quintet::emulation {

namespace {

enum class Where { parameter, lane, shared, dynamic_shared, address };
struct Symbol {
  Where where = Where::address;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

struct Operand {
  enum What { reg, pred, memory, list, none } what = none;
  int id = -1;  // slot or predicate
  bool negated = false;
  std::int64_t offset = 0;
  std::optional<Space> space;  // known by a symbol
  std::vector<Operand> items;
  std::string text;
};

/// Decodes one kernel, functions it calls in place.
class Decoder {
 public:
  explicit Decoder(const ModuleText &text) : text_(text) {}

  std::unique_ptr<Kernel> decode(const FunctionText &f) {
    kernel_ = std::make_unique<Kernel>();
    kernel_->name = f.name;
    n_registers_ = n_special;
    kernel_->n_predicates = 2;  // never, always
    std::map<std::string, Symbol> formals;
    for (const Declaration &p : f.parameters) {
      kernel_->parameter_bytes = up(kernel_->parameter_bytes, p.align);
      kernel_->parameters.emplace_back(kernel_->parameter_bytes, p.bytes);
      formals[p.name] = {Where::parameter, kernel_->parameter_bytes, p.bytes};
      kernel_->parameter_bytes += p.bytes;
    }
    directives(f.directives);
    body(f, formals, -1);
    Instruction end;
    end.kind = Kind::exit;
    add(end, "exit");
    for (auto &[at, name] : branches_) {
      const auto found = labels_.find(name);
      if (found == labels_.end()) unknown("label " + name);
      kernel_->code[at].target = found->second;
    }
    assign_slots(*kernel_, n_registers_, constants_);
    return std::move(kernel_);
  }

 private:
  void directives(const std::string &text) {
    std::size_t at = 0;
    while ((at = text.find('.', at)) != std::string::npos) {
      const std::string rest = text.substr(at);
      int a = 0, b = 1, c = 1;
      if (std::sscanf(rest.c_str(), ".maxntid %d, %d, %d", &a, &b, &c) >= 1) kernel_->max_threads = {a, b, c};
      if (std::sscanf(rest.c_str(), ".minnctapersm %d", &a) == 1) kernel_->min_blocks = a;
      ++at;
    }
  }

  void add(Instruction i, const std::string &text) {
    i.line = line_;
    kernel_->code.push_back(i);
    kernel_->text.push_back(text);
  }

  int constant(std::uint64_t value) {
    const auto [found, fresh] = constants_.try_emplace(value, n_registers_);
    if (fresh) ++n_registers_;
    return found->second;
  }

  // --- a body
  // -------------------------------------------------------------------------------------------
  void body(const FunctionText &f, const std::map<std::string, Symbol> &formals, int inlined) {
    const std::string prefix = inlined < 0 ? "" : std::to_string(inlined) + "#";
    scopes_.push_back({});
    symbols_.push_back(formals);
    const std::size_t first_scope = scopes_.size() - 1;
    const std::string &s = f.body;
    std::size_t at = 0;
    int line = f.line;
    std::string statement;
    auto skip = [&] {
      while (at < s.size() && std::isspace(static_cast<unsigned char>(s[at]))) {
        if (s[at] == '\n') ++line;
        ++at;
      }
    };
    for (skip(); at < s.size(); skip()) {
      line_ = line;
      if (s[at] == '{') {
        scopes_.push_back({});
        symbols_.push_back({});
        ++at;
        continue;
      }
      if (s[at] == '}') {
        scopes_.pop_back();
        symbols_.pop_back();
        ++at;
        continue;
      }
      // a label?
      std::size_t e = at;
      while (e < s.size() && word_char(s[e])) ++e;
      if (e > at && e < s.size() && s[e] == ':' && s[at] != '.') {
        if (!labels_.emplace(prefix + s.substr(at, e - at), static_cast<int>(kernel_->code.size())).second)
          unknown("a label that is there twice: " + s.substr(at, e - at));
        at = e + 1;
        continue;
      }
      const std::size_t end = s.find(';', at);
      if (end == std::string::npos) unknown(s.substr(at, 60));
      statement = s.substr(at, end - at);
      for (char &c : statement)
        if (c == '\n') {
          ++line;
          c = ' ';
        }
      at = end + 1;
      this->statement(trim(statement), prefix, inlined);
    }
    scopes_.resize(first_scope);
    symbols_.resize(first_scope);
    if (inlined >= 0) labels_[prefix + "return"] = static_cast<int>(kernel_->code.size());
  }

  void statement(const std::string &s, const std::string &prefix, int inlined) {
    if (s.empty()) return;
    if (s[0] == '.') return declare(s);
    Instruction i;
    std::string rest = s;
    if (rest[0] == '@') {
      const auto space = rest.find_first_of(" \t");
      std::string p = rest.substr(1, space - 1);
      if (p[0] == '!') {
        i.guard_not = true;
        p = p.substr(1);
      }
      i.guard = predicate(p);
      rest = trim(rest.substr(space));
    }
    const auto space = rest.find_first_of(" \t{");
    std::string name = rest.substr(0, space);
    const std::vector<std::string> texts =
        space == std::string::npos ? std::vector<std::string>{} : split(trim(rest.substr(space)), ',');
    if (name.back() == '.') name.pop_back();
    std::vector<std::string> parts;
    for (std::size_t b = 0; b <= name.size();) {
      const auto e = std::min(name.find('.', b), name.size());
      parts.push_back(name.substr(b, e - b));
      b = e + 1;
    }
    const std::string &op = parts[0];
    auto has = [&](const char *part) {
      for (const auto &p : parts)
        if (p == part) return true;
      return false;
    };

    if (op == "bra") {
      i.kind = Kind::branch;
      i.cost = Cost::branch;
      branches_.emplace_back(static_cast<int>(kernel_->code.size()), prefix + texts.at(0));
      return add(i, s);
    }
    if (op == "ret" || op == "exit") {
      if (op == "ret" && inlined >= 0) {
        i.kind = Kind::branch;
        i.cost = Cost::branch;
        branches_.emplace_back(static_cast<int>(kernel_->code.size()), prefix + "return");
      } else {
        i.kind = Kind::exit;
      }
      return add(i, s);
    }
    if (op == "trap" || op == "brkpt") {
      i.kind = Kind::trap;
      return add(i, s);
    }
    if (op == "call") return call(i, texts, s);
    if (op == "membar" || op == "fence" || op == "prefetch" || op == "prefetchu" || op == "nanosleep" ||
        op == "discard" || op == "applypriority")
      return;
    if (op == "cp" && (has("commit_group") || has("wait_group") || has("wait_all"))) {
      i.offset = has("wait_all") ? -1 : texts.empty() ? 0 : static_cast<std::int64_t>(number(texts[0]));
      i.run = memory_access(parts, i);
      if (!i.run) unknown(s);
      return add(i, s);
    }

    std::vector<Operand> operands;
    for (const auto &t : texts) operands.push_back(operand(t));
    auto source = [&](const Operand &o) {
      if (o.what != Operand::reg || o.id < 0) unknown(s);
      i.r.at(static_cast<std::size_t>(i.n_dst + i.n_src)) = o.id;
      ++i.n_src;
    };
    auto destination = [&](const Operand &o) {
      if (o.what != Operand::reg || o.id < 0) unknown(s);
      i.r.at(i.n_dst++) = o.id;
    };

    auto predicate_of = [&](const Operand &o) {
      if (o.what != Operand::pred) unknown(s);
      return o.id;
    };

    if (op == "bar" || op == "barrier") {
      if (has("arrive")) unknown(s);
      if (parts.size() > 1 && parts[1] == "warp") {
        i.kind = Kind::warp_sync;
        source(operands.at(0));
        return add(i, s);
      }
      i.kind = Kind::barrier;
      i.cost = Cost::barrier;
      std::size_t first = 0;
      if (has("red")) {
        i.mode = has("and") ? 1 : has("or") ? 2 : 3;
        if (has("popc"))
          destination(operands.at(0));
        else
          i.p_dst = predicate_of(operands.at(0));
        first = 1;
        i.p_src = predicate_of(operands.back());
        i.p_not = operands.back().negated;
        operands.pop_back();
      }
      source(operands.at(first));
      if (operands.size() > first + 1) source(operands[first + 1]);
      return add(i, s);
    }
    if (op == "vote" || op == "activemask" || op == "match" || op == "elect" || op == "redux") {
      if (op == "activemask") {
        i.mode = 9;
        destination(operands.at(0));
        i.kind = Kind::vote;
        return add(i, s);
      }
      if (op != "vote") unknown(s);
      i.kind = Kind::vote;
      i.mode = has("all") ? 1 : has("any") ? 2 : has("uni") ? 3 : 4;
      if (i.mode == 4)
        destination(operands.at(0));
      else
        i.p_dst = predicate_of(operands.at(0));
      i.p_src = predicate_of(operands.at(1));
      i.p_not = operands.at(1).negated;
      source(operands.at(2));
      return add(i, s);
    }
    if (op == "shfl") {
      i.kind = Kind::shuffle;
      i.cost = Cost::shuffle;
      i.mode = has("up") ? 1 : has("down") ? 2 : has("bfly") ? 3 : 4;
      const auto both = texts.at(0).find('|');
      if (both != std::string::npos) {
        destination(operand(trim(texts[0].substr(0, both))));
        const std::string p = trim(texts[0].substr(both + 1));
        if (p != "_") i.p_dst = predicate(p);
      } else {
        destination(operands[0]);
      }
      for (std::size_t k = 1; k < operands.size(); ++k) source(operands[k]);
      return add(i, s);
    }
    const std::set<std::string> access{"ld", "st", "atom", "red", "cp", "ldu"};
    if (access.count(op)) {
      memory(i, parts, operands, s);
      return add(i, s);
    }
    if (op == "mma") {
      for (const Operand &o : operands.at(0).items) destination(o);
      for (std::size_t k = 1; k < operands.size(); ++k)
        for (const Operand &o : operands[k].items) source(o);
      i.run = arithmetic(parts, i);
      if (!i.run) unknown(s);
      return add(i, s);
    }
    if (op == "cvta") {
      destination(operands.at(0));
      source(operands.at(1));
      i.mode = has("to") ? 1 : 0;
      i.space = has("shared") ? Space::shared : has("local") ? Space::local : Space::global;
      i.run = arithmetic(parts, i);
      return add(i, s);
    }
    // predicates alone
    if (has("pred") && op != "setp") {
      i.p_dst = predicate_of(operands.at(0));
      i.p_src =
          operands.at(1).what == Operand::reg ? (number(texts[1]) != 0 ? 1 : 0) : predicate_of(operands[1]);
      i.p_not = operands.at(1).negated;
      if (operands.size() > 2) {
        i.p_dst2 = predicate_of(operands[2]);
        if (operands[2].negated) unknown(s);
      }
      i.run = arithmetic(parts, i);
      if (!i.run) unknown(s);
      return add(i, s);
    }
    if (op == "setp") {
      const auto both = texts.at(0).find('|');
      if (both != std::string::npos) {
        i.p_dst = predicate(trim(texts[0].substr(0, both)));
        i.p_dst2 = predicate(trim(texts[0].substr(both + 1)));
      } else {
        i.p_dst = predicate_of(operands[0]);
      }
      source(operands.at(1));
      source(operands.at(2));
      if (operands.size() > 3) {
        i.p_src = predicate_of(operands[3]);
        i.p_not = operands[3].negated;
      }
      i.run = arithmetic(parts, i);
      if (!i.run) unknown(s);
      return add(i, s);
    }
    // the rest: destinations, sources
    if (operands.at(0).what == Operand::list) {
      for (const Operand &o : operands[0].items) destination(o);
    } else if (operands[0].what == Operand::pred) {
      i.p_dst = predicate_of(operands[0]);
    } else {
      destination(operands[0]);
    }
    for (std::size_t k = 1; k < operands.size(); ++k) {
      if (operands[k].what == Operand::list) {
        for (const Operand &o : operands[k].items) source(o);
      } else if (operands[k].what == Operand::pred) {
        i.p_src = operands[k].id;
        i.p_not = operands[k].negated;
      } else {
        source(operands[k]);
      }
    }
    i.run = arithmetic(parts, i);
    if (!i.run) unknown(s);
    add(i, s);
  }

  void call(Instruction i, const std::vector<std::string> &texts, const std::string &s) {
    std::vector<std::string> results, actuals;
    std::string name;
    for (const auto &t : texts) {
      if (!t.empty() && t[0] == '(') {
        auto &to = name.empty() ? results : actuals;
        for (const auto &x : split(t.substr(1, t.size() - 2), ',')) to.push_back(x);
      } else if (name.empty()) {
        name = t;
      }
    }
    if (name == "__assertfail" || name == "__assert_fail") {
      i.kind = Kind::trap;
      return add(i, s);
    }
    const auto found = text_.functions.find(name);
    if (found == text_.functions.end() || found->second.body.empty()) {
      if (name == "vprintf" || name == "free" || name == "malloc") {
        i.kind = Kind::trap;
        return add(i, s);
      }
      unknown(s);
    }
    if (i.guard >= 0) unknown("a guarded call: " + s);
    std::map<std::string, Symbol> formals;
    const FunctionText &f = found->second;
    for (std::size_t k = 0; k < f.results.size(); ++k) formals[f.results[k].name] = symbol(results.at(k));
    for (std::size_t k = 0; k < f.parameters.size(); ++k)
      formals[f.parameters[k].name] = symbol(actuals.at(k));
    // Names of the caller are not seen within.
    auto scopes = std::move(scopes_);
    auto symbols = std::move(symbols_);
    scopes_.clear();
    symbols_.clear();
    const int line = line_;
    ++n_open_;
    body(f, formals, n_inlined_++);
    --n_open_;
    line_ = line;
    scopes_ = std::move(scopes);
    symbols_ = std::move(symbols);
  }

  void declare(const std::string &s) {
    if (s.rfind(".reg", 0) == 0) {
      const auto a = s.find_first_of(" \t");
      const std::string rest = trim(s.substr(a));
      const auto b = rest.find_first_of(" \t");
      const bool is_predicate = rest.substr(0, b) == ".pred";
      const auto fresh = [&] {
        return Register{is_predicate ? kernel_->n_predicates++ : n_registers_++, is_predicate};
      };
      for (const std::string &n : split(rest.substr(b), ',')) {
        const auto angle = n.find('<');
        if (angle == std::string::npos) {
          scopes_.back()[n] = fresh();
        } else {
          const int count = std::atoi(n.c_str() + angle + 1);
          for (int k = 0; k < count; ++k) scopes_.back()[n.substr(0, angle) + std::to_string(k)] = fresh();
        }
      }
      return;
    }
    if (s.rfind(".pragma", 0) == 0 || s.rfind(".loc ", 0) == 0 || s.rfind(".loc\t", 0) == 0 ||
        s.rfind(".file", 0) == 0)
      return;
    const Declaration d = declaration(s);
    if (s.rfind(".local", 0) == 0 || s.rfind(".param", 0) == 0) {
      kernel_->local_bytes = up(kernel_->local_bytes, std::max<std::size_t>(d.align, 8));
      symbols_.back()[d.name] = {Where::lane, kernel_->local_bytes, d.bytes};
      kernel_->local_bytes = up(kernel_->local_bytes + std::max<std::size_t>(d.bytes, 8), 16);
    } else if (s.rfind(".shared", 0) == 0) {
      symbols_.front()[d.name] = shared(d);
    } else {
      unknown(s);
    }
  }

  Symbol shared(const Declaration &d) {
    if (d.open) return {Where::dynamic_shared, 0, 0};
    kernel_->static_shared = up(kernel_->static_shared, std::max<std::size_t>(d.align, 16));
    const Symbol out{Where::shared, kernel_->static_shared, d.bytes};
    kernel_->static_shared += d.bytes;
    return out;
  }

  Symbol symbol(const std::string &name) {
    for (auto scope = symbols_.rbegin(); scope != symbols_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    if (const auto found = module_shared_.find(name); found != module_shared_.end()) return found->second;
    if (const auto found = text_.shared.find(name); found != text_.shared.end())
      return module_shared_[name] = shared(found->second);
    if (const auto found = text_.variables.find(name); found != text_.variables.end())
      return {Where::address, found->second.address, found->second.bytes};
    unknown("symbol " + name);
  }

  int predicate(const std::string &name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end() && found->second.is_predicate)
        return found->second.id;
    unknown("predicate " + name);
  }

  Operand operand(const std::string &text) {
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
      for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
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
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
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

  void memory(Instruction &i, const std::vector<std::string> &parts, const std::vector<Operand> &operands,
              const std::string &s) {
    const std::string &op = parts[0];
    auto has = [&](const char *part) {
      for (const auto &p : parts)
        if (p == part) return true;
      return false;
    };
    i.space = has("global")   ? Space::global
              : has("shared") ? Space::shared
              : has("local")  ? Space::local
              : has("param")  ? Space::param
              : has("const")  ? Space::constant
                              : Space::generic;
    i.width = has("v2") ? 2 : has("v4") ? 4 : 1;
    auto put = [&](const Operand &o, bool dst) {
      if (o.what == Operand::list) {
        for (const Operand &x : o.items) {
          i.r.at(static_cast<std::size_t>(i.n_dst + i.n_src)) = x.id;
          ++(dst ? i.n_dst : i.n_src);
        }
      } else {
        if (o.what != Operand::reg && o.what != Operand::memory) unknown(s);
        i.r.at(static_cast<std::size_t>(i.n_dst + i.n_src)) = o.id;
        ++(dst ? i.n_dst : i.n_src);
      }
    };
    const Operand *address = nullptr;
    if (op == "cp") {
      // cp.async: to shared memory, at once, as if it were waited for
      put(operands.at(0), false);
      put(operands.at(1), false);
      i.offset = operands[0].offset;
      if (operands[1].offset != 0) unknown(s);
      put(operands.at(2), false);
      if (operands.size() > 3) put(operands[3], false);
    } else if (op == "st" || op == "red") {
      address = &operands.at(0);
      put(operands[0], false);
      put(operands.at(1), false);
    } else {
      put(operands.at(0), true);
      address = &operands.at(1);
      put(operands[1], false);
      for (std::size_t k = 2; k < operands.size(); ++k) put(operands[k], false);
    }
    if (address) {
      i.offset = address->offset;
      // Of a function's parameters only names are known, not addresses.
      if (i.space == Space::param && !address->space && n_open_ > 0) unknown(s);
      if (i.space == Space::param && address->space && *address->space == Space::local)
        i.space = Space::local;
      if (i.space == Space::generic && address->space) i.space = *address->space;
      if (i.space == Space::constant) i.space = Space::global;
    }
    const bool is_list = op == "ld" || op == "st" || op == "ldu";
    if (is_list && i.n_dst + i.n_src - 1 != i.width) unknown(s);
    i.run = memory_access(parts, i);
    if (!i.run) unknown(s);
  }

  const ModuleText &text_;
  std::unique_ptr<Kernel> kernel_;
  int n_registers_ = 0, line_ = 0, n_inlined_ = 0, n_open_ = 0;
  std::map<std::uint64_t, int> constants_;
  struct Register {
    int id = -1;
    bool is_predicate = false;
  };
  std::vector<std::map<std::string, Register>> scopes_;
  std::vector<std::map<std::string, Symbol>> symbols_;
  std::map<std::string, Symbol> module_shared_;
  std::map<std::string, int> labels_;
  std::vector<std::pair<int, std::string>> branches_;
};

}  // namespace

std::unique_ptr<Kernel> decode(const ModuleText &text, const FunctionText &function) {
  return Decoder(text).decode(function);
}

}  // namespace quintet::emulation
