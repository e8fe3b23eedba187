#!/usr/bin/env python3
"""CITATION.cff is what cffconvert and GitHub take: the keys of the Citation File Format 1.2.0, in its forms, the version of the project.

The YAML is read by a small reader of its own (maps, lists, flow maps, folded text). Usage: check_citation.py SOURCE, or --self-test.
"""
import os
import re
import sys

KEYS = {"cff-version", "message", "type", "title", "authors", "version", "license", "abstract", "keywords", "references", "doi",
        "date-released", "identifiers", "repository-code", "url", "preferred-citation", "contact", "commit"}
REQUIRED = ("cff-version", "message", "title", "authors")
PERSON = {"family-names", "given-names", "name-particle", "name-suffix", "alias", "affiliation", "orcid", "email", "website"}
ENTITY = {"name", "website", "email", "address", "city", "country"}
REFERENCE_TYPES = {"article", "book", "conference-paper", "generic", "software", "report", "thesis", "proceedings", "data"}


def split_flow(text):
    """{a: b, c: d} as a dictionary."""
    pairs = re.findall(r'([\w-]+):\s*("[^"]*"|[^,}]*)', text.strip("{} "))
    return {key: value.strip().strip('"') for key, value in pairs}


def read(text):
    """The file as a dictionary: texts, lists of texts, lists of dictionaries whose values are texts or lists."""
    top, key, item, inner = {}, None, None, None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if "\t" in line:
            raise ValueError(f"line {number}: a tab")
        indent, body = len(line) - len(line.lstrip()), line.strip()
        if indent == 0:
            key, _, value = body.partition(":")
            if key in top:
                raise ValueError(f"line {number}: {key} is given twice")
            top[key], item, inner = value.strip().strip('"'), None, None
        elif body.startswith("- ") and indent == 2:
            if not isinstance(top[key], list):
                top[key] = []
            word, colon, value = body[2:].partition(": ")
            if body[2:].startswith("{"):
                top[key].append(split_flow(body[2:]))
            elif colon and not body[2:].startswith('"'):
                item, inner = {word: value.strip().strip('"')}, None
                top[key].append(item)
            else:
                top[key].append(body[2:].strip('"'))
        elif body.startswith("- ") and item is not None and inner:
            item[inner].append(split_flow(body[2:]))
        elif item is not None and ":" in body:
            word, _, value = body.partition(":")
            item[word] = value.strip().strip('"') or []
            inner = word if item[word] == [] else None
        elif isinstance(top.get(key), str):  # folded text
            top[key] = (top[key].strip(">-") + " " + body).strip()
        else:
            raise ValueError(f"line {number}: not understood: {body}")
    return top


def people_problems(where, people):
    if not isinstance(people, list) or not people:
        yield f"{where}: no authors"
        return
    for person in people:
        if not isinstance(person, dict) or not (set(person) <= PERSON or set(person) <= ENTITY):
            yield f"{where}: {person} is neither a person nor an entity"


def problems(text, version):
    try:
        citation = read(text)
    except ValueError as error:
        yield str(error)
        return
    yield from (f"{key} is missing" for key in REQUIRED if not citation.get(key))
    yield from (f"{key} is no key of the format" for key in citation if key not in KEYS)
    if citation.get("cff-version") != "1.2.0":
        yield "cff-version must be 1.2.0"
    if citation.get("type", "software") not in ("software", "dataset"):
        yield f"type {citation['type']}: software or dataset"
    if citation.get("version") != version:
        yield f"version {citation.get('version')}: the project's is {version}"
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", citation.get("license", "")):
        yield "license must be an SPDX name"
    yield from people_problems("authors", citation.get("authors"))
    for reference in citation.get("references", []):
        where = reference.get("title", "a reference without title")
        if reference.get("type") not in REFERENCE_TYPES:
            yield f"{where}: type {reference.get('type')}"
        yield from people_problems(where, reference.get("authors"))
        if "doi" in reference and not re.fullmatch(r"10\.\d{4,9}(\.\d+)?/\S+", reference["doi"]):
            yield f"{where}: {reference['doi']} is no DOI"


def project_version(source):
    return re.search(r"project\(Quintet VERSION ([\d.]+)", open(os.path.join(source, "CMakeLists.txt"), encoding="utf-8").read()).group(1)


def self_test():
    good = 'cff-version: 1.2.0\nmessage: "m"\ntitle: "t"\nauthors:\n  - name: "us"\nversion: 0.1.0\nlicense: MIT\nreferences:\n' \
           '  - type: article\n    title: "x"\n    authors:\n      - {family-names: E, given-names: W}\n    doi: 10.1103/PhysRevLett.1\n'
    assert not list(problems(good, "0.1.0")), list(problems(good, "0.1.0"))
    for old, new in (("1.2.0", "1.1.0"), ('message: "m"\n', ""), ("license: MIT", "licence: MIT"), ("  - name: \"us\"\n", ""),
                     ("version: 0.1.0", "version: 0.2.0"), ("type: article", "type: paper"), ("10.1103/", "http://"),
                     ("{family-names: E", "{surname: E"), ("title: \"t\"\n", "title: \"t\"\ntitle: \"u\"\n")):
        assert old in good and list(problems(good.replace(old, new, 1), "0.1.0")), new


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    source = sys.argv[1]
    found = list(problems(open(os.path.join(source, "CITATION.cff"), encoding="utf-8").read(), project_version(source)))
    print("\n".join(found) or "CITATION.cff is valid")
    return 1 if found else 0


sys.exit(main())
