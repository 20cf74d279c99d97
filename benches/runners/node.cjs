#!/usr/bin/env node
// Matchers in JavaScript as runners of `portcullis-bench` (benches/RUNNERS.md).
//
//     npm install --prefix lib robots-parser
//     portcullis-bench conform --runner "robots-parser=env NODE_PATH=lib/node_modules node benches/runners/node.cjs robots-parser"
//
// Each function takes the text of a file and the agent, and returns what answers a URL; if the library has
// them, also the crawl delay and the sitemaps.
"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const path = (url) => url.replace(/^[a-z]+:\/\/[^/?#]*/i, "").replace(/^(?!\/)/, "/");

const LIBRARIES = {
  "robots-parser": (text, agent) => {
    // It answers URLs of its own origin only.
    const rules = {};
    const of = (url) => {
      const origin = new URL(url).origin;
      return (rules[origin] ??= require("robots-parser")(origin + "/robots.txt", text));
    };
    const any = of("https://example.com/");
    return {
      allows: (url) => of(url).isAllowed(url, agent),
      delay: any.getCrawlDelay(agent),
      sitemaps: any.getSitemaps(),
    };
  },
  "robots-txt-parser": (text, agent) => {
    const rules = require("robots-txt-parser")({ userAgent: agent });
    rules.parseRobots("https://example.com", text);
    return { allows: (url) => rules.canCrawlSync(url) };
  },
  "robots-txt-guard": (text, agent) => {
    // Its parser reads a stream, and is asked before the next request.
    const { Readable } = require("node:stream");
    const parsed = require("robots-txt-parse")(Readable.from([Buffer.from(text)]));
    return parsed.then((file) => {
      const rules = require("robots-txt-guard")(file);
      return { allows: (url) => rules.isAllowed(agent, path(url)) };
    });
  },
  exclusion: async (text, agent) => {
    // Its build for `require` does not load.
    const { RobotsTxt } = await import(join(folder, "dist/index.js"));
    const rules = new RobotsTxt(text);
    return { allows: (url) => rules.isPathAllowed(path(url), agent) };
  },
  robots: (text, agent) => {
    const rules = new (require("robots").RobotsParser)();
    rules.parse(text.split(/\r\n|\r|\n/));
    rules.allowAll = rules.disallowAll = false;
    return { allows: (url) => rules.canFetchSync(agent, path(url)) };
  },
};

const name = process.argv[2];
const library = LIBRARIES[name];
const tells = name === "robots-parser" ? "delays sitemaps" : "";
// Not every package exports its package.json.
const folder = join(process.env.NODE_PATH.split(":")[0], name);
const version = JSON.parse(readFileSync(join(folder, "package.json"))).version;

let input = Buffer.alloc(0);
let wake = null;
let ended = false;
process.stdin.on("data", (data) => ((input = Buffer.concat([input, data])), wake?.()));
process.stdin.on("end", () => ((ended = true), wake?.()));
const more = () => new Promise((done) => (wake = done));

async function line() {
  for (;;) {
    const end = input.indexOf(10);
    if (end >= 0) {
      const found = input.subarray(0, end).toString();
      input = input.subarray(end + 1);
      return found;
    }
    if (ended) process.exit(0);
    await more();
  }
}

async function bytes(count) {
  while (input.length < count) {
    if (ended) process.exit(0);
    await more();
  }
  const found = input.subarray(0, count);
  input = input.subarray(count);
  return found;
}

const say = (text) => process.stdout.write(text + "\n");
const now = () => process.hrtime.bigint();

async function main() {
  let agent, texts, matchers, urls;
  for (;;) {
    const request = await line();
    const [word] = request.split(" ", 1);
    const rest = request.slice(word.length + 1);
    if (word === "portcullis-bench") {
      say(`runner ${version}\t${tells}`);
    } else if (word === "agent") {
      agent = rest;
    } else if (word === "files") {
      texts = [];
      for (let file = 0; file < Number(rest); file++) {
        const size = Number(await line());
        texts.push((await bytes(size + 1)).subarray(0, size).toString());
      }
    } else if (word === "build") {
      matchers = [];
      const start = now();
      for (const text of texts) {
        try {
          matchers.push(await library(text, agent));
        } catch (error) {
          matchers.push(null);
          say(`refused ${matchers.length - 1} ${error.name}`);
        }
      }
      say(`built ${now() - start}`);
    } else if (word === "urls") {
      urls = [];
      for (let count = 0; count < Number(rest); count++) {
        const asked = await line();
        const blank = asked.indexOf(" ");
        urls.push([Number(asked.slice(0, blank)), asked.slice(blank + 1)]);
      }
    } else if (word === "decide") {
      const start = now();
      const answers = urls.map(([file, url]) => {
        try {
          const allows = matchers[file].allows(url);
          return allows === undefined ? "?" : allows ? "1" : "0";
        } catch {
          return "?";
        }
      });
      say(`decided ${now() - start} ${answers.join("")}`);
    } else if (word === "delays") {
      say(["delays", ...matchers.map((it) => (it === null ? "?" : String(it.delay ?? "-")))].join(" "));
    } else if (word === "sitemaps") {
      for (const it of matchers) say(["sitemaps", ...(it?.sitemaps ?? [])].join(" "));
    } else {
      process.stderr.write(`node.cjs: no such request: ${word}\n`);
      process.exit(2);
    }
  }
}

main();
