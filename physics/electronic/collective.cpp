#include "physics/electronic/collective.hpp"

namespace quintet::electronic {

void throw_together(const Comm& comm, const std::string& message) {
  const int first = comm.minimum(message.empty() ? comm.size() : comm.rank());
  if (first < comm.size()) throw InputError(comm.broadcast(message, first));
}

}  // namespace quintet::electronic
