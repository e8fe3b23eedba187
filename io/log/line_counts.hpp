#pragma once

#ifdef QUINTET_LINE_COUNTS
extern "C" void __gcov_dump();
extern "C" void __gcov_reset();
#endif

namespace quintet {

/// Write how often each line has run, in a build of preset coverage: of a process that ends without exit(),
/// nothing else does.
inline void write_line_counts() {
#ifdef QUINTET_LINE_COUNTS
  __gcov_dump();
  __gcov_reset();  // else a second call writes nothing
#endif
}

}  // namespace quintet
