#!/usr/bin/env python3
"""Inner loops of products keep their sums in registers: no vector goes to the stack, and factors are spread over a
vector without an addition (x + 0 is not x for -0, so that a compiler must keep it).

check_object_code.py OBJDUMP FUNCTION[,FUNCTION...] OBJECTS...   or   check_object_code.py --self-test
Of each object whose functions have one of the names, all innermost loops with four or more multiply-adds of vectors.
"""
import re
import subprocess
import sys

INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
JUMP = re.compile(r"^j\w+\s+([0-9a-f]+)\b")
MULTIPLY_ADD = re.compile(r"^(vfn?m(add|sub)\d+p[sd]|vdpbf16ps)\b")
ADDITION = re.compile(r"^v(add|sub)s[sd]\b")
SPILL = re.compile(r"^v.*%[xyz]mm.*\(%r[sb]p\)|^v.*\(%r[sb]p\).*%[xyz]mm")


def functions(disassembly):
    """(name, [(address, instruction)])."""
    for block in re.split(r"\n\n+", disassembly):
        lines = block.strip().splitlines()
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", lines[0]) if lines else None
        if head:
            found = (INSTRUCTION.match(line) for line in lines[1:])
            yield head.group(1), [(int(m.group(1), 16), m.group(2)) for m in found if m]


def innermost_loops(code):
    """The instructions of each loop that holds no other."""
    at = {address: i for i, (address, _) in enumerate(code)}
    spans = []
    for i, (_, text) in enumerate(code):
        jump = JUMP.match(text)
        if jump and at.get(int(jump.group(1), 16), i + 1) <= i:
            spans.append((at[int(jump.group(1), 16)], i))
    for first, last in spans:
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in spans):
            yield [text for _, text in code[first:last + 1]]


def check(disassembly, names):
    """Findings, and how many loops were looked at."""
    findings, looked_at = [], 0
    for name, code in functions(disassembly):
        if not any(re.search(rf"\b{wanted}[<(]", name) for wanted in names):
            continue
        for loop in innermost_loops(code):
            if sum(bool(MULTIPLY_ADD.match(text)) for text in loop) < 4:
                continue
            looked_at += 1
            for what, pattern in (("a sum or factor in memory", SPILL), ("an addition to spread a factor", ADDITION)):
                bad = [text for text in loop if pattern.match(text)]
                if bad:
                    findings.append(f"{name.replace('(anonymous namespace)::', '')}: {what}, {len(bad)} times: {bad[0]}")
    return findings, looked_at


def self_test():
    clean = """0000 <void tile<float, 8, 3>(float const*)>:
   10:\tvmovups (%rsi),%zmm1
   14:\tvfmadd231ps (%rdi){1to16},%zmm1,%zmm2
   18:\tvfmadd231ps %zmm1,%zmm0,%zmm3
   1c:\tvfmadd231ps %zmm1,%zmm0,%zmm4
   20:\tvfmadd231ps %zmm1,%zmm0,%zmm5
   24:\tjne    10 <void tile<float, 8, 3>(float const*)>
   26:\tvmovups %zmm5,0x40(%rsp)
"""
    spilt = clean.replace("vfmadd231ps %zmm1,%zmm0,%zmm5", "vfmadd213ps 0x40(%rsp),%zmm0,%zmm5")
    added = clean.replace("vmovups (%rsi),%zmm1", "vaddss (%rsi),%xmm0,%xmm1")
    assert check(clean, ["tile"]) == ([], 1)
    assert check(clean, ["other"]) == ([], 0)
    assert len(check(spilt, ["tile"])[0]) == 1 and len(check(added, ["tile"])[0]) == 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    objdump, names, objects = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
    findings, looked_at = [], 0
    for path in objects:
        output = subprocess.run([objdump, "-dC", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
        some, loops = check(output.stdout, names)
        findings += some
        looked_at += loops
    if looked_at == 0:
        print("no loop of vector multiply-adds: another processor, or no optimisation")
        return 77
    print("\n".join(findings) or f"{looked_at} loops are clean")
    return 1 if findings else 0


sys.exit(main())
