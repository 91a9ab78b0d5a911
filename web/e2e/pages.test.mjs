// The dashboard in a browser: with and without scripts, in both themes, narrow
// and wide.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { base, found, launch, open, overflows } from "./browser.mjs";

const promoted = { tenant: "default", class: "agent", id: "0191f3b2-77aa-7c11-9d44-52b6f2a3c9e0" };
const addresses = {
  Overview: base,
  Sessions: `${base}sessions`,
  Session: `${base}session?${new URLSearchParams(promoted)}`,
  Turns: `${base}turns?outcome=promoted`,
  Misses: `${base}misses`,
  "Misses of one cause": `${base}misses?cause=pin_expired`,
  Routes: `${base}routes`,
  "A turn that missed": `${base}turn?tenant=default&id=agent-04`,
  "A turn with more than its own bill": `${base}turn?tenant=default&id=agent-05`,
  "Overview of a zone": `${base}?range=30d&zone=Asia/Kolkata`,
  "Nothing matches": `${base}?vendor=nobody`,
};

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const ways = [
  { scheme: "light", scripts: true, width: 1360 },
  { scheme: "dark", scripts: true, width: 1360 },
  { scheme: "light", scripts: false, width: 1360 },
  { scheme: "dark", scripts: false, width: 1360 },
  { scheme: "dark", scripts: true, width: 390 },
  { scheme: "light", scripts: false, width: 390 },
];

for (const way of ways) {
  describe(`${way.scheme}, scripts ${way.scripts ? "on" : "off"}, ${way.width} pixels`, () => {
    for (const [name, address] of Object.entries(addresses)) {
      test(name, { timeout: 120_000 }, () =>
        visit(way, async (page) => {
          await page.goto(address);
          await page.getByRole("heading", { level: 1 }).waitFor();
          assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
          if (way.scripts && name.startsWith("Overview")) await page.locator(".plot canvas").waitFor();
        }),
      );
    }

    test("from the avoidable loss to a miss, in a zone that is kept", { timeout: 120_000 }, () =>
      visit(way, async (page) => {
        await page.goto(base);
        await page.getByLabel("Time zone").fill("America/Los_Angeles");
        await page.getByRole("button", { name: "Set" }).click();
        await page.getByText("all times are those of America/Los_Angeles").waitFor();
        await page.getByRole("link", { name: /^\d+ miss(es)?$/ }).click();
        await page.getByRole("heading", { level: 1, name: "Misses" }).waitFor();
        await page.getByRole("link", { name: "pin_expired", exact: true }).click();
        await page.getByRole("link", { name: /^[A-Z0-9].*, pin_expired$/ }).first().click();
        await page.getByRole("heading", { level: 3, name: "Miss" }).waitFor();
        assert.equal(new URL(page.url()).searchParams.get("zone"), "America/Los_Angeles");
      }));

    test("from Overview to the prices of a promoted turn", { timeout: 120_000 }, () =>
      visit(way, async (page) => {
        await page.goto(base);
        await page.getByRole("region", { name: "Turns by outcome" }).getByRole("link", { name: "promoted", exact: true }).click();
        await page.getByRole("heading", { level: 1, name: "Turns" }).waitFor();
        await page.getByRole("link", { name: /^[A-Z0-9].*, promoted$/ }).first().click();
        const gate = page.getByRole("region", { name: "Prices that were compared" });
        await gate.waitFor();
        const text = await gate.innerText();
        assert.match(text, /its own input price\s+\$3\.00\/M\s+✓ the read is below it/);
        assert.match(text, /anthropic input price\s+\$3\.00\/M\s+✓ the read is below it/);
        await page.getByText("the gate pays").waitFor();
      }));
  });
}

/** What axe finds on a page whose scripts are empty: where scripts are off, axe has no timers. */
async function foundBare(way, address) {
  const { page, close } = await open(browser, { ...way, scripts: true });
  try {
    await page.route("**/*.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
    await page.goto(address);
    return await found(page);
  } finally {
    await close();
  }
}

/** Does something on a page of its own, then looks for faults there. */
async function visit(way, act) {
  const { page, faults, close } = await open(browser, way);
  try {
    await act(page);
    await page.waitForLoadState(); // where a link was followed, its stylesheet may still be on its way
    assert.equal(await overflows(page), 0, "the page scrolls sideways");
    if (way.scripts) assert.deepEqual(await found(page), []);
    else if (way.width > 390) assert.deepEqual(await foundBare(way, page.url()), []);
    assert.deepEqual(faults, []);
  } finally {
    await close();
  }
}
