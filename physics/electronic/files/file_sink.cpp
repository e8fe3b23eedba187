#include "physics/electronic/files/file_sink.hpp"

#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "io/files/output_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet::electronic {

FileSink::FileSink(const Comm& comm, std::string path)
    : comm_(std::make_shared<const Comm>(comm)), path_(std::move(path)) {
  on_root(*comm_, [&] {
    make_new_file(unfinished());
    file_.open(unfinished(), std::ios::binary | std::ios::trunc);
    QUINTET_CHECK(file_.is_open(), "{}: cannot be written; does its folder exist?", path_);
  });
}

FileSink::~FileSink() {
  if (!finished_ && comm_->is_root()) static_cast<void>(std::remove(unfinished().c_str()));
}

void FileSink::append_from(int rank, std::string_view bytes) {
  const auto write = [&](std::string_view text) { file_.write(text.data(), text.size()); };
  if (rank == 0) {
    if (comm_->is_root()) write(bytes);
    return;
  }
  if (comm_->rank() == rank)
    static_cast<void>(comm_->exchange_any(std::span<const char>(bytes.data(), bytes.size()), 0, -1, tag));
  if (comm_->is_root()) {
    const auto received = comm_->exchange_any(std::span<const char>(), -1, rank, tag);
    write({received.data(), received.size()});
  }
}

void FileSink::finish() {
  on_root(*comm_, [&] {
    file_.close();
    if (!file_.good()) throw ResourceError(fmt::format("{}: could not be written; is the disk full?", path_));
  });
  give_name(*comm_, unfinished(), path_);
  finished_ = true;
}

void give_name(const Comm& comm, const std::string& unfinished, const std::string& path) {
  on_root(comm, [&] {
    if (std::rename(unfinished.c_str(), path.c_str()) != 0)
      throw ResourceError(fmt::format("{}: cannot be renamed to {}", unfinished, path));
  });
}

}  // namespace quintet::electronic
