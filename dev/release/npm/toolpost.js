#!/usr/bin/env node
// Starts the program of this platform, which is in a package of its own.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

const name = `@toolpost/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "toolpost.exe" : "toolpost";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  const offered = Object.keys(require("../package.json").optionalDependencies);
  console.error(
    offered.includes(name)
      ? `toolpost: the package ${name} is not installed; install toolpost again, without --omit=optional or --no-optional`
      : `toolpost: there is no package for ${process.platform} on ${process.arch}; build toolpost with Go, as its README describes`,
  );
  process.exit(1);
}

// Where Node can, the program takes the place of this process: signals reach it, and
// nothing waits beside it.
if (process.execve && process.platform !== "win32") {
  try {
    process.execve(program, [program, ...process.argv.slice(2)], process.env);
  } catch {
    // the system does not offer it
  }
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => {
  console.error(`toolpost: start ${program}: ${err.message}`);
  process.exit(1);
});

// A terminal sends Ctrl-C to both processes; the program must not get it twice.
const terminal = [0, 1, 2].some((fd) => isatty(fd));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !terminal) child.kill(signal);
  });
}
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
