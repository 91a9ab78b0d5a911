// What the browser tests share: one browser, pages that report what went wrong
// in them, and axe.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export const base = process.env.WARMROUTE_UI;
if (!base) throw new Error("WARMROUTE_UI is the address of a dashboard, ending in /ui/");

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** A page whose faults are collected: errors, console errors, broken policy, failed loads. */
export async function open(browser, { scheme = "light", scripts = true, width = 1360, height = 900 } = {}) {
  const context = await browser.newContext({ colorScheme: scheme, javaScriptEnabled: scripts, viewport: { width, height }, locale: "en-GB", reducedMotion: "reduce" });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(`error: ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("requestfailed", (request) => {
    if (request.failure()?.errorText !== "net::ERR_ABORTED") faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(base).origin) && !request.url().startsWith("data:")) faults.push(`elsewhere: ${request.url()}`);
  });
  return { page, faults, close: () => context.close() };
}

/** What axe finds, a line each. Evaluated by the test, it is not under the page's policy. */
export async function found(page) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  if (result.passes.length < 10) throw new Error("axe looked at next to nothing");
  return result.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html} ${n.failureSummary}`));
}

/** Whether the page is wider than its window. */
export function overflows(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
