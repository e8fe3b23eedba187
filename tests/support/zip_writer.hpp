#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

/// Writes zip archives of NumPy arrays, as numpy.savez (stored) and numpy.savez_compressed (deflated) do.
namespace zip {

inline std::string little_endian(std::uint64_t value, int n) {
  std::string bytes;
  for (int i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

inline std::string deflated(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

struct Member {
  std::string name, bytes;
};

/// @param zip64 sizes in fields of 64 bits, as NumPy writes local headers
inline std::string archive(const std::vector<Member>& members, bool compressed, bool zip64) {
  std::string file, directory;
  for (const auto& member : members) {
    const auto packed = compressed ? deflated(member.bytes) : member.bytes;
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(member.bytes.data()), static_cast<uInt>(member.bytes.size()));
    const auto method = little_endian(compressed ? 8 : 0, 2);
    const auto sizes = [&](bool all_ones) {
      return all_ones ? std::string(8, '\xff')
                      : little_endian(packed.size(), 4) + little_endian(member.bytes.size(), 4);
    };
    const auto extra = zip64 ? little_endian(1, 2) + little_endian(16, 2) +
                                   little_endian(member.bytes.size(), 8) + little_endian(packed.size(), 8)
                             : std::string();
    const auto common = [&](const std::string& version) {
      return version + little_endian(0, 2) + method + little_endian(0, 4) + little_endian(checksum, 4) +
             sizes(zip64) + little_endian(member.name.size(), 2) + little_endian(extra.size(), 2);
    };
    const auto offset = file.size();
    file += "PK\3\4" + common(little_endian(45, 2)) + member.name + extra + packed;
    directory += "PK\1\2" + common(little_endian(45, 2) + little_endian(45, 2)) + little_endian(0, 2) +
                 little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 4) + little_endian(offset, 4) +
                 member.name + extra;
  }
  const auto begin = file.size();
  return file + directory + "PK\5\6" + little_endian(0, 4) + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(directory.size(), 4) + little_endian(begin, 4) +
         little_endian(0, 2);
}

/// An array as NumPy writes it.
template <class T>
std::string npy(const std::string& type, const std::string& shape, const std::vector<T>& values) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(header.size(), 2) + header +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace zip
