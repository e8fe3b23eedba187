#include "apps/dpmd/ipi/messages.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "io/config/units.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd::ipi {

namespace {

constexpr std::size_t word_bytes = 12;
/// More text than any driver sends: a number beyond it is not one.
constexpr int most_text = 1 << 28;

/// Bytes of a message in the making.
class Message {
 public:
  explicit Message(const std::string& word) {
    QUINTET_ASSERT(word.size() <= word_bytes, "{} is too long", word);
    std::string padded = word;
    padded.resize(word_bytes, ' ');
    add(padded.data(), word_bytes);
  }
  void integer(std::size_t value) {
    const std::int32_t number = value;
    add(&number, sizeof number);
  }
  void real(double value) { add(&value, sizeof value); }
  void text(const std::string& value) {
    integer(value.size());
    add(value.data(), value.size());
  }
  void matrix(const Mat3& m) {
    for (const double value : m) real(value);
  }
  void vectors(const std::vector<Vec3>& values, double unit) {
    integer(values.size());
    for (const auto& v : values)
      for (const double component : v) real(component / unit);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void add(const void* from, std::size_t n) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + n);
  }
  std::vector<std::byte> bytes_;
};

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

Mat3 transposed(const Mat3& m) { return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}; }

Mat3 scaled(Mat3 m, double factor) {
  for (double& value : m) value *= factor;
  return m;
}

}  // namespace

Units::Units() : bohr(unit_factor("bohr", "angstrom")), hartree(unit_factor("hartree", "eV")) {}

Connection::Connection(Socket socket, WhileWaiting waiting, const Units& units)
    : socket_(std::move(socket)), waiting_(std::move(waiting)), units_(units) {}

std::optional<std::string> Connection::receive_word() {
  std::array<char, word_bytes> word{};
  if (!socket_.receive(std::as_writable_bytes(std::span(word)), "the first word of a message", waiting_))
    return std::nullopt;
  const std::string text(word.data(), word.size());
  return text.substr(0, text.find_last_not_of(std::string(" \0", 2)) + 1);
}

void Connection::receive(std::span<std::byte> bytes, const std::string& what) {
  if (!socket_.receive(bytes, what, waiting_))
    throw ConnectionLost(fmt::format("the connection ended after 0 of {} bytes of {}", bytes.size(), what));
}

int Connection::receive_integer(const std::string& what) {
  std::int32_t value = 0;
  receive(bytes_of(value), what);
  return value;
}

std::string Connection::receive_text(const std::string& what) {
  const int n = receive_integer("the length of " + what);
  QUINTET_CHECK(n >= 0 && n <= most_text, "the length of {} is {} bytes; expected 0 to {}", what, n,
                most_text);
  std::string text(std::size_t(n), '\0');
  receive(std::as_writable_bytes(std::span(text)), what);
  return text;
}

std::vector<Vec3> Connection::receive_vectors(int n, double unit, const std::string& what) {
  std::vector<Vec3> values(std::size_t(n), Vec3{});
  receive(std::as_writable_bytes(std::span(values)), what);
  for (auto& v : values)
    for (double& component : v) component *= unit;
  return values;
}

std::string Connection::receive_init() {
  (void)receive_integer("INIT's bead");
  return receive_text("INIT's text");
}

Positions Connection::receive_positions(const std::function<void(int n_atoms)>& check) {
  Mat3 h{}, inverse{};
  receive(bytes_of(h), "POSDATA's cell");
  receive(bytes_of(inverse), "POSDATA's inverse cell");  // i-PI's and ASE's are each other's transposed
  const int n = receive_integer("POSDATA's number of atoms");
  check(n);
  return {scaled(transposed(h), units_.bohr), receive_vectors(n, units_.bohr, "POSDATA's positions")};
}

Forces Connection::receive_forces(int n_atoms) {
  Forces found;
  receive(bytes_of(found.energy), "FORCEREADY's energy");
  found.energy *= units_.hartree;
  const int n = receive_integer("FORCEREADY's number of atoms");
  QUINTET_CHECK(n == n_atoms, "FORCEREADY has {}, but POSDATA had {}", counted(n, "atom"), n_atoms);
  found.forces = receive_vectors(n, units_.force(), "FORCEREADY's forces");
  receive(bytes_of(found.virial), "FORCEREADY's virial");
  found.virial = scaled(found.virial, units_.hartree);
  found.extra = receive_text("FORCEREADY's text");
  return found;
}

void Connection::send_word(const std::string& word) { socket_.send(Message(word).bytes(), word, waiting_); }

void Connection::send_init(int bead, const std::string& text) {
  Message message("INIT");
  message.integer(std::size_t(bead));
  message.text(text);
  socket_.send(message.bytes(), "INIT", waiting_);
}

void Connection::send_positions(const Positions& frame) {
  Message message("POSDATA");
  const Box box(frame.rows, {true, true, true});  // for its inverse
  message.matrix(scaled(transposed(frame.rows), 1 / units_.bohr));
  message.matrix(scaled(transposed(box.inverse()), units_.bohr));
  message.vectors(frame.positions, units_.bohr);
  socket_.send(message.bytes(), "POSDATA", waiting_);
}

void Connection::send_forces(const Forces& found) {
  Message message("FORCEREADY");
  message.real(found.energy / units_.hartree);
  message.vectors(found.forces, units_.force());
  message.matrix(scaled(found.virial, 1 / units_.hartree));
  message.text(found.extra);
  socket_.send(message.bytes(), "FORCEREADY", waiting_);
}

}  // namespace quintet::dpmd::ipi
