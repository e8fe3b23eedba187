#include "io/tiers/ledger.hpp"

#include <algorithm>
#include <utility>

#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr NameRow<Tier> tier_rows[] = {{Tier::host, "host"}, {Tier::file, "file"}};
constexpr NameRow<ByteCategory> category_rows[] = {
    {ByteCategory::parameters, "parameters"}, {ByteCategory::gradients, "gradients"},
    {ByteCategory::optimiser, "optimiser"},   {ByteCategory::activations, "activations"},
    {ByteCategory::staging, "staging"},       {ByteCategory::workspace, "workspace"}};

template <class Rows, class Value>
const char* name_of(const Rows& rows, Value value) {
  return std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return row.value == value; })
      ->name;
}

}  // namespace

std::span<const NameRow<Tier>> tiers() { return tier_rows; }
std::span<const NameRow<ByteCategory>> byte_categories() { return category_rows; }

std::string text_of_bytes(std::size_t bytes) {
  const double value = bytes;
  if (value < 1e3) return fmt::format("{} B", bytes);
  if (value < 1e6) return fmt::format("{:.3g} kB", value / 1e3);
  if (value < 1e9) return fmt::format("{:.3g} MB", value / 1e6);
  return fmt::format("{:.3g} GB", value / 1e9);
}

Ledger::Claim& Ledger::Claim::operator=(Claim&& other) noexcept {
  std::swap(ledger_, other.ledger_);
  std::swap(tier_, other.tier_);
  std::swap(category_, other.category_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Ledger::Claim::~Claim() {
  if (ledger_) ledger_->note(tier_, category_, -static_cast<std::int64_t>(bytes_));
}

void Ledger::limit(Tier tier, ByteCategory category, std::size_t bytes, const std::string& key) {
  const std::lock_guard lock(mutex_);
  at(tier, category).limit = bytes;
  at(tier, category).key = key;
}

std::optional<std::size_t> Ledger::room(Tier tier, ByteCategory category) const {
  const std::lock_guard lock(mutex_);
  const Account& account = at(tier, category);
  if (!account.limit) return std::nullopt;
  const std::size_t held = std::max<std::int64_t>(0, account.current);
  return *account.limit > held ? *account.limit - held : 0;
}

Ledger::Claim Ledger::claim(Tier tier, ByteCategory category, std::size_t bytes, std::string_view what,
                            std::string_view help) {
  const std::lock_guard lock(mutex_);
  const Account& account = at(tier, category);
  const std::size_t held = std::max<std::int64_t>(0, account.current);
  if (account.limit && (held > *account.limit || bytes > *account.limit - held))
    throw ResourceError(
        fmt::format("{}: {} of {} ({} bytes) do not fit into {} on the {} tier, of which {} "
                    "are taken; {}",
                    account.key, text_of_bytes(bytes), what, bytes, text_of_bytes(*account.limit),
                    name_of(tier_rows, tier), text_of_bytes(held), help));
  add(tier, category, bytes);
  Claim claim;
  claim.ledger_ = this;
  claim.tier_ = tier;
  claim.category_ = category;
  claim.bytes_ = bytes;
  return claim;
}

void Ledger::note(Tier tier, ByteCategory category, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  add(tier, category, bytes);
}

void Ledger::add(Tier tier, ByteCategory category, std::int64_t bytes) {
  Account& account = at(tier, category);
  account.current += bytes;
  account.peak = std::max(account.peak, account.current);
  Sum& sum = sums_[static_cast<std::size_t>(tier)];
  sum.current += bytes;
  sum.peak = std::max(sum.peak, sum.current);
}

std::size_t Ledger::current(Tier tier, ByteCategory category) const {
  const std::lock_guard lock(mutex_);
  return std::max<std::int64_t>(0, at(tier, category).current);
}

std::size_t Ledger::peak(Tier tier, ByteCategory category) const {
  const std::lock_guard lock(mutex_);
  return at(tier, category).peak;
}

std::size_t Ledger::peak(Tier tier) const {
  const std::lock_guard lock(mutex_);
  return sums_[static_cast<std::size_t>(tier)].peak;
}

}  // namespace quintet
