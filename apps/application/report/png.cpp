#include "apps/application/report/png.hpp"

#include "io/files/decompress.hpp"

namespace quintet {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string content = type + data;
  return big_endian(static_cast<std::uint32_t>(data.size())) + content + big_endian(crc32_of(content));
}

/// 8 bits a pixel, by the palette.
std::string header_of(int width, int height) {
  return big_endian(width) + big_endian(height) + std::string("\x08\x03\x00\x00\x00", 5);
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
    const auto row = indices.begin() + std::int64_t{y} * width;
    rows.append(row, row + width);
  }
  return packed_by_zlib(rows);
}

}  // namespace

std::string encode_png(int width, int height, const std::vector<std::uint8_t>& indices,
                       const std::vector<Colour>& palette) {
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header_of(width, height)) + palette_chunks(palette) +
         chunk("IDAT", pixels(width, height, indices)) + chunk("IEND", "");
}

std::string encode_film(int width, int height, const std::vector<std::vector<std::uint8_t>>& frames,
                        const std::vector<Colour>& palette, int milliseconds) {
  const std::uint32_t n_frames = frames.size();
  std::string film = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header_of(width, height)) +
                     chunk("acTL", big_endian(n_frames) + big_endian(0)) + palette_chunks(palette);
  const std::string size = big_endian(width) + big_endian(height);
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
      const bool padding = i + k > bytes.size();
      text += padding ? '=' : letters[group >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

}  // namespace quintet
