#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "tests/support/scratch.hpp"

/// Files made by hand and the messages that reading them leads to.
namespace files {

inline std::string put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

inline std::string content_of(const std::string& path) {
  std::stringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

/// The message of the InputError that `act` throws; "" if it throws none.
inline std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const quintet::InputError& error) {
    return error.what();
  }
  return "";
}

#define EXPECT_MESSAGE(act, piece)                                                       \
  do {                                                                                   \
    const std::string message = files::message_of([&] { (void)(act); });                 \
    EXPECT_NE(message.find(piece), std::string::npos) << "the message was: " << message; \
  } while (false)

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Numbers that need all 17 digits, from a small linear congruential generator.
class Digits {
 public:
  double operator()(double low, double high) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return low + (high - low) * (state_ >> 11) / 9007199254740992.0;
  }
  quintet::Vec3 vec3(double low, double high) {
    return {(*this)(low, high), (*this)(low, high), (*this)(low, high)};
  }

 private:
  unsigned long long state_ = 42;
};

/// A configuration with everything in it: triclinic, unsorted ids with gaps, atoms outside the box.
inline quintet::Configuration sample(std::size_t n_atoms = 7) {
  quintet::Configuration c;
  Digits digits;
  c.box = quintet::Box(
      {digits(9, 10), 0, 0, digits(-1, 1), digits(9, 10), 0, digits(-1, 1), digits(-1, 1), digits(9, 10)},
      {true, true, true});
  c.type_names = {"O", "H", "Cu"};
  c.masses = {digits(15, 16), digits(1, 2), digits(63, 64)};
  for (std::size_t i = 0; i < n_atoms; ++i) {
    c.types.push_back(i == 0 ? 0 : static_cast<int>(i % 3));
    c.ids.push_back(3 * (n_atoms - i) + 1);
    c.positions.push_back(digits.vec3(-20, 30));
    c.velocities.push_back(digits.vec3(-5, 5));
    c.forces.push_back(digits.vec3(-1, 1));
  }
  c.energy = digits(-3e4, -2e4);
  c.virial = quintet::Mat3{};
  for (double& component : *c.virial) component = digits(-1, 1);
  return c;
}

/// Cut a text file behind each of its lines: what comes before the last line must be refused, never crash.
inline void expect_every_cut_is_refused(const std::string& content, const std::string& path,
                                        const std::function<void()>& read, std::size_t from_line = 0) {
  std::size_t line = 0;
  const std::size_t last = content.find_last_of('\n', content.size() - 2);
  for (std::size_t at = 0; at <= last; at = content.find('\n', at) + 1, ++line) {
    put(path, content.substr(0, at));
    if (line >= from_line) {
      EXPECT_NE(message_of(read).find(path), std::string::npos)
          << "cut behind line " << line << ": " << message_of(read);
    }
  }
}

/// Cut a file behind each of its bytes, or each `stride`th: reading either works or says why it does not.
inline void expect_no_cut_crashes(const std::string& content, const std::string& path,
                                  const std::function<void()>& read, std::size_t stride = 1) {
  for (std::size_t n = 0; n < content.size(); n += stride) {
    put(path, content.substr(0, n));
    EXPECT_NO_THROW((void)message_of(read)) << "cut behind byte " << n;
  }
}

/// An .npy file, version 1, by hand; `header` replaces the dictionary if given.
template <class T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values,
                bool fortran = false, int version = 1) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::string content = "\x93NUMPY";
  content += static_cast<char>(version);
  content += '\0';
  content += static_cast<char>(header.size());
  content.append(version == 1 ? 1 : 3, '\0');
  content += header;
  content.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return content;
}

}  // namespace files
