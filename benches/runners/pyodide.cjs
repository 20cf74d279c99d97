#!/usr/bin/env node
// A CPython in WebAssembly, which runs `python.py robotparser`: `urllib.robotparser` of versions of Python that
// the system does not have.
//
//     npm install --prefix lib pyodide@0.29.5
//     portcullis-bench conform --runner "robotparser-3.13=env NODE_PATH=lib/node_modules node benches/runners/pyodide.cjs robotparser"
"use strict";

const { readFileSync, readSync, writeSync } = require("node:fs");
const { join } = require("node:path");
const { loadPyodide } = require("pyodide");

async function main() {
  const python = await loadPyodide();
  python.setStdin({ read: (buffer) => readSync(0, buffer), isatty: false });
  python.setStdout({ write: (buffer) => writeSync(1, buffer), isatty: false });
  const script = readFileSync(join(__dirname, "python.py"), "utf8");
  python.globals.set("library", process.argv[2]);
  python.runPython(`import sys; sys.argv = ["python.py", library]`);
  python.runPython(script);
}

main();
