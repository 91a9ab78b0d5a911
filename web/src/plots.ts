// Draws the hit rate over time from the page's own table. Without this script
// the table is the whole of it.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

type Numbers = (number | null)[];

/** A colour of the stylesheet, read when it is drawn: the theme may change. */
const color = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const height = 300;
const font = "12px system-ui, sans-serif";

const two = (n: number) => String(n).padStart(2, "0");

/** A time by the clocks of a zone: the hour within a day, else the day. */
function timeText(zone: string, seconds: number, long: boolean): string {
  const d = uPlot.tzDate(new Date(seconds * 1000), zone);
  const day = `${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  const hour = `${two(d.getHours())}:${two(d.getMinutes())}`;
  return long ? `${day} ${hour}` : hour === "00:00" ? day : hour;
}

/** The table's rows as columns. A slot without traffic is a gap, not a zero. A day may have 25 hours. */
function read(table: HTMLTableElement): [number[], Numbers] {
  const step = Number(table.dataset.seconds) || 3600;
  const times: number[] = [];
  const rates: Numbers = [];
  for (const row of Array.from(table.tBodies[0]?.rows ?? [])) {
    const time = Number(row.dataset.time);
    for (let last = times.at(-1); last !== undefined && last + 1.5 * step < time; last += step) {
      times.push(last + step);
      rates.push(null);
    }
    times.push(time);
    rates.push(row.dataset.rate ? Number(row.dataset.rate) : null);
  }
  return [times, rates];
}

/** What the time axis spans: the page's range, so that one slot alone has its place in it. */
function span(id: string): [number, number] | undefined {
  const { from, to } = document.getElementById(id)?.dataset ?? {};
  return from && to ? [Number(from), Number(to)] : undefined;
}

function draw(place: HTMLElement, table: HTMLTableElement): void {
  const axis = { stroke: color("--soft"), font, grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 } };
  const zone = table.dataset.zone === "UTC" ? "Etc/UTC" : (table.dataset.zone ?? "Etc/UTC");
  const options: uPlot.Options = {
    width: Math.max(240, place.clientWidth),
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    scales: { x: { range: (_, min, max) => span(table.id) ?? [min, max] }, y: { range: [0, 100] } },
    legend: { live: true },
    cursor: { y: false },
    axes: [
      { ...axis, values: (_, splits) => splits.map((s) => timeText(zone, s, false)), space: 60 },
      { ...axis, values: (_, splits) => splits.map((s) => `${s} %`), size: 52 },
    ],
    series: [
      { label: "from", value: (_, v) => (v == null ? "—" : timeText(zone, v, true)) },
      {
        label: "token hit rate",
        stroke: color("--read"),
        width: 2,
        points: { size: 6, stroke: color("--read"), fill: color("--sheet") },
        value: (_, v) => (v == null ? "—" : `${v.toFixed(1)} %`),
      },
    ],
  };
  const canvas = document.createElement("div");
  canvas.setAttribute("role", "img");
  const summarize = () => canvas.setAttribute("aria-label", place.dataset.summary ?? "Token hit rate over time");
  summarize();
  place.append(canvas);
  const plot = new uPlot(options, read(table), canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw(false));
  new ResizeObserver(() => plot.setSize({ width: Math.max(240, place.clientWidth), height })).observe(place);
  document.addEventListener("warmroute:fresh", () => {
    const fresh = document.getElementById(table.id);
    if (fresh instanceof HTMLTableElement) plot.setData(read(fresh));
    summarize();
  });
}

function start(): void {
  const place = document.getElementById("plot");
  const table = document.getElementById(place?.dataset.from ?? "");
  if (!place || !(table instanceof HTMLTableElement)) return;
  place.hidden = false;
  document.getElementById("series-details")?.removeAttribute("open");
  draw(place, table);
}

start();
