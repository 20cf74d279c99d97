// Takes the URLs on standard input with Crawlee for JavaScript, as robots.txt lets the agent in the argument:
// for `crawlers.py`.
"use strict";

const { readFileSync } = require("node:fs");
const { Configuration, HttpCrawler, log } = require("crawlee");

log.setLevel(log.LEVELS.OFF);
const crawler = new HttpCrawler(
  {
    respectRobotsTxtFile: { userAgent: process.argv[2] },
    maxRequestRetries: 0,
    additionalMimeTypes: ["text/plain"],
    requestHandler: async () => {},
  },
  new Configuration({ persistStorage: false }),
);
crawler.run(readFileSync(0, "utf8").split("\n"));
