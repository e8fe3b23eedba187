#pragma once

namespace quintet {

/// From now on torch's large tensors (CPU) lie in the process's PageArena. Once is enough.
void use_page_arena();

}  // namespace quintet
