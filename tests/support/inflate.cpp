#include "tests/support/inflate.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace quintet {
namespace {

/// Bits of a deflate stream, least significant first.
class Bits {
 public:
  explicit Bits(const std::string& bytes) : bytes_(bytes) {}
  unsigned next(unsigned n) {
    unsigned value = 0;
    for (unsigned i = 0; i < n; ++i, ++at_) {
      if (at_ / 8 >= bytes_.size()) throw std::runtime_error("deflate stream ends early");
      value |= (static_cast<unsigned char>(bytes_[at_ / 8]) >> at_ % 8 & 1u) << i;
    }
    return value;
  }
  void to_byte() { at_ = (at_ + 7) / 8 * 8; }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

/// Canonical Huffman code, section 3.2.2: symbols in the order of their codes and how many have each length.
class Huffman {
 public:
  explicit Huffman(const std::vector<unsigned>& lengths) {
    for (unsigned length = 1; length < 16; ++length)
      for (unsigned symbol = 0; symbol < lengths.size(); ++symbol)
        if (lengths[symbol] == length) {
          symbols_.push_back(symbol);
          ++count_[length];
        }
  }
  unsigned read(Bits& bits) const {
    unsigned code = 0, first = 0, index = 0;
    for (unsigned length = 1; length < 16; ++length) {
      code |= bits.next(1);
      if (code - first < count_[length]) return symbols_[index + code - first];
      index += count_[length];
      first = (first + count_[length]) << 1;
      code <<= 1;
    }
    throw std::runtime_error("deflate stream holds an unknown code");
  }

 private:
  std::vector<unsigned> symbols_;
  std::array<unsigned, 16> count_{};
};

/// Section 3.2.5: a length or distance is a base, by its symbol, and some extra bits.
unsigned length_of(unsigned symbol, Bits& bits) {
  if (symbol == 285) return 258;
  const unsigned i = symbol - 257, extra = i < 8 ? 0 : i / 4 - 1;
  const unsigned base = i < 8 ? i + 3 : ((4 + i % 4) << extra) + 3;
  return base + bits.next(extra);
}
unsigned distance_of(unsigned symbol, Bits& bits) {
  const unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;
  const unsigned base = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;
  return base + bits.next(extra);
}

void copy_block(Bits& bits, const Huffman& literals, const Huffman& distances, std::string& out) {
  for (unsigned symbol = literals.read(bits); symbol != 256; symbol = literals.read(bits)) {
    if (symbol < 256) {
      out.push_back(static_cast<char>(symbol));
      continue;
    }
    const unsigned length = length_of(symbol, bits), distance = distance_of(distances.read(bits), bits);
    if (distance > out.size()) throw std::runtime_error("deflate stream points before its beginning");
    for (unsigned i = 0; i < length; ++i) out.push_back(out[out.size() - distance]);
  }
}

void stored_block(Bits& bits, std::string& out) {
  bits.to_byte();
  const unsigned length = bits.next(16);
  bits.next(16);
  for (unsigned i = 0; i < length; ++i) out.push_back(static_cast<char>(bits.next(8)));
}

/// Section 3.2.6.
void fixed_block(Bits& bits, std::string& out) {
  std::vector<unsigned> lengths(288, 8);
  for (unsigned i = 144; i < 280; ++i) lengths[i] = i < 256 ? 9 : 7;
  copy_block(bits, Huffman(lengths), Huffman(std::vector<unsigned>(30, 5)), out);
}

/// Section 3.2.7.
void dynamic_block(Bits& bits, std::string& out) {
  static constexpr std::array<unsigned, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                     11, 4,  12, 3, 13, 2, 14, 1, 15};
  const unsigned n_literals = bits.next(5) + 257, n_distances = bits.next(5) + 1,
                 n_lengths = bits.next(4) + 4;
  std::vector<unsigned> of_lengths(19, 0), lengths;
  for (unsigned i = 0; i < n_lengths; ++i) of_lengths[order[i]] = bits.next(3);
  const Huffman code(of_lengths);
  while (lengths.size() < n_literals + n_distances) {
    const unsigned symbol = code.read(bits);
    if (symbol < 16)
      lengths.push_back(symbol);
    else if (symbol == 16 && !lengths.empty())
      lengths.insert(lengths.end(), 3 + bits.next(2), unsigned(lengths.back()));
    else
      lengths.insert(lengths.end(), symbol == 18 ? 11 + bits.next(7) : 3 + bits.next(3), 0u);
  }
  const auto middle = lengths.begin() + n_literals;
  copy_block(bits, Huffman({lengths.begin(), middle}), Huffman({middle, lengths.end()}), out);
}

}  // namespace

std::string inflate(const std::string& packed) {
  Bits bits(packed);
  std::string out;
  for (bool last = false; !last;) {
    last = bits.next(1) == 1;
    const unsigned type = bits.next(2);
    if (type == 0)
      stored_block(bits, out);
    else if (type == 1)
      fixed_block(bits, out);
    else if (type == 2)
      dynamic_block(bits, out);
    else
      throw std::runtime_error("deflate stream holds a block of unknown type");
  }
  return out;
}

}  // namespace quintet
