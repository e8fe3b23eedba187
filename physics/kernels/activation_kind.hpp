#pragma once

namespace quintet {

/// The activation functions that models may have.
enum class Activation { linear, tanh, relu, relu6, softplus, sigmoid, silu, gelu };

}  // namespace quintet
