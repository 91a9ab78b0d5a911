// The npm client "openai" on the APIs chat and responses.
// Needs: WARMROUTE_URL, WARMROUTE_SIM_OPENAI (see env.mjs); models chat-js and responses-js.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import {
  breaks, decided, gatewayOptions, model, newSession, options, outcomes, refusals, requestTimeout, rules, script,
  simOpenAI, url,
} from './env.mjs';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'conformance', maxRetries: 0, timeout: requestTimeout });
const session = (id) => ({ headers: { 'x-session-id': id } });

function chat(id, answers = []) {
  const messages = [{ role: 'system', content: rules(id) }, { role: 'user', content: 'Is the tide in?' }];
  for (const content of answers) messages.push({ role: 'assistant', content }, { role: 'user', content: 'And now?' });
  return { model: model('chat-js'), messages };
}

function respond(id, answers = []) {
  const input = [{ role: 'user', content: 'Is the tide in?' }];
  for (const content of answers) input.push({ role: 'assistant', content }, { role: 'user', content: 'And now?' });
  return { model: model('responses-js'), instructions: rules(id), input };
}

/** Ends a run of failures, so that the vendor is not taken for down. */
async function recover() {
  const id = newSession();
  await client.chat.completions.create(chat(id), session(id));
  await client.responses.create(respond(id), session(id));
}

test('chat: two turns', options, async () => {
  const id = newSession();
  const answers = [];
  for (const [turn, outcome] of outcomes.entries()) {
    const { data, response } = await client.chat.completions.create(chat(id, answers), session(id)).withResponse();
    decided(response.headers, data.provider_metadata, id, outcome);
    assert.equal(data.choices[0].finish_reason, 'stop');
    assert.equal(data.usage.prompt_tokens_details.cached_tokens > 0, turn > 0);
    answers.push(data.choices[0].message.content);
  }
});

test('chat: a session in the body', gatewayOptions, async () => {
  const id = newSession();
  for (const outcome of outcomes) {
    const { data, response } = await client.chat.completions.create({ ...chat(id), session_id: id }).withResponse();
    decided(response.headers, data.provider_metadata, id, outcome);
  }
});

test('chat: two turns as streams', options, async () => {
  const id = newSession();
  const answers = [];
  for (const [turn, outcome] of outcomes.entries()) {
    const ask = { ...chat(id, answers), stream: true, stream_options: { include_usage: true } };
    const { data: stream, response } = await client.chat.completions.create(ask, session(id)).withResponse();
    let text = '', finish, metadata, usage;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      finish ??= chunk.choices[0]?.finish_reason ?? undefined;
      metadata ??= chunk.provider_metadata;
      usage ??= chunk.usage ?? undefined;
    }
    decided(response.headers, metadata, id, outcome);
    assert.equal(finish, 'stop');
    assert.match(text, /\.$/);
    assert.equal(usage.prompt_tokens_details.cached_tokens > 0, turn > 0);
    answers.push(text);
  }
});

test('chat: the helper puts a stream together', options, async () => {
  const id = newSession();
  const runner = client.chat.completions.stream({ ...chat(id), stream: true }, session(id));
  let chunks = 0;
  runner.on('chunk', (chunk) => {
    chunks++;
    assert.equal(chunk.usage, undefined, 'usage that was not asked for');
  });
  const whole = await runner.finalChatCompletion();
  assert.equal(whole.choices[0].finish_reason, 'stop');
  assert.match(whole.choices[0].message.content, /\.$/);
  assert.ok(chunks > 3);
});

test('responses: two turns', options, async () => {
  const id = newSession();
  const answers = [];
  for (const [turn, outcome] of outcomes.entries()) {
    const { data, response } = await client.responses.create(respond(id, answers), session(id)).withResponse();
    decided(response.headers, data.provider_metadata, id, outcome);
    assert.equal(data.status, 'completed');
    assert.match(data.output_text, /\.$/);
    assert.equal(data.usage.input_tokens_details.cached_tokens > 0, turn > 0);
    answers.push(data.output_text);
  }
});

test('responses: two turns as streams', options, async () => {
  const id = newSession();
  const answers = [];
  for (const [turn, outcome] of outcomes.entries()) {
    const { data: stream, response } =
      await client.responses.create({ ...respond(id, answers), stream: true }, session(id)).withResponse();
    let text = '', last;
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      last = event;
    }
    assert.equal(last.type, 'response.completed');
    decided(response.headers, last.response.provider_metadata, id, outcome);
    assert.equal(last.response.output[0].content[0].text, text);
    assert.equal(last.response.usage.input_tokens_details.cached_tokens > 0, turn > 0);
    answers.push(text);
  }
});

test('responses: the helper puts a stream together', options, async () => {
  const id = newSession();
  const whole = await client.responses.stream(respond(id), session(id)).finalResponse();
  assert.equal(whole.status, 'completed');
  assert.match(whole.output_text, /\.$/);
});

test('errors are raised with their status', { ...options, timeout: 60_000 }, async () => {
  for (const [vendor, status] of refusals) {
    const id = newSession();
    await script(simOpenAI, 'chat-js', { status: vendor });
    await assert.rejects(client.chat.completions.create(chat(id), session(id)), (err) => {
      assert.ok(err instanceof OpenAI.APIError, String(err));
      assert.equal(err.status, status);
      assert.ok(err.error?.message, 'a message in the error body');
      return true;
    });
    await script(simOpenAI, 'responses-js', { status: vendor });
    await assert.rejects(client.responses.create(respond(id), session(id)), { status });
    await recover();
  }
});

for (const [name, fault] of Object.entries(breaks)) {
  test(`chat: ${name} is raised`, options, async () => {
    const id = newSession();
    await script(simOpenAI, 'chat-js', fault);
    let finish;
    await assert.rejects(async () => {
      for await (const chunk of await client.chat.completions.create({ ...chat(id), stream: true }, session(id))) {
        finish ??= chunk.choices[0]?.finish_reason ?? undefined;
      }
    });
    assert.equal(finish, undefined);
    await recover();
  });

  test(`responses: ${name} is raised`, options, async () => {
    const id = newSession();
    await script(simOpenAI, 'responses-js', fault);
    let failed = false, done = false;
    try {
      for await (const event of await client.responses.create({ ...respond(id), stream: true }, session(id))) {
        failed ||= event.type === 'error' || event.type === 'response.failed';
        done ||= event.type === 'response.completed';
      }
    } catch {
      failed = true;
    }
    assert.ok(failed && !done, `failed ${failed}, done ${done}`);
    await recover();
  });
}

test('chat: half a JSON answer is raised', options, async () => {
  const id = newSession();
  await script(simOpenAI, 'chat-js', { cut_after_events: 0 });
  await assert.rejects(client.chat.completions.create(chat(id), session(id)));
  await recover();
});

test('chat: a compressed stream is read', options, async () => {
  const id = newSession();
  await script(simOpenAI, 'chat-js', { gzip: true });
  let finish;
  for await (const chunk of await client.chat.completions.create({ ...chat(id), stream: true }, session(id))) {
    finish ??= chunk.choices[0]?.finish_reason ?? undefined;
  }
  assert.equal(finish, 'stop');
});

test('chat: an unknown model is raised', gatewayOptions, async () => {
  await assert.rejects(client.chat.completions.create({ ...chat('x'), model: 'conformance/no-such-model' }), (err) => {
    assert.ok(err instanceof OpenAI.APIError && err.status >= 400 && err.status < 500, String(err));
    return true;
  });
});
