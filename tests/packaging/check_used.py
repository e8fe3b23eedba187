#!/usr/bin/env python3
"""A file includes what it uses of the standard library, fmt, Kokkos, GoogleTest and what ATen leaves out: itself or through headers of the project.

Precompiled headers (cmake/QuintetPrecompiled.cmake) hide a forgotten include from the compiler, until somebody builds
without them. Usage: check_used.py SOURCE_DIR, or check_used.py --self-test
"""
import functools
import os
import re
import sys

FOLDERS = ("io", "physics", "surrogates", "apps", "bridges", "tests")
# Header: what it is for, as a pattern; names that come with nearly every header (size_t, move, pair) are left out.
USES = {
    "algorithm": r"std::(?:max|min)\(\{|std::(sort|stable_sort|find_if|find_if_not|any_of|all_of|none_of|copy_n|fill_n|clamp|min_element|max_element|"
                 r"minmax_element|lower_bound|upper_bound|transform|generate|unique|remove_if|count_if|reverse|nth_element|"
                 r"partial_sort|set_difference|ranges::\w+)\b",
    "array": r"std::array\b",
    "atomic": r"std::atomic\b",
    "bit": r"std::(bit_cast|popcount|countl_zero|countr_zero|has_single_bit|bit_ceil|bit_floor|bit_width|endian|rotl|rotr)\b",
    "charconv": r"std::(from|to)_chars\b",
    "chrono": r"std::chrono\b",
    "cmath": r"std::(sqrt|exp|log|log2|log10|pow|sin|cos|tan|tanh|sinh|cosh|atan2|hypot|floor|ceil|round|lround|llround|isfinite|"
             r"isnan|fma|cbrt|erf|erfc|expm1|log1p|fmod|remainder|ldexp|frexp|nextafter)\b",
    "complex": r"std::complex\b",
    "concepts": r"std::(integral|signed_integral|unsigned_integral|floating_point|same_as|convertible_to|derived_from|invocable)\b",
    "condition_variable": r"std::condition_variable(_any)?\b",
    "cstdint": r"std::u?int(8|16|32|64)_t\b",
    "cstring": r"std::(memcpy|memmove|memset|memcmp|strcmp|strlen|strerror)\b",
    "deque": r"std::deque\b",
    "filesystem": r"std::filesystem\b",
    "fstream": r"std::[io]?fstream\b",
    "functional": r"std::(function|reference_wrapper|ref|cref|hash|plus|multiplies|greater|less)\b",
    "future": r"std::(async|future|promise|packaged_task|shared_future)\b",
    "limits": r"std::numeric_limits\b",
    "map": r"std::(multi)?map\b",
    "memory": r"std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(mutex|lock_guard|unique_lock|scoped_lock|once_flag)\b",
    "numbers": r"std::numbers\b",
    "numeric": r"std::(accumulate|iota|inner_product|partial_sum|exclusive_scan|inclusive_scan|reduce|transform_reduce|gcd|lcm)\b",
    "optional": r"std::(optional|nullopt)\b",
    "random": r"std::(mt19937(_64)?|uniform_(int|real)_distribution|normal_distribution|random_device)\b",
    "set": r"std::(multi)?set\b",
    "span": r"std::span\b",
    "sstream": r"std::[io]?stringstream\b",
    "string": r"std::(string|to_string|stoi|stod|getline)\b",
    "string_view": r"std::string_view\b",
    "thread": r"std::(thread|jthread|this_thread)\b",
    "tuple": r"std::(tuple|tie|make_tuple)\b",
    "type_traits": r"std::(is_\w+_v|conditional_t|enable_if_t|decay_t|remove_\w+_t|invoke_result_t|is_same)\b",
    "unordered_map": r"std::unordered_map\b",
    "variant": r"std::(variant|visit|get_if|holds_alternative|monostate)\b",
    "vector": r"std::vector\b",
    "fmt/format.h": r"fmt::(format|format_to|print|memory_buffer|to_string|runtime)\b",
    "fmt/ranges.h": r"fmt::join\b",
    "Kokkos_Core.hpp": r"\bKokkos::|KOKKOS_\w*(FUNCTION|LAMBDA)",
    "ATen/core/grad_mode.h": r"\bat::(AutoGradMode|NoGradGuard)\b",
    "gtest/gtest.h": r"\b(EXPECT|ASSERT)_\w+\(|\bTEST(_F|_P)?\(",
}
# What a header surely brings along.
BRINGS = {
    "fmt/ranges.h": {"fmt/format.h"}, "fstream": {"string"}, "sstream": {"string"}, "filesystem": {"string", "string_view"},
    "string": {"string_view"}, "gtest/gtest.h": {"string", "vector", "memory", "set", "map", "tuple", "type_traits", "functional"},
    "Kokkos_Core.hpp": {"type_traits", "cstdint", "limits"}, "thread": {"chrono"}, "condition_variable": {"chrono", "mutex"},
    "future": {"mutex", "thread", "chrono", "memory", "functional"}, "regex": {"string", "vector", "map", "memory"},
    "torch/torch.h": {"ATen/core/grad_mode.h"}, "torch/csrc/autograd/autograd.h": {"ATen/core/grad_mode.h"},
    "iostream": {"string"}, "istream": {"string"}, "ostream": {"string"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
PATTERNS = {header: re.compile(pattern) for header, pattern in USES.items()}


def unseen(text, included):
    """Headers for what `text` uses that are not among those it sees."""
    seen = set(included)
    for header in included:
        seen |= BRINGS.get(header, set())
    code = NO_CODE.sub(" ", text)
    for header, pattern in PATTERNS.items():
        found = None if header in seen else pattern.search(code)
        if found:
            yield header, found.group(0)


def check(source_dir):
    @functools.cache
    def text_of(path):
        with open(os.path.join(source_dir, path), encoding="utf-8") as stream:
            return stream.read()

    @functools.cache
    def is_ours(path):
        return os.path.isfile(os.path.join(source_dir, path))

    @functools.cache
    def included_by(path):
        """What a file of ours includes itself, those beside it by their path from the root."""
        found = []
        for included in INCLUDE.findall(text_of(path)):
            beside = os.path.join(os.path.dirname(path), included)
            found.append(beside if "/" not in included and is_ours(beside) else included)
        return found

    @functools.cache
    def closure(path):
        """All that an include of `path` brings: its own includes, and theirs where they are ours."""
        seen, todo = set(), [path]
        while todo:
            for included in included_by(todo.pop()):
                if included not in seen:
                    seen.add(included)
                    if is_ours(included):
                        todo.append(included)
        return seen

    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(source_dir, folder)):
            for name in names:
                if name.endswith((".hpp", ".cpp")):
                    path = os.path.relpath(os.path.join(directory, name), source_dir)
                    yield path, [f"{path}: uses {use} without <{header}>" for header, use in unseen(text_of(path), closure(path))]


def self_test():
    assert list(unseen("std::vector<int> v;", {"map"})) == [("vector", "std::vector")]
    assert not list(unseen("std::vector<int> v;", {"vector"})) and not list(unseen("// std::vector", set()))
    assert not list(unseen('f("std::map");', set())) and list(unseen('f("x", std::map<int, int>());', set()))
    assert not list(unseen("std::string s;", {"sstream"})) and list(unseen("Kokkos::View<double*> v;", {"vector"}))
    assert list(unseen("EXPECT_EQ(1, 1);", set())) and list(unseen("KOKKOS_INLINE_FUNCTION int f();", set()))


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    found = list(check(sys.argv[1]))
    problems = [problem for _, lines in found for problem in lines]
    print("\n".join(sorted(problems)))
    print(f"{len(found)} files, {len(problems)} problems")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    sys.exit(main())
