#!/usr/bin/env python3
"""Tests of devices run where QUINTET_TEST_DEVICE says: none names the host's cores or the program's own engines by itself.

Files whose subject is the host say so here (OF_THE_HOST). Usage: check_device_tests.py SOURCE_DIR, or check_device_tests.py --self-test
"""
import os
import re
import sys

OF_THE_HOST = {
    "unit/device/device_session_test.cpp": "sessions with imitated libraries",
    "unit/device/imitation.cpp": "such a library",
    "unit/application/stage_on_device_test.cpp": "what a training takes, with such a library",
    "unit/device/space_starts.cpp": "how such a library starts",
    "cli/dpmd/bf16.txt": "what is refused before there is a device",
    "cli/dpmd/train_no_torch.txt": "a build without LibTorch",
    "cli/quintet/plan.txt": "plans, which need no device",
    "cli/quintet/submit.txt": "jobs, which need no device",
}
RULES = (
    (re.compile(r"Device::portable"), "take test::device_session() (tests/support/device/test_device.hpp)"),
    (re.compile(r"\bquintet_(?:make|device)_\w+\(|&quintet_(?:make|device)_\w+"), "take QUINTET_DEVICE_FUNCTION(...) of it"),
    (re.compile(r"\bdevice=portable\b"), "take device=$DEVICE (tests/cli/README.md)"),
)
CASES = re.compile(r"quintet_cli_cases\(\w+ FILE (\S+)([^)]*)\)")


def problems_of(path, text):
    """Of a file below tests."""
    if path in OF_THE_HOST:
        return []
    return [f"tests/{path}:{number}: {found.group()}: {rule}" for number, line in enumerate(text.splitlines(), 1)
            for pattern, rule in RULES if (found := pattern.search(line))]


def unlabelled(cmake, texts):
    """Files of cases that name $DEVICE, but are entered without the word DEVICE. @param texts {file: text}"""
    return [name for name, words in CASES.findall(cmake) if "$DEVICE" in texts.get(name, "") and "DEVICE" not in words.split()]


def check(tests):
    problems = []
    for kind in ("unit", "verification", "cli"):
        for folder, _, names in os.walk(os.path.join(tests, kind)):
            texts = {name: open(os.path.join(folder, name), encoding="utf-8").read() for name in names
                     if name.endswith((".cpp", ".hpp", ".txt", ".sh", ".py"))}
            for name, text in texts.items():
                problems += problems_of(os.path.relpath(os.path.join(folder, name), tests), text)
            problems += [f"{os.path.join(folder, name)}: names $DEVICE, say DEVICE in its quintet_cli_cases()"
                         for name in unlabelled(texts.get("CMakeLists.txt", ""), texts)]
    return problems


def self_test():
    assert len(problems_of("unit/a_test.cpp", "DeviceSession s(Device::portable, comm);\nauto e = quintet_make_device_flows(setup);")) == 2
    assert len(problems_of("cli/a/b.txt", "run: vlasov run --set device=portable")) == 1
    assert not problems_of("cli/quintet/plan.txt", "device=portable")
    assert not problems_of("unit/a_test.cpp", "QUINTET_DEVICE_FUNCTION(quintet_make_device_flows)(setup)")
    assert unlabelled("quintet_cli_cases(a FILE a.txt LABELS mpi)\nquintet_cli_cases(b FILE b.txt DEVICE)", {"a.txt": "$DEVICE", "b.txt": "$DEVICE"}) == ["a.txt"]


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test()
    else:
        found = check(os.path.join(sys.argv[1], "tests"))
        print("\n".join(found) or "all tests of devices run on any")
        sys.exit(1 if found else 0)
