#include "io/tiers/tier_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;

/// A folder on the build's disk.
class Scratch {
 public:
  explicit Scratch(const std::string& name)
      : path_(fs::absolute("tiers_" + name + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::string path_;
};

/// Another file system over a folder, where this process may mount one.
class Mounted {
 public:
  Mounted(const std::string& path, const char* source, const char* type, unsigned long flags,
          const char* data)
      : path_(path), mounted_(::mount(source, path.c_str(), type, flags, data) == 0) {}
  ~Mounted() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_;
};

std::vector<std::size_t> sizes() { return {10000, 4096, 10000, 1, 8192, 10000, 10000, 777}; }
std::size_t total() {
  std::size_t sum = 0;
  for (const auto size : sizes()) sum += size;
  return sum;
}

TierStore::Options in_folder(const std::string& folder, bool direct = true) {
  TierStore::Options options;
  options.what = "items";
  options.help = "expected less";
  options.file = {{folder, "items", direct, "path"}};
  return options;
}

char byte_of(std::size_t item, std::size_t i, int round) { return item * 31 + i * 7 + round; }

void fill(TierStore& store, std::size_t item, int round) {
  const auto bytes = store.pin(item);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(byte_of(item, i, round));
  store.release(item, true);
}
bool holds(TierStore& store, std::size_t item, int round) {
  const auto bytes = store.pin(item);
  bool same = true;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    same = same && bytes[i] == static_cast<std::byte>(byte_of(item, i, round));
  store.release(item, false);
  return same;
}

template <class Expected>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "no such error";
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(TierStore, items_come_back_as_they_were_whatever_the_budget_and_the_order) {
  const Scratch scratch("order");
  for (const bool direct : {true, false})
    for (const std::size_t percent : {0, 25, 60, 100}) {
      Ledger ledger;
      ledger.limit(Tier::host, ByteCategory::optimiser, total() * percent / 100, "budget");
      TierStore store(ledger, in_folder(scratch.path(), direct), sizes());
      const std::size_t n = sizes().size();
      for (std::size_t item = 0; item < n; ++item) {
        const auto bytes = store.pin(item);
        EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
        EXPECT_EQ(bytes.size(), sizes()[item]);
        store.release(item, false);
      }
      std::mt19937 random(7);
      std::vector<int> rounds(n, -1);
      for (int step = 0; step < 200; ++step) {
        const std::size_t item = random() % n;
        if (rounds[item] >= 0) {
          ASSERT_TRUE(holds(store, item, rounds[item])) << "step " << step;
        }
        for (int later = 0; later < 3; ++later) store.fetch(random() % n);
        fill(store, item, rounds[item] = step);
        if (step % 7 == 0) store.commit(step);
      }
      for (std::size_t item = 0; item < n; ++item)
        if (rounds[item] >= 0) {
          ASSERT_TRUE(holds(store, item, rounds[item]));
        }
      // What is held: never more than the budget and six buffers.
      EXPECT_LE(ledger.peak(Tier::host, ByteCategory::optimiser), total() * percent / 100);
      EXPECT_EQ(ledger.peak(Tier::host, ByteCategory::optimiser), store.host_bytes());
      EXPECT_EQ(ledger.peak(Tier::host, ByteCategory::staging), percent == 100 ? 0 : 6 * whole_grains(10000));
      EXPECT_EQ(store.file() == nullptr, percent == 100);
      if (percent == 25) {
        EXPECT_GT(store.host_bytes(), 0u);
      }
      if (store.file()) {
        EXPECT_EQ(fs::file_size(store.file()->path()), store.file_bytes());
      }
      if (!direct && store.file()) {
        EXPECT_FALSE(store.file()->is_direct());
      }
    }
  EXPECT_TRUE(fs::is_empty(scratch.path()));  // a file goes with its store
}

TEST(TierStore, all_buffers_pinned_is_an_error_and_no_endless_wait) {
  const Scratch scratch("pinned");
  Ledger ledger;
  ledger.limit(Tier::host, ByteCategory::optimiser, 0, "budget");
  TierStore store(ledger, in_folder(scratch.path()), sizes());
  for (int item = 0; item < 6; ++item) (void)store.pin(item);
  EXPECT_THROW((void)store.pin(6), InternalError);
  store.release(1, true);
  EXPECT_EQ(store.pin(6).size(), 10000u);
}

TEST(TierStore, a_process_killed_in_mid_write_leaves_the_last_generation_whole) {
  const Scratch scratch("killed");
  int uneven = 0;
  for (int trial = 0; trial < 12; ++trial) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {  // commit round after round, telling each before it begins, until killed
      Ledger ledger;
      ledger.limit(Tier::host, ByteCategory::optimiser, 0, "budget");
      TierStore store(ledger, in_folder(scratch.path()), sizes());
      for (int round = 0;; ++round) {
        for (std::size_t item = 0; item < sizes().size(); ++item) fill(store, item, round);
        store.commit(round);
        if (::write(pipe[1], &round, sizeof round) != sizeof round) ::_exit(1);
      }
    }
    ::close(pipe[1]);
    int round = -1;
    do ASSERT_EQ(::read(pipe[0], &round, sizeof round), static_cast<ssize_t>(sizeof round));
    while (round < 3 + trial % 3);
    ::usleep(137 * trial);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (int more; ::read(pipe[0], &more, sizeof more) == sizeof more;) round = more;
    ::close(pipe[0]);

    Ledger ledger;
    ledger.limit(Tier::host, ByteCategory::optimiser, 0, "budget");
    auto options = in_folder(scratch.path());
    options.file.start = TierFile::Start::committed;
    TierStore store(ledger, options, sizes());
    const int last = store.file()->tag();
    ASSERT_TRUE(last == round || last == round + 1) << last << " after " << round;
    uneven += last % 2;
    for (std::size_t item = 0; item < sizes().size(); ++item) ASSERT_TRUE(holds(store, item, last)) << item;
    fill(store, 2, last + 1);  // and goes on
    store.commit(last + 1);
    ASSERT_TRUE(holds(store, 2, last + 1));
  }
  EXPECT_GT(uneven, 0);  // both headers were found
  EXPECT_LT(uneven, 12);
}

TEST(TierStore, a_file_without_a_whole_generation_of_these_items_is_refused) {
  const Scratch scratch("foreign");
  auto options = in_folder(scratch.path()).file;
  options.start = TierFile::Start::committed;
  EXPECT_SAYS(message_of<InputError>([&] { TierFile(options, sizes()); }),
              "holds no generation of these items");
}

TEST(DiskFile, one_without_a_name_leaves_nothing_when_its_process_is_killed) {
  const Scratch scratch("nameless");
  const DiskFile::Options options{scratch.path(), "items", true, "path", true};
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    DiskFile file(options);
    file.take_space(1 << 20, "a test's items");
    if (::write(pipe[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char told = 0;
  EXPECT_EQ(::read(pipe[0], &told, 1), 1);
  {
    DiskFile own(options);  // beside the other one
    own.take_space(1 << 20, "a test's items");
    EXPECT_EQ(own.size(), std::size_t{1} << 20);
    EXPECT_TRUE(fs::is_empty(scratch.path()));
  }
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::is_empty(scratch.path()));
  for (const int end : pipe) ::close(end);
}

TEST(TierFile, paths_that_do_not_serve_are_refused_with_one_line) {
  const Scratch scratch("refused");
  const auto file_in = [](const std::string& folder, std::size_t bytes = 10000) {
    return [=] { TierFile(TierFile::Options{{folder, "items", true, "offload.path"}}, {bytes}); };
  };
  EXPECT_EQ(message_of<InputError>(file_in("absent/folder")),
            "offload.path: absent/folder is no folder; expected one on a disk of this node");
  EXPECT_SAYS(message_of<InputError>(file_in("/dev/null")), "is no folder");
  EXPECT_SAYS(message_of<InputError>(file_in("/dev/shm")), "/dev/shm lies in memory (tmpfs)");
  EXPECT_SAYS(message_of<ResourceError>(file_in(scratch.path(), std::size_t{1} << 55)), "do not fit into");
  {
    const TierFile held({{scratch.path(), "items", true, "offload.path"}}, {10000});
    EXPECT_SAYS(message_of<InputError>(file_in(scratch.path())), "is in use by another process");
  }
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(TierFile, a_folder_that_is_read_only_or_full_is_refused_with_one_line) {
  const Scratch scratch("mounted");
  const auto file_in = [&](std::size_t bytes) {
    return [=, folder = scratch.path()] {
      TierFile(TierFile::Options{{folder, "items", true, "offload.path"}}, {bytes});
    };
  };
  {
    const Mounted disk(scratch.path(), "tmpfs", "tmpfs", 0, "size=1m");
    if (!disk.mounted()) GTEST_SKIP() << "may not mount a file system here";
    EXPECT_SAYS(message_of<ResourceError>(file_in(1000000)),
                "which has 1.05 MB free; expected a larger disk");
    EXPECT_TRUE(fs::is_empty(scratch.path()));
  }
  const Mounted disk(scratch.path(), "tmpfs", "tmpfs", MS_RDONLY, "size=9m");
  EXPECT_SAYS(message_of<InputError>(file_in(10000)), "Read-only file system");
}

}  // namespace
}  // namespace quintet
