#pragma once

namespace quintet {

/// Place torch's large tensors (CPU) in the process's PageArena from now on. Once is enough.
void use_page_arena();

}  // namespace quintet
