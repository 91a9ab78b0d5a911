// The npm client "@anthropic-ai/sdk" on the API messages.
// Needs: WARMROUTE_URL, WARMROUTE_SIM_ANTHROPIC (see env.mjs); model messages-js.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import {
  breaks, decided, gatewayOptions, model, newSession, options, outcomes, refusals, requestTimeout, rules, script,
  simAnthropic, url,
} from './env.mjs';

const client = new Anthropic({ baseURL: url, apiKey: 'conformance', maxRetries: 0, timeout: requestTimeout });
const session = (id) => ({ headers: { 'x-session-id': id } });
const marker = { cache_control: { type: 'ephemeral' } };

function ask(id, answers = []) {
  const messages = [];
  for (const text of answers) {
    messages.push(
      { role: 'user', content: [{ type: 'text', text: messages.length ? 'And now?' : 'Is the tide in?' }] },
      { role: 'assistant', content: [{ type: 'text', text }] });
  }
  messages.push({ role: 'user', content: [{ type: 'text', text: messages.length ? 'And now?' : 'Is the tide in?', ...marker }] });
  return { model: model('messages-js'), max_tokens: 200, system: [{ type: 'text', text: rules(id), ...marker }], messages };
}

/** Ends a run of failures, so that the vendor is not taken for down. */
async function recover() {
  const id = newSession();
  await client.messages.create(ask(id), session(id));
}

test('two turns', options, async () => {
  const id = newSession();
  const answers = [];
  for (const [turn, outcome] of outcomes.entries()) {
    const { data, response } = await client.messages.create(ask(id, answers), session(id)).withResponse();
    decided(response.headers, data.provider_metadata, id, outcome);
    assert.equal(data.stop_reason, 'end_turn');
    assert.equal(data.usage.cache_read_input_tokens > 0, turn > 0);
    answers.push(data.content[0].text);
  }
});

test('two turns as streams', options, async () => {
  const id = newSession();
  const answers = [];
  for (const [turn, outcome] of outcomes.entries()) {
    const { data: stream, response } =
      await client.messages.create({ ...ask(id, answers), stream: true }, session(id)).withResponse();
    let text = '', metadata, start, stopped = false;
    for await (const event of stream) {
      if (event.type === 'message_start') start = event.message;
      if (event.type === 'content_block_delta') text += event.delta.text;
      if (event.type === 'message_delta') metadata = event.provider_metadata;
      if (event.type === 'message_stop') stopped = true;
    }
    assert.ok(stopped, 'message_stop');
    decided(response.headers, metadata, id, outcome);
    assert.match(text, /\.$/);
    assert.equal(start.usage.cache_read_input_tokens > 0, turn > 0);
    answers.push(text);
  }
});

test('the helper puts a stream together', options, async () => {
  const id = newSession();
  let text = '';
  const stream = client.messages.stream(ask(id), session(id)).on('text', (delta) => { text += delta; });
  const whole = await stream.finalMessage();
  assert.equal(whole.content[0].text, text);
  assert.equal(whole.stop_reason, 'end_turn');
  assert.ok(whole.usage.output_tokens > 5, 'the final usage');
});

for (const [name, fault] of Object.entries({
  'without event lines': { no_event_lines: true },
  'with a done mark': { extra_done: true },
  'without event lines, with a done mark': { no_event_lines: true, extra_done: true },
})) {
  test(`a stream ${name} is complete`, gatewayOptions, async () => {
    const id = newSession();
    await script(simAnthropic, 'messages-js', fault);
    const whole = await client.messages.stream(ask(id), session(id)).finalMessage();
    assert.match(whole.content[0].text, /\.$/);
    assert.equal(whole.stop_reason, 'end_turn');
  });
}

test('a compressed stream is read', options, async () => {
  const id = newSession();
  await script(simAnthropic, 'messages-js', { gzip: true });
  const whole = await client.messages.stream(ask(id), session(id)).finalMessage();
  assert.equal(whole.stop_reason, 'end_turn');
});

test('errors are raised with their status', { ...options, timeout: 60_000 }, async () => {
  for (const [vendor, status] of refusals) {
    const id = newSession();
    await script(simAnthropic, 'messages-js', { status: vendor });
    await assert.rejects(client.messages.create(ask(id), session(id)), (err) => {
      assert.ok(err instanceof Anthropic.APIError, String(err));
      assert.equal(err.status, status);
      assert.equal(err.error?.type, 'error');
      return true;
    });
    await recover();
  }
});

for (const [name, fault] of Object.entries(breaks)) {
  test(`${name} is raised`, options, async () => {
    const id = newSession();
    await script(simAnthropic, 'messages-js', fault);
    let stopped = false;
    await assert.rejects(async () => {
      for await (const event of await client.messages.create({ ...ask(id), stream: true }, session(id))) {
        stopped ||= event.type === 'message_stop';
      }
    });
    assert.ok(!stopped);
    await recover();
  });

  test(`${name} is raised by the helper`, options, async () => {
    const id = newSession();
    await script(simAnthropic, 'messages-js', fault);
    await assert.rejects(client.messages.stream(ask(id), session(id)).finalMessage());
    await recover();
  });
}

test('half a JSON answer is raised', options, async () => {
  const id = newSession();
  await script(simAnthropic, 'messages-js', { cut_after_events: 0 });
  await assert.rejects(client.messages.create(ask(id), session(id)));
  await recover();
});
