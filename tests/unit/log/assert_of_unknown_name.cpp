#include "io/log/error.hpp"

// Must not compile in any build: an assertion that only some builds compile rots unseen in the others.
void assert_of_unknown_name() { QUINTET_ASSERT(no_such_name == 0, "{}", 1); }
