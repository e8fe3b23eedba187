#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace quintet {

/// Size (bytes) of the regular file at `path`. Never opens it, so never waits. Throws InputError that says
/// what there is instead: nothing, a folder, a pipe, a device.
std::uint64_t check_input_file(const std::string& path);

/// The file, opened for reading in binary mode. Errors: as check_input_file(), and if it may not be read.
[[nodiscard]] std::ifstream open_input_file(const std::string& path);

/// Read the whole content of an input file. Errors: as open_input_file(), and if it is longer than `most`
/// bytes.
[[nodiscard]] std::string read_input_file(const std::string& path,
                                          std::uint64_t most = std::uint64_t{1} << 30);

}  // namespace quintet
