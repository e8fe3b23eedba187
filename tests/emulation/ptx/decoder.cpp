#include "tests/emulation/ptx/decoder.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>
#include <utility>

#include "tests/emulation/ptx/names.hpp"

namespace quintet::emulation {

namespace {

/// Decodes one kernel, functions it calls in place.
class Decoder {
 public:
  explicit Decoder(const ModuleText &text) : text_(text), names_(text, *kernel_) {}

  std::unique_ptr<Kernel> decode(const FunctionText &f) {
    kernel_->name = f.name;
    kernel_->n_predicates = 2;  // never, always
    Names::Symbols formals;
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
    assign_slots(*kernel_, names_.n_registers(), names_.constants());
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

  // --- a body
  // -------------------------------------------------------------------------------------------
  void body(const FunctionText &f, const Names::Symbols &formals, int inlined) {
    const std::string prefix = inlined < 0 ? "" : std::to_string(inlined) + "#";
    const Names::Scopes caller = names_.hide();
    names_.open(formals);
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
        names_.open();
        ++at;
        continue;
      }
      if (s[at] == '}') {
        names_.close();
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
    names_.show(caller);
    if (inlined >= 0) labels_[prefix + "return"] = static_cast<int>(kernel_->code.size());
  }

  void statement(const std::string &s, const std::string &prefix, int inlined) {
    if (s.empty()) return;
    if (s[0] == '.') return names_.declare(s);
    Instruction i;
    std::string rest = s;
    if (rest[0] == '@') {
      const auto space = rest.find_first_of(" \t");
      std::string p = rest.substr(1, space - 1);
      if (p[0] == '!') {
        i.guard_not = true;
        p = p.substr(1);
      }
      i.guard = names_.predicate(p);
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
    for (const auto &t : texts) operands.push_back(names_.operand(t));
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
        destination(names_.operand(trim(texts[0].substr(0, both))));
        const std::string p = trim(texts[0].substr(both + 1));
        if (p != "_") i.p_dst = names_.predicate(p);
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
        i.p_dst = names_.predicate(trim(texts[0].substr(0, both)));
        i.p_dst2 = names_.predicate(trim(texts[0].substr(both + 1)));
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
    Names::Symbols formals;
    const FunctionText &f = found->second;
    for (std::size_t k = 0; k < f.results.size(); ++k)
      formals[f.results[k].name] = names_.symbol(results.at(k));
    for (std::size_t k = 0; k < f.parameters.size(); ++k)
      formals[f.parameters[k].name] = names_.symbol(actuals.at(k));
    const int line = line_;
    ++n_open_;
    body(f, formals, n_inlined_++);
    --n_open_;
    line_ = line;
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
  std::unique_ptr<Kernel> kernel_ = std::make_unique<Kernel>();
  Names names_;
  int line_ = 0, n_inlined_ = 0, n_open_ = 0;
  std::map<std::string, int> labels_;
  std::vector<std::pair<int, std::string>> branches_;
};

}  // namespace

std::unique_ptr<Kernel> decode(const ModuleText &text, const FunctionText &function) {
  return Decoder(text).decode(function);
}

}  // namespace quintet::emulation
