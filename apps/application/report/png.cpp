#include "apps/application/report/png.hpp"

#include <algorithm>

namespace quintet {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// CRC-32 of a chunk's type and data (PNG, annex D), bit by bit: pictures are small.
std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

/// Adler-32 of the uncompressed bytes (RFC 1950, 9).
std::uint32_t adler32(const std::string& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<std::uint8_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::string chunk(const std::string& type, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + type + data + big_endian(crc32(type + data));
}

std::string zlib_stored(const std::string& bytes) {
  constexpr std::size_t longest = 65535;
  std::string stream = "\x78\x01";
  for (std::size_t at = 0; at < bytes.size(); at += longest) {
    const auto length = std::min(longest, bytes.size() - at);
    const bool last = at + length == bytes.size();
    stream += static_cast<char>(last);
    for (const std::size_t number : {length, ~length}) {
      stream += static_cast<char>(number & 0xff);
      stream += static_cast<char>(number >> 8 & 0xff);
    }
    stream.append(bytes, at, length);
  }
  return stream + big_endian(adler32(bytes));
}

/// 8 bits a pixel, by the palette.
std::string header_of(int width, int height) {
  return big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height)) +
         std::string("\x08\x03\x00\x00\x00", 5);
}

std::string palette_chunks(const std::vector<Colour>& palette) {
  std::string colours;
  for (const auto& colour : palette) colours.append(colour.begin(), colour.end());
  return chunk("PLTE", colours) + chunk("tRNS", std::string(1, '\0'));
}

std::string pixels(int width, int height, const std::vector<std::uint8_t>& indices) {
  std::string rows;
  for (int y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    const auto row = indices.begin() + static_cast<std::ptrdiff_t>(y) * width;
    rows.append(row, row + width);
  }
  return zlib_stored(rows);
}

}  // namespace

std::string encode_png(int width, int height, const std::vector<std::uint8_t>& indices,
                       const std::vector<Colour>& palette) {
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header_of(width, height)) + palette_chunks(palette) +
         chunk("IDAT", pixels(width, height, indices)) + chunk("IEND", "");
}

std::string encode_film(int width, int height, const std::vector<std::vector<std::uint8_t>>& frames,
                        const std::vector<Colour>& palette, int milliseconds) {
  const auto n_frames = static_cast<std::uint32_t>(frames.size());
  std::string film = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header_of(width, height)) +
                     chunk("acTL", big_endian(n_frames) + big_endian(0)) + palette_chunks(palette);
  const std::string size =
      big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height));
  const std::string delay{static_cast<char>(milliseconds >> 8 & 0xff), static_cast<char>(milliseconds & 0xff),
                          static_cast<char>(1000 >> 8), static_cast<char>(1000 & 0xff)};
  std::uint32_t number = 0;
  for (const auto& frame : frames) {
    const std::string place = big_endian(0) + big_endian(0), replace(2, '\0');
    film += chunk("fcTL", big_endian(number++) + size + place + delay + replace);
    const bool first = &frame == &frames.front();
    film += first ? chunk("IDAT", pixels(width, height, frame))
                  : chunk("fdAT", big_endian(number++) + pixels(width, height, frame));
  }
  return film + chunk("IEND", "");
}

std::string encode_base64(const std::string& bytes) {
  static const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (int k = 0; k < 4; ++k) {
      const bool padding = i + static_cast<std::size_t>(k) > bytes.size();
      text += padding ? '=' : letters[group >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

}  // namespace quintet
