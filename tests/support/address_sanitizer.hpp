#pragma once

/// Whether the address sanitizer is compiled in: g++ defines a macro, clang has a feature.
#if defined(__SANITIZE_ADDRESS__)
#define QUINTET_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QUINTET_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef QUINTET_ADDRESS_SANITIZER
#define QUINTET_ADDRESS_SANITIZER 0
#endif
