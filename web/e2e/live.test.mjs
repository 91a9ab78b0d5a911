// What the scripts add: fresh figures in place, a pause, and a plot that follows
// its table.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { base, launch, open } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Asks the server of the test to book one more turn. */
async function more() {
  const answer = await fetch(new URL("/more", base), { method: "POST" });
  assert.equal(answer.status, 204);
}

const turns = (page) => page.locator('.card[data-key="turns"] .value').innerText();

test("a booked turn appears in place", { timeout: 120_000 }, async () => {
  const { page, faults, close } = await open(browser);
  try {
    await page.goto(base);
    const status = page.getByRole("status");
    await status.getByText("Live", { exact: true }).waitFor();
    const was = Number(await turns(page));
    const canvas = await page.locator(".plot canvas").elementHandle();
    const table = await page.locator("#series-details").elementHandle();
    await page.locator("#series-details summary").click();
    await more();
    await page.waitForFunction((n) => document.querySelector('.card[data-key="turns"] .value')?.textContent?.trim() === String(n), was + 1);
    assert.ok(await canvas.evaluate((node) => node.isConnected), "the plot was thrown away");
    assert.ok(await table.evaluate((node) => node.isConnected && node.open), "the open table was closed");
    assert.equal(await page.locator('section[aria-labelledby="recent"] tbody tr').count(), 12);
    assert.deepEqual(faults, []);
  } finally {
    await close();
  }
});

test("it pauses while text is selected and when told to", { timeout: 120_000 }, async () => {
  const { page, faults, close } = await open(browser);
  try {
    await page.goto(base);
    const status = page.getByRole("status");
    await status.getByText("Live", { exact: true }).waitFor();
    await page.evaluate(() => document.getSelection().selectAllChildren(document.querySelector("h1")));
    await more();
    await status.getByText("Paused", { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => document.getSelection().toString()), "Overview");
    await page.evaluate(() => document.getSelection().removeAllRanges());
    await status.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await status.getByText("Paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await status.getByText("Live", { exact: true }).waitFor();
    assert.deepEqual(faults, []);
  } finally {
    await close();
  }
});

test("it says so when nothing answers, and comes back", { timeout: 120_000 }, async () => {
  const { page, close } = await open(browser);
  try {
    await page.goto(base);
    const status = page.getByRole("status");
    await status.getByText("Live", { exact: true }).waitFor();
    await page.route("**/ui/", (route) => route.abort());
    await status.getByText("No answer, trying again").waitFor();
    await page.unroute("**/ui/");
    await status.getByText("Live", { exact: true }).waitFor();
  } finally {
    await close();
  }
});

test("the plot says what it shows and follows the theme", { timeout: 120_000 }, async () => {
  const { page, faults, close } = await open(browser);
  try {
    await page.goto(base);
    const plot = page.getByRole("img", { name: /^Token hit rate by hour, UTC: [0-9.]+\s%/ });
    await plot.waitFor();
    const pixels = () => page.locator(".plot canvas").evaluate((canvas) => canvas.toDataURL());
    const light = await pixels();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction((was) => document.querySelector(".plot canvas").toDataURL() !== was, light);
    assert.deepEqual(faults, []);
  } finally {
    await close();
  }
});
