#include "io/tiers/tier_store.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <utility>

#include "io/log/error.hpp"

namespace quintet {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TierStore::TierStore(Ledger& ledger, const Options& options, std::vector<std::size_t> sizes)
    : n_buffers_(options.n_buffers) {
  const bool has_file = !options.file.folder.empty();
  const TierPlacement placement = place_items(
      sizes, has_file ? ledger.room(Tier::host, options.category) : std::nullopt, options.n_buffers);
  const auto& in_file = placement.file_sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int number = placement.in_file[i];
    items_.push_back({sizes[i], number, nullptr, number < 0 ? State::here : State::away, 0});
  }
  host_bytes_ = placement.host;
  staging_bytes_ = placement.staging;
  claims_.push_back(ledger.claim(Tier::host, options.category, host_bytes_, options.what, options.help));
  claims_.push_back(
      ledger.claim(Tier::host, ByteCategory::staging, staging_bytes_, options.what, options.help));
  if (!in_file.empty()) {
    claims_.push_back(ledger.claim(Tier::file, options.category, placement.file, options.what, options.help));
    file_ = std::make_unique<TierFile>(options.file, in_file);
  }
  for (Item& item : items_) {
    if (item.in_file >= 0) continue;
    memory_.push_back(grain_memory(item.size));
    item.memory = memory_.back().get();
  }
  if (in_file.empty()) return;
  for (int buffer = 0; buffer < options.n_buffers; ++buffer) {
    memory_.push_back(grain_memory(placement.buffer));
    free_.push_back(memory_.back().get());
  }
  reader_ = std::thread([this] { read_items(); });
  writer_ = std::thread([this] { write_items(); });
}

TierStore::~TierStore() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (reader_.joinable()) reader_.join();
  if (writer_.joinable()) writer_.join();
}

Tier TierStore::home(int item) const { return items_[item].in_file < 0 ? Tier::host : Tier::file; }

void TierStore::fetch(int number) {
  Item& item = items_[number];
  if (item.in_file < 0) return;
  const std::lock_guard lock(mutex_);
  if (item.state != State::away) return;  // one that leaves is fetched by its pin()
  item.state = State::coming;
  to_read_.push_back(number);
  changed_.notify_all();
}

void TierStore::wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& until) {
  const double begin = now();
  changed_.wait(lock, [&] { return error_ || until(); });
  waited_ += now() - begin;
  if (error_) std::rethrow_exception(error_);
}

std::span<std::byte> TierStore::pin(int number) {
  Item& item = items_[number];
  if (item.in_file >= 0) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return item.state != State::leaving; });
    if (item.state == State::away) {
      item.state = State::coming;
      to_read_.push_front(number);
    }
    if (item.state == State::coming) {
      const auto pinned = std::count_if(items_.begin(), items_.end(),
                                        [](const Item& it) { return it.in_file >= 0 && it.pins > 0; });
      if (pinned == n_buffers_) throw InternalError("all staging buffers are pinned");
      const auto place = std::find(to_read_.begin(), to_read_.end(), number);
      if (place != to_read_.end()) std::rotate(to_read_.begin(), place, place + 1);
      wanted_ = number;
      changed_.notify_all();
      wait(lock, [&] { return item.state == State::here; });
      wanted_ = -1;
    }
  }
  ++item.pins;
  return {item.memory, item.size};
}

void TierStore::release(int number, bool changed) {
  Item& item = items_[number];
  const std::lock_guard lock(mutex_);
  if (--item.pins > 0 || item.in_file < 0) return;
  if (changed) {
    item.state = State::leaving;
    to_write_.push_back(number);
  } else {
    item.state = State::away;
    free_.push_back(item.memory);
  }
  changed_.notify_all();
}

void TierStore::commit(std::int64_t tag) {
  if (!file_) return;
  std::unique_lock lock(mutex_);
  wait(lock, [&] {
    return std::none_of(items_.begin(), items_.end(),
                        [](const Item& it) { return it.state == State::leaving; });
  });
  file_->commit(tag);
}

std::byte* TierStore::buffer_for(int number) {
  if (free_.empty() && number == wanted_) {
    // Somebody waits for this one; what was fetched for later has to be read again.
    const bool one_leaves =
        std::any_of(items_.begin(), items_.end(), [](const Item& it) { return it.state == State::leaving; });
    const auto later = std::find_if(items_.begin(), items_.end(), [](const Item& it) {
      return it.in_file >= 0 && it.state == State::here && it.pins == 0;
    });
    if (!one_leaves && later != items_.end()) {
      later->state = State::away;
      return later->memory;
    }
  }
  if (free_.empty()) return nullptr;
  std::byte* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

// The lock is not held while the disk is read: the computation takes and gives other items meanwhile.
void TierStore::read_items() {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::byte* buffer = nullptr;
    changed_.wait(lock, [&] {
      return ends_ || (!to_read_.empty() && (buffer = buffer_for(to_read_.front())) != nullptr);
    });
    if (ends_) return;
    const int number = to_read_.front();
    to_read_.pop_front();
    Item& item = items_[number];
    lock.unlock();
    const double begin = now();
    std::exception_ptr error;
    try {
      file_->read(item.in_file, buffer);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    reads_.seconds += now() - begin;
    reads_.bytes += item.size;
    if (error) error_ = error;
    item.memory = buffer;
    item.state = State::here;
    changed_.notify_all();
  }
}

void TierStore::write_items() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !to_write_.empty(); });
    if (ends_) return;
    const int number = to_write_.front();
    to_write_.pop_front();
    Item& item = items_[number];
    lock.unlock();
    const double begin = now();
    std::exception_ptr error;
    try {
      file_->write(item.in_file, item.memory);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    writes_.seconds += now() - begin;
    writes_.bytes += item.size;
    if (error) error_ = error;
    free_.push_back(item.memory);
    item.state = State::away;
    changed_.notify_all();
  }
}

TierTraffic TierStore::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}
TierTraffic TierStore::writes() const {
  const std::lock_guard lock(mutex_);
  return writes_;
}

}  // namespace quintet
