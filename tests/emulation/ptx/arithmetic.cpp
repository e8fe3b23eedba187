#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/emulation/ptx/operators.hpp"
#include "tests/emulation/ptx/warp_operators.hpp"

namespace quintet::emulation {

namespace {

#define EVERY_INTEGER(FORM, OP, t)                     \
  ((t) == "u16" || (t) == "b16"   ? FORM<u16, u16, OP> \
   : (t) == "s16"                 ? FORM<s16, s16, OP> \
   : (t) == "u32" || (t) == "b32" ? FORM<u32, u32, OP> \
   : (t) == "s32"                 ? FORM<s32, s32, OP> \
   : (t) == "u64" || (t) == "b64" ? FORM<u64, u64, OP> \
   : (t) == "s64"                 ? FORM<s64, s64, OP> \
                                  : nullptr)
#define EVERY_FLOAT(FORM, OP, t) \
  ((t) == "f64" ? FORM<double, double, OP> : (t) == "f32" ? FORM<float, float, OP> : nullptr)
#define EVERY(FORM, OP, t) ((t)[0] == 'f' ? EVERY_FLOAT(FORM, OP, t) : EVERY_INTEGER(FORM, OP, t))
#define EVERY_BITS(FORM, OP, t)        \
  ((t) == "b16"   ? FORM<u16, u16, OP> \
   : (t) == "b32" ? FORM<u32, u32, OP> \
   : (t) == "b64" ? FORM<u64, u64, OP> \
                  : nullptr)

}  // namespace

Function arithmetic(const std::vector<std::string> &parts, Instruction &i) {
  const std::string &op = parts[0];
  const std::string &t = parts.back();
  auto has = [&](const char *part) {
    for (const auto &p : parts)
      if (p == part) return true;
    return false;
  };
  auto bits = [](const std::string &type) { return static_cast<u8>(std::atoi(type.c_str() + 1)); };
  i.cost = t == "f64" ? Cost::fp64 : t == "f32" ? Cost::fp32 : Cost::integer;
  for (const char *unknown_here :
       {"NaN", "relu", "xorsign", "pack", "f16", "f16x2", "bf16", "bf16x2", "b128"})
    if (has(unknown_here)) return nullptr;
  if (has("sat") && op != "cvt") return nullptr;
  if (has("ftz") && op != "ex2" && op != "rcp") return nullptr;
  if (op == "cvta") return convert_address;
  if (op == "mma") {
    i.cost = Cost::tensor;
    return has("m8n8k4") && t == "f64" ? tensor : nullptr;
  }
  if (t == "pred" && op != "setp") {
    if (op == "and") return predicates<0>;
    if (op == "or") return predicates<1>;
    if (op == "xor") return predicates<2>;
    if (op == "not") return predicates<3>;
    if (op == "mov") return i.p_src >= 0 ? predicates<4> : nullptr;
    return nullptr;
  }
  if (op == "mov") {
    i.cost = Cost::other;
    if (i.n_dst > 1) {
      i.mode = static_cast<u8>(bits(t) / i.n_dst);
      return take_apart;
    }
    if (i.n_src > 1) {
      i.mode = static_cast<u8>(bits(t) / i.n_src);
      return put_together;
    }
    const u8 b = bits(t);
    return b == 64 ? move<u64> : b == 32 ? move<u32> : b == 16 ? move<u16> : nullptr;
  }
  if (op == "selp") {
    const u8 b = bits(t);
    return b == 64 ? select<u64> : b == 32 ? select<u32> : select<u16>;
  }
  if (op == "setp") {
    i.mode = has("and") ? 1 : has("or") ? 2 : has("xor") ? 3 : 0;
    if (t == "f64") return comparison<double>(parts[1]);
    if (t == "f32") return comparison<float>(parts[1]);
    if (t == "u64" || t == "b64") return comparison<u64>(parts[1]);
    if (t == "s64") return comparison<s64>(parts[1]);
    if (t == "u32" || t == "b32") return comparison<u32>(parts[1]);
    if (t == "s32") return comparison<s32>(parts[1]);
    if (t == "u16" || t == "b16") return comparison<u16>(parts[1]);
    if (t == "s16") return comparison<s16>(parts[1]);
    return nullptr;
  }
  if (op == "cvt") {
    const std::string &to = parts[parts.size() - 2];
    const bool to_integer = has("rni") || has("rzi") || has("rmi") || has("rpi");
    i.mode = has("rzi") || has("rz")   ? zero
             : has("rmi") || has("rm") ? down
             : has("rpi") || has("rp") ? upward
                                       : nearest;
    if (to_integer && to[0] == 'f') i.mode |= 8;
    if (has("sat")) i.mode |= 16;
    if (!to_integer && i.mode != nearest && (i.mode & 7))
      return nullptr;  // a rounding of floats other than to the nearest
    return conversion(to, t);
  }
  if (op == "addc" || op == "subc" || ((op == "add" || op == "sub") && has("cc"))) {
    i.mode = static_cast<u8>((op.size() == 4 ? 1 : 0) | (has("cc") ? 2 : 0));
    const bool wide = bits(t) == 64, minus = op[0] == 's';
    return wide ? (minus ? add_carry<u64, true> : add_carry<u64, false>)
                : (minus ? add_carry<u32, true> : add_carry<u32, false>);
  }
  if (op == "madc" || (op == "mad" && has("cc"))) {
    i.mode = static_cast<u8>((op == "madc" ? 1 : 0) | (has("cc") ? 2 : 0));
    const bool wide = bits(t) == 64, high = has("hi");
    return wide ? (high ? mad_carry<u64, true> : mad_carry<u64, false>)
                : (high ? mad_carry<u32, true> : mad_carry<u32, false>);
  }
  if ((has("rz") || has("rm") || has("rp")) && t[0] == 'f') {
    // add.rz and fma.rm of f32 in functions of the mathematical library
    if (op == "add" && t == "f32") {
      struct AddZero {
        static float f(float a, float b) {
          const double s = static_cast<double>(a) + b;
          float r = s;
          if (std::fabs(static_cast<double>(r)) > std::fabs(s)) r = std::nextafterf(r, 0.0f);
          return r;
        }
      };
      return binary<float, float, AddZero>;
    }
    if (op == "fma" && t == "f32" && has("rm")) {
      struct FmaDown {
        static float f(float a, float b, float c) {
          const double s = std::fma(static_cast<double>(a), b, static_cast<double>(c));
          float r = s;
          if (static_cast<double>(r) > s) r = std::nextafterf(r, -INFINITY);
          return r;
        }
      };
      return ternary<float, float, FmaDown>;
    }
    return nullptr;
  }
  if (op == "add") return EVERY(binary, Add, t);
  if (op == "sub") return EVERY(binary, Sub, t);
  if (op == "mul") {
    if (has("wide"))
      return t == "u16"   ? binary<u32, u16, MulWide>
             : t == "s16" ? binary<s32, s16, MulWide>
             : t == "u32" ? binary<u64, u32, MulWide>
             : t == "s32" ? binary<s64, s32, MulWide>
                          : nullptr;
    if (has("hi")) return EVERY_INTEGER(binary, MulHigh, t);
    return EVERY(binary, Mul, t);
  }
  if (op == "mad" && t[0] != 'f') {
    if (has("wide"))
      return t == "u16"   ? ternary<u32, u16, MadWide>
             : t == "s16" ? ternary<s32, s16, MadWide>
             : t == "u32" ? ternary<u64, u32, MadWide>
             : t == "s32" ? ternary<s64, s32, MadWide>
                          : nullptr;
    if (has("hi")) return EVERY_INTEGER(ternary, MadHigh, t);
    return EVERY_INTEGER(ternary, Mad, t);
  }
  if (op == "fma" || op == "mad") return EVERY_FLOAT(ternary, Fma, t);
  if (op == "div") return EVERY(binary, Div, t);
  if (op == "rem") return EVERY_INTEGER(binary, Rem, t);
  if (op == "min") return EVERY(binary, Min, t);
  if (op == "max") return EVERY(binary, Max, t);
  if (op == "neg") return EVERY(unary, Neg, t);
  if (op == "abs")
    return t == "s64"   ? unary<s64, s64, Abs>
           : t == "s32" ? unary<s32, s32, Abs>
           : t == "s16" ? unary<s16, s16, Abs>
                        : EVERY_FLOAT(unary, Abs, t);
  if (op == "and") return EVERY_BITS(binary, And, t);
  if (op == "or") return EVERY_BITS(binary, Or, t);
  if (op == "xor") return EVERY_BITS(binary, Xor, t);
  if (op == "not") return EVERY_BITS(unary, Not, t);
  if (op == "cnot") return EVERY_BITS(unary, CNot, t);
  if (op == "shl")
    return bits(t) == 64 ? shift<u64, true> : bits(t) == 32 ? shift<u32, true> : shift<u16, true>;
  if (op == "shr") {
    if (t == "s64") return shift<s64, false>;
    if (t == "s32") return shift<s32, false>;
    if (t == "s16") return shift<s16, false>;
    return bits(t) == 64 ? shift<u64, false> : bits(t) == 32 ? shift<u32, false> : shift<u16, false>;
  }
  if (op == "popc") return bits(t) == 64 ? unary<u32, u64, Popc> : unary<u32, u32, Popc>;
  if (op == "clz") return bits(t) == 64 ? unary<u32, u64, Clz> : unary<u32, u32, Clz>;
  if (op == "brev") return bits(t) == 64 ? unary<u64, u64, Brev> : unary<u32, u32, Brev>;
  if (op == "bfind") {
    if (has("shiftamt"))
      return t == "u64"   ? unary<u32, u64, BfindShift>
             : t == "s64" ? unary<u32, s64, BfindShift>
             : t == "s32" ? unary<u32, s32, BfindShift>
                          : unary<u32, u32, BfindShift>;
    return t == "u64"   ? unary<u32, u64, Bfind>
           : t == "s64" ? unary<u32, s64, Bfind>
           : t == "s32" ? unary<u32, s32, Bfind>
                        : unary<u32, u32, Bfind>;
  }
  if (op == "bfe")
    return t == "u32"   ? bit_field<u32>
           : t == "s32" ? bit_field<s32>
           : t == "u64" ? bit_field<u64>
                        : bit_field<s64>;
  if (op == "bfi") return bits(t) == 64 ? insert_bits<u64> : insert_bits<u32>;
  if (op == "prmt") return parts.size() == 2 ? permute_bytes : nullptr;
  if (op == "shf") {
    i.mode = has("wrap");
    return has("l") ? funnel<true> : funnel<false>;
  }
  if (op == "lop3") return logic<u32>;
  if (op == "copysign") return EVERY_FLOAT(binary, CopySign, t);
  i.cost = Cost::special;
  if (op == "sqrt") return EVERY_FLOAT(unary, Sqrt, t);
  if (op == "rcp" && has("ftz") && t == "f32") return unary<float, float, Flushed<Rcp>>;
  if (op == "rcp")
    return t == "f64" && has("approx") ? unary<double, double, RcpHigh> : EVERY_FLOAT(unary, Rcp, t);
  if (op == "rsqrt") return t == "f64" ? unary<double, double, RsqrtHigh> : unary<float, float, Rsqrt>;
  if (has("ftz") && t == "f32")
    return op == "ex2" ? unary<float, float, Flushed<Ex2>> : unary<float, float, Flushed<Rcp>>;
  if (op == "ex2") return unary<float, float, Ex2>;
  if (op == "lg2") return unary<float, float, Lg2>;
  if (op == "sin") return unary<float, float, Sin>;
  if (op == "cos") return unary<float, float, Cos>;
  if (op == "tanh") return unary<float, float, Tanh>;
  return nullptr;
}

}  // namespace quintet::emulation
