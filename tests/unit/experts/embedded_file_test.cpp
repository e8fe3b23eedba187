#include "io/hdf5/embedded_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "tests/unit/experts/samples.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::experts {
namespace {

/// On every rank the numbers of the model that rank 0 has put into a registry.
TEST(EmbeddedFile, any_number_of_ranks_opens_it) {
  const Comm comm = Comm::world();
  const SharedScratch shared("embedded_registry");
  const Scratch scratch("embedded");
  const std::string path = shared / "registry.h5";
  on_root(comm, [&] { add_expert(path, water("a"), write_model(scratch, 1), false, maker()); });
  const auto whole = hdf5::File::open(comm, path + ":a");
  const auto own = hdf5::File::open(Comm::self(), path + ":a");
  for (const auto& name : whole.root().names())
    EXPECT_EQ(whole.root().read<double>(name), own.root().read<double>(name));
  EXPECT_EQ(whole.root().text_attribute("json"), own.root().text_attribute("json"));
  const auto rows = whole.root().read_rows<double>("variable_0000", 0, 1);
  EXPECT_EQ(rows, own.root().read_rows<double>("variable_0000", 0, 1));
  EXPECT_THROW(hdf5::File::open(comm, path + ":b"), InputError);
  EXPECT_THROW(hdf5::File::open(comm, path + "x:a"), InputError);
  EXPECT_THROW(hdf5::File::open_for_update(comm, path + ":a"), InputError);
}

}  // namespace
}  // namespace quintet::experts
