"""Settings files as people have them: each a JSON object with something that an edit could disturb."""

from __future__ import annotations

import json

SHAPES: dict[str, bytes] = {
    "empty file": b"",
    "blank": b"\n",
    "empty object": b"{}",
    "empty object over lines": b"{\n}\n",
    "two spaces": b'{\n  "model": "opus",\n  "env": {\n    "A": "1"\n  }\n}\n',
    "no end": b'{\n  "model": "opus"\n}',
    "tabs": b'{\n\t"model": "opus",\n\t"permissions": {\n\t\t"allow": ["Bash(ls)"]\n\t}\n}\n',
    "eight spaces": b'{\n        "model": "opus",\n        "env": {\n                "A": "1"\n        }\n}\n',
    "crlf": b'{\r\n  "model": "opus",\r\n  "hooks": {}\r\n}\r\n',
    "bom": b'\xef\xbb\xbf{\n  "model": "opus"\n}\n',
    "bom and crlf": b'\xef\xbb\xbf{\r\n\t"model": "opus"\r\n}',
    "one line": b'{"model":"opus","env":{"A":"1"}}',
    "one airy line": b'{ "model": "opus", "env": { "A": "1" } }\n',
    "trailing commas": b'{\n  "model": "opus",\n  "env": {"A": "1",},\n}\n',
    "comments": (
        b'// mine\n{\n  // which model\n  "model": "opus", // the large one\n  /* for\n     builds */\n'
        b'  "env": {"A": "1"} // "hooks": {\n  // the end\n}\n// really\n'
    ),
    "comment in empty hooks": b'{\n  "hooks": {\n    // none yet\n  },\n  "mcpServers": { /* none */ }\n}\n',
    "non-ascii": '{\n  "owner": "Zoë 日本語 🚀",\n  "ключ": "\\u00e9"\n}\n'.encode(),
    "others' hooks in the same events": (
        b'{\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": [\n'
        b'          {"type": "command", "command": "say done"}\n        ]\n      }\n    ],\n'
        b'    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "date"}]}],\n'
        b'    "stop": [\n      {"command": "say done"}\n    ],\n    "beforeSubmitPrompt": [{"command": "date"}]\n  },\n'
        b'  "model": "opus"\n}\n'
    ),
    "others' hooks elsewhere": (
        b'{\n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "Bash", "hooks": [ { "type": "command",\n'
        b'        "command": "check" } ] }\n    ]\n  }\n}\n'
    ),
    "empty events": b'{\n  "hooks": {\n    "Stop": [],\n    "stop": [ ],\n    "BeforeAgent": [\n    ]\n  }\n}\n',
    "others' servers": b'{\n  "mcpServers": {\n    "git": {"command": "git-mcp"}\n  },\n  "mcp": {}\n}\n',
    "a key twice": b'{\n  "model": "a",\n  "model": "b",\n  "hooks": {"Stop": []},\n  "hooks": {}\n}\n',
    "mixed line ends": b'{\r\n  "model": "opus",\n  "env": {\r\n    "A": "1"\n  }\r\n}\n',
    "old line ends": b'{\r  // mine\r  "a": 1, // of mine\r  "hooks": {\r  }\r}\r',
    "braces in strings": b'{"a":"} // { /* \\" ] ,}", "b":"*/", "c":["// not", "/*"]}',
    "comments everywhere": b'/* a */ // b\n{ /*x*/ "a" /*y*/ : /*z*/ 1 /*w*/ , /*v*/ }// end',
    "comment in an empty list": b'{"hooks":{"Stop":[ // none\n ],"stop":[/**/]}}\n',
    "commas first": b'{ "a": 1\n, "hooks": {"Stop": []\n}\n}\n',
    "escaped names": b'{"h\\u006foks":{"St\\u006fp":[]},"\\udfff":"\\ud800"}',
    "entries of no known shape": b'{"hooks":{"Stop":[null,1,"x",[],{"hooks":null},{"hooks":[null,{"command":5}]}]}}',
    "numbers as names": b'{"1": 2, "hooks": {"0": [], "Stop": []}}',
    "deep": json.dumps({"a": [[{"b": [{"c": {"d": [1, 2, {"e": None}]}}]}]]}, indent=1).encode(),
}

UNREADABLE: dict[str, bytes] = {
    "cut off": b'{"model": "opus"',
    "a list": b"[]",
    "two documents": b"{} {}",
    "single quotes": b"{'a': 1}",
    "no quotes": b"{a: 1}",
    "hash comment": b'{"a": 1 # no\n}',
    "open comment": b'{"a": 1} /* no',
    "two commas": b'{"a": 1,,}',
    "only a comma": b'{"hooks": {,}}',
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "latin-1": b'{"a": "caf\xe9"}',
    "yaml": b"hooks:\n  Stop: []\n",
    "conflict markers": b'{\n<<<<<<< ours\n  "a": 1\n=======\n  "a": 2\n>>>>>>> theirs\n}\n',
    "hooks is a list": b'{"hooks": []}',
    "hooks is nothing": b'{"hooks": null}',
    "an event is an object": b'{"hooks": {"Stop": {}}}',
    "no number": b'{"a": NaN, "hooks": {}}',
    "a null byte": b'{"a": "\x00"}',
    "a form feed": b'{\x0c"a": 1}',
    "nothing but nesting": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}
