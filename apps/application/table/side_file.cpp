#include "apps/application/table/side_file.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

bool goes_on_with(Context& context, const std::string& name) {
  if (!context.restart_file()) return false;
  const std::string path = context.path(name);
  if (!context.comm().any(context.comm().is_root() && std::filesystem::exists(path))) {
    if (context.recorded_rows(name).value_or(0) > 0)
      context.lose(name, "is not there any more; its frames begin here");
    return false;
  }
  const auto damage = hdf5::damage(context.comm(), path);
  if (damage) context.put_aside(name, *damage);
  return !damage;
}

FrameCount::FrameCount(Context& context, const std::string& name, std::uint64_t n)
    : n_(std::make_shared<std::uint64_t>(n)) {
  context.record_rows(name, [n = n_] { return *n; });
  const auto recorded = context.recorded_rows(name).value_or(0);
  const bool is_told = n == 0 && !context.doubt_of(name).empty();  // put aside, or not there
  if (n < recorded && !is_told)
    context.lose(name, fmt::format("only {} of the {} that the checkpoint counts are left; the others "
                                   "are lost",
                                   n, counted(recorded, "frame")));
}

}  // namespace quintet
