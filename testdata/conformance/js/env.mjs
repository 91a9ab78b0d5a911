// Where the JavaScript clients are pointed, and what their tests share.
//
//   WARMROUTE_URL            base address of the gateway, such as http://127.0.0.1:8080
//   WARMROUTE_SIM_OPENAI     script of the vendor behind the APIs chat and responses, such as http://127.0.0.1:7001/sim
//   WARMROUTE_SIM_ANTHROPIC  script of the vendor behind the API messages
//   WARMROUTE_DIRECT         1: WARMROUTE_URL is a simulated vendor itself; what only a gateway does is not checked
//
// The driver in the folder above sets them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

export const url = process.env.WARMROUTE_URL;
export const direct = process.env.WARMROUTE_DIRECT === '1';
export const simOpenAI = process.env.WARMROUTE_SIM_OPENAI;
export const simAnthropic = process.env.WARMROUTE_SIM_ANTHROPIC;

/** Options of a test: left out, saying why, where nothing serves; never without an end. */
export const options = {
  timeout: 30_000,
  skip: url ? false : 'WARMROUTE_URL is not set: start these tests through the driver in testdata/conformance',
};

/** The same for what only a gateway does. */
export const gatewayOptions = { ...options, skip: options.skip || (direct && 'only a gateway does this') };

/** How long one request may take. */
export const requestTimeout = 15_000;

/** The name a client asks for. */
export const model = (upstream) => (direct ? upstream : `conformance/${upstream}`);

/** A session id that no other test has, in this run or an earlier one. */
export const newSession = () => `js-${randomUUID()}`;

/** A system text of about 2,000 tokens, which every vendor caches, told apart by its session. */
export const rules = (session) =>
  `Rules of ${session}. ${'Answer in one sentence, and name the harbour. '.repeat(180)}`;

/** The outcomes of the first two turns of a session. */
export const outcomes = ['no_pin', 'confirmed'];

/** What a vendor answers and what its client must be told: keys are the gateway's own, so a 401 is not the client's fault. */
export const refusals = [[400, 400], [429, 429], [503, 503], [401, direct ? 401 : 502]];

/** The ways a stream ends early that a client must notice; the last only a gateway can tell. */
export const breaks = {
  'a cut': { cut_after_events: 4 },
  'a reset': { cut_after_events: 4, cut: 'reset' },
  'an error event': { error_event_after: 4 },
  'an error at first': { error_event_first: true },
  'a cut at the start': { cut_after_events: 0 },
  ...(direct ? {} : { 'a clean end too early': { cut_after_events: 4, cut: 'clean' } }),
};

/** Queues a fault at a simulated vendor, for the next request for one model. */
export async function script(sim, upstream, fault) {
  assert.ok(sim, 'WARMROUTE_SIM_OPENAI and WARMROUTE_SIM_ANTHROPIC must be set');
  const response = await fetch(`${sim}/faults`, {
    method: 'POST',
    body: JSON.stringify([{ ...fault, for_model: upstream }]),
    signal: AbortSignal.timeout(requestTimeout),
  });
  assert.equal(response.status, 200, await response.text());
}

/** Checks the routing of one turn, in the headers and in the body's metadata. */
export function decided(headers, metadata, session, outcome) {
  if (direct) return;
  const header = (name) => (headers instanceof Headers ? headers.get(name) : headers[name]);
  assert.equal(header('x-warmroute-outcome'), outcome);
  assert.ok(header('x-warmroute-request-id'), 'x-warmroute-request-id');
  const routing = metadata?.gateway?.routing;
  assert.ok(routing, `no routing in provider_metadata: ${JSON.stringify(metadata)}`);
  assert.equal(routing.affinity.outcome, outcome);
  assert.equal(routing.clientSessionId, session);
  assert.equal(routing.clientSessionIdSource, 'explicit');
  if (outcome === 'confirmed') {
    assert.ok(routing.affinity.pinnedProvider, 'pinnedProvider');
    assert.ok(routing.affinity.gate?.own, 'the compared prices under affinity.gate');
  }
}
