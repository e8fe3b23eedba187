#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/experts/registry.hpp"

/// Choice of the expert that answers a request.
namespace quintet::experts {

/// How one is chosen among those that a request lies inside.
enum class RouterKind {
  rule,     ///< the first of `order`; without an order there must be one alone
  nearest,  ///< whose range has its middle nearest
  network   ///< whom the registry's network finds most likely
};
/// Treatment of a request outside the range of every expert.
enum class Outside { refuse, nearest, fallback };

struct RouterOptions {
  RouterKind kind = RouterKind::rule;
  std::vector<std::string> by;     ///< keys whose ranges count
  std::vector<std::string> order;  ///< IDs
  Outside outside = Outside::refuse;
  std::string fallback;  ///< ID
};
void describe(Schema& schema, RouterOptions& options);

/// Section `experts`.
struct ExpertsOptions {
  std::string registry;
  RouterOptions router;
};
void describe(Schema& schema, ExpertsOptions& options);

/// Request, as a router sees it.
struct Request {
  std::string name;                                       ///< in messages
  std::map<std::string, double> values;                   ///< by key
  std::map<std::string, std::vector<std::string>> words;  ///< that an expert must know, by key
};

struct Choice {
  int expert = 0;
  bool outside = false;  ///< of its range
  std::string reason;    ///< for log, file and summary: "inside its range: Ra = 1e5 (1e4 to 1e6)"
};

/// Chooses among the experts of one application. Only those that know a request's words are candidates; of
/// these, those whose range holds the request's value of each key of `by`.
///
/// Distances, of RouterKind::nearest to the middles of ranges and of Outside::nearest to their ends:
///
///     d^2 = sum_k ((x_k - c_k)/w_k)^2,    w_k the width of all candidates' ranges of key k together,
///
/// in logarithms of keys whose ranges are positive and span a factor of 100 or more. The first by name wins
/// a tie.
class Router {
 public:
  /// Throws InputError: an ID or key that no expert has, no expert of the application.
  Router(const Registry& registry, std::string app, RouterOptions options);
  /// Throws InputError where nobody is to answer: what was asked, and what there is.
  [[nodiscard]] Choice choose(const Request& request) const;

 private:
  [[nodiscard]] Choice most_likely(const std::vector<int>& inside, const Request& request) const;
  [[nodiscard]] double distance(const Expert& expert, const Request& request,
                                const std::vector<int>& candidates, bool to_middle) const;
  [[noreturn]] void refuse(const Request& request, const std::vector<int>& candidates) const;
  [[nodiscard]] std::string text_of(const Expert& expert, const Request& request) const;
  [[nodiscard]] const Expert& expert(int number) const { return registry_.experts()[number]; }
  const Registry& registry_;
  std::string app_;
  RouterOptions options_;
  std::vector<int> experts_;  ///< of the application, those of `order` first
};

}  // namespace quintet::experts
