#!/usr/bin/env python3
"""Print quintet/inputs.pyi, which tells editors the keys of every input: generate_stubs.py BUILD/bin > quintet/inputs.pyi"""
from __future__ import annotations

import json
import keyword
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from quintet.inputs import COMMANDS  # noqa: E402

HEAD = '''# Made by python/generate_stubs.py from the schemas of the programs; a test compares it with them.
from pathlib import Path
from typing import Any, Literal, Optional, Sequence, TypedDict, Union

from typing_extensions import Required

COMMANDS: dict[str, tuple[str, ...]]

class Input:
    app: str
    command: str
    values: dict[str, Any]
    def __init__(self, app: str, command: str, values: dict[str, Any]) -> None: ...
    def write(self, file: Union[str, Path], check: Union[bool, Literal['build']] = ...) -> Path: ...
    def yaml(self) -> str: ...

class Maker: ...

def schemas(app: str) -> dict[str, Any]: ...
def owner_of(file: Path, app: Optional[str] = ..., command: Optional[str] = ...) -> tuple[str, str]: ...
def said_by(file: Path) -> tuple[Optional[str], Optional[str]]: ...
'''
SIMPLE = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}


class Stubs:
    def __init__(self) -> None:
        self.classes: list[str] = []

    def type_of(self, schema: dict[str, Any], name: str) -> str:
        if schema.get("enum", [])[:2] == [True, False]:
            return "bool"  # words such as yes are for YAML
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        if "anyOf" in schema:
            return self.union([self.type_of(one, name) for one in schema["anyOf"]])
        kinds = schema.get("type", "any")
        if isinstance(kinds, list):
            return self.union([SIMPLE.get(kind, "Any") for kind in kinds])
        if kinds == "array":
            return f"Sequence[{self.type_of(schema.get('items', {}), name)}]"
        if kinds == "object" and "properties" in schema:
            return self.section(schema, name)
        if kinds == "object":
            inner = schema.get("additionalProperties", True)
            return f"dict[str, {self.type_of(inner, name) if isinstance(inner, dict) else 'Any'}]"
        return SIMPLE.get(kinds, "Any")

    @staticmethod
    def union(types: list[str]) -> str:
        types = list(dict.fromkeys(types))
        return types[0] if len(types) == 1 else f"Union[{', '.join(types)}]"

    def section(self, schema: dict[str, Any], name: str) -> str:
        required = schema.get("required", [])
        lines = []
        for key, inner in schema["properties"].items():
            kind = self.type_of(inner, name + "".join(part.capitalize() for part in key.split("_")))
            lines.append((key, f"Required[{kind}]" if key in required else kind, inner.get("description", "")))
        names = [one.split(":")[0].split("(")[0].removeprefix("class ") for one in self.classes]
        while name in names:
            name += "_"
        if all(key.isidentifier() and not keyword.iskeyword(key) for key, _, _ in lines):
            body = [f"    {key}: {kind}  # {doc}" if doc else f"    {key}: {kind}" for key, kind, doc in lines]
            self.classes.append("\n".join([f"class {name}(TypedDict, total=False):", *(body or ["    ..."])]))
        else:
            body = [f"    {key!r}: {kind},  # {doc}" for key, kind, doc in lines]
            self.classes.append("\n".join([f"{name} = TypedDict({name!r}, {{", *body, "}, total=False)"]))
        return name

    def function(self, app: str, command: str, schema: dict[str, Any], name: str) -> str:
        required = schema.get("required", [])
        stem = app.capitalize() + "".join(part.capitalize() for part in command.split("_"))
        lines = []
        for key in sorted(schema["properties"], key=lambda key: key not in required):
            inner = schema["properties"][key]
            kind = self.type_of(inner, stem + "".join(part.capitalize() for part in key.split("_")))
            doc = f"  # {inner['description']}" if inner.get("description") else ""
            if keyword.iskeyword(key):  # given as **{"from": ...}
                lines.append(f"    # {key}: {kind}{doc}")
                continue
            lines.append(f"    {key}: {kind}{'' if key in required else ' = ...'},{doc}")
        if any(map(keyword.iskeyword, schema["properties"])):
            lines.append("    **words: Any,")
        return "\n".join([f"def {name}(", "    *,", *lines, ") -> Input: ..."])


def main() -> None:
    stubs, functions = Stubs(), []
    for app, commands in COMMANDS.items():
        schemas = json.loads(subprocess.run([Path(sys.argv[1]) / app, "schemas"], text=True, check=True, stdout=subprocess.PIPE).stdout)
        if set(schemas) != set(commands):
            sys.exit(f"{app} has the commands {sorted(schemas)}; python/quintet/inputs.py names {sorted(commands)}")
        for command in commands:
            functions.append(stubs.function(app, command, schemas[command], f"{app}_{command}"))
    print("\n".join([HEAD, *stubs.classes, "", *functions, "", "vlasov = vlasov_run"]))


if __name__ == "__main__":
    main()
