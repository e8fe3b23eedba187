#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/runtime/socket.hpp"
#include "physics/particles/atoms/box.hpp"

/// The messages of i-PI's socket protocol, which many codes speak: a server moves atoms, a driver (its
/// client) answers with energy, forces and virial.
///
/// A message begins with 12 characters; integers are int32 and reals float64, both as this machine has them;
/// lengths are bohr, energies hartree on the wire, angstrom and eV here. Cells: h[3a+b] is component a of
/// lattice vector b; virial -dE/d(strain). Source: i-PI's manual, "Communication protocol"; V. Kapil et al.,
/// Comput. Phys. Commun. 236, 214 (2019).
namespace quintet::dpmd::ipi {

/// What a program takes for its units: its results are then what it has computed, to the last digit.
struct Units {
  Units();         ///< CODATA 2018
  double bohr;     ///< (angstrom)
  double hartree;  ///< (eV)
  [[nodiscard]] double force() const { return hartree / bohr; }
};

/// POSDATA: where the atoms are.
struct Positions {
  Mat3 rows{};                  ///< of the cell (angstrom)
  std::vector<Vec3> positions;  ///< [n_atoms, 3] (angstrom)
};

/// FORCEREADY: what a driver has computed.
struct Forces {
  double energy = 0;         ///< (eV)
  std::vector<Vec3> forces;  ///< [n_atoms, 3] (eV/angstrom)
  Mat3 virial{};             ///< -dE/d(strain) (eV)
  std::string extra;         ///< text for whoever understands it, such as JSON
};

/// One end of a conversation.
class Connection {
 public:
  Connection(Socket socket, WhileWaiting waiting, const Units& units = {});

  /// The first word of the next message, without its blanks; nothing if the other side has ended. Throws
  /// ConnectionLost.
  [[nodiscard]] std::optional<std::string> receive_word();
  /// What comes after it. Each throws ConnectionLost; InputError for a number of atoms or bytes that cannot
  /// be.
  std::string receive_init();
  /// @param check throws for a number of atoms that the positions may not have
  [[nodiscard]] Positions receive_positions(const std::function<void(int n_atoms)>& check);
  [[nodiscard]] Forces receive_forces(int n_atoms);

  void send_word(const std::string& word);
  void send_init(int bead, const std::string& text);
  void send_positions(const Positions& frame);
  void send_forces(const Forces& found);

 private:
  void receive(std::span<std::byte> bytes, const std::string& what);
  [[nodiscard]] int receive_integer(const std::string& what);
  [[nodiscard]] std::string receive_text(const std::string& what);
  [[nodiscard]] std::vector<Vec3> receive_vectors(int n, double unit, const std::string& what);

  Socket socket_;
  WhileWaiting waiting_;
  Units units_;
};

}  // namespace quintet::dpmd::ipi
