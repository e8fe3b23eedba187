#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace quintet {

/// Where bytes lie.
enum class Tier { host, file };
/// Use of bytes.
enum class ByteCategory { parameters, gradients, optimiser, activations, staging, workspace };

template <class Value>
struct NameRow {
  Value value;
  const char* name;
};
[[nodiscard]] std::span<const NameRow<Tier>> tiers();
[[nodiscard]] std::span<const NameRow<ByteCategory>> byte_categories();

/// "1.5 GB": powers of ten, three digits.
[[nodiscard]] std::string text_of_bytes(std::size_t bytes);

/// Bytes that a rank holds by tier and category, now and at most; refuses, before anybody allocates, what
/// goes beyond a limit. May be called from any thread.
class Ledger {
 public:
  /// Bytes that are counted as long as this lives.
  class Claim {
   public:
    Claim() = default;
    Claim(Claim&& other) noexcept { *this = std::move(other); }
    Claim& operator=(Claim&& other) noexcept;
    ~Claim();

   private:
    friend class Ledger;
    Ledger* ledger_ = nullptr;
    Tier tier_{};
    ByteCategory category_{};
    std::size_t bytes_ = 0;
  };

  /// No more than this. @param key of the input file that says so
  void limit(Tier tier, ByteCategory category, std::size_t bytes, const std::string& key);
  /// How much more fits; no value: anything.
  [[nodiscard]] std::optional<std::size_t> room(Tier tier, ByteCategory category) const;
  /// Count bytes that are about to be allocated. Throws ResourceError beyond the limit, with both numbers.
  /// @param what the bytes are @param help what to do where they do not fit
  [[nodiscard]] Claim claim(Tier tier, ByteCategory category, std::size_t bytes, std::string_view what,
                            std::string_view help);
  /// Count what others have allocated (bytes > 0) or freed.
  void note(Tier tier, ByteCategory category, std::int64_t bytes);

  [[nodiscard]] std::size_t current(Tier tier, ByteCategory category) const;
  [[nodiscard]] std::size_t peak(Tier tier, ByteCategory category) const;
  /// Peak of the sum over all categories (bytes).
  [[nodiscard]] std::size_t peak(Tier tier) const;

 private:
  struct Account {
    std::int64_t current = 0, peak = 0;
    std::optional<std::size_t> limit;
    std::string key;
  };
  struct Sum {
    std::int64_t current = 0, peak = 0;
  };
  static constexpr std::size_t n_tiers = 2, n_categories = 6;
  [[nodiscard]] Account& at(Tier tier, ByteCategory category) {
    return accounts_[static_cast<std::size_t>(tier)][static_cast<std::size_t>(category)];
  }
  [[nodiscard]] const Account& at(Tier tier, ByteCategory category) const {
    return const_cast<Ledger*>(this)->at(tier, category);
  }
  void add(Tier tier, ByteCategory category, std::int64_t bytes);

  mutable std::mutex mutex_;
  std::array<std::array<Account, n_categories>, n_tiers> accounts_;
  std::array<Sum, n_tiers> sums_;
};

}  // namespace quintet
