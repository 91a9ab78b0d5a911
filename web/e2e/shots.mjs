// Takes the README's pictures: node shots.mjs FOLDER
import { join } from "node:path";
import { base, launch, open } from "./browser.mjs";

const folder = process.argv[2];
const pages = { overview: "", ...(process.argv.includes("--all") ? { sessions: "sessions?range=6h", session: "session?tenant=default&class=agent&id=0191f3b2-77aa-7c11-9d44-52b6f2a3c9e0", turn: "turn?tenant=default&id=agent-02", turns: "turns?range=6h", misses: "misses", routes: "routes", beside: "turn?tenant=default&id=agent-05", nothing: "?vendor=nobody" } : {}) };
const browser = await launch();
for (const scheme of ["light", "dark"]) {
  for (const width of process.argv.includes("--all") ? [1360, 390] : [1360]) {
    for (const [name, path] of Object.entries(pages)) {
      const { page, close } = await open(browser, { scheme, width, height: 1000 });
      await page.goto(base + path);
      if (name === "overview") await page.locator(".plot canvas").waitFor();
      await page.screenshot({ path: join(folder, `${name}-${scheme}${width === 390 ? "-narrow" : ""}.png`), fullPage: process.argv.includes("--all") });
      await close();
    }
  }
}
await browser.close();
