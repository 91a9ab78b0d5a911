// The npm clients "openai" and "@anthropic-ai/sdk" on the list of models, and on what is no turn.
// Needs: WARMROUTE_URL (see env.mjs); models chat-js, messages-js and embeddings-js.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { decided, direct, gatewayOptions, model, newSession, options, requestTimeout, rules, url } from './env.mjs';

const settings = { apiKey: 'conformance', maxRetries: 0, timeout: requestTimeout };
const openai = new OpenAI({ baseURL: `${url}/v1`, ...settings });
const anthropic = new Anthropic({ baseURL: url, ...settings });

/** Checks the headers of what is no turn. */
function passed(headers) {
  if (direct) return;
  assert.ok(headers.get('x-warmroute-request-id'), 'x-warmroute-request-id');
  assert.ok(headers.get('x-warmroute-vendor'), 'x-warmroute-vendor');
}

test('openai: models', gatewayOptions, async () => {
  const ids = [];
  for await (const m of openai.models.list()) {
    assert.equal(m.object, 'model');
    ids.push(m.id);
  }
  assert.ok(ids.includes(model('chat-js')) && ids.includes(model('messages-js')), String(ids));
  assert.equal((await openai.models.retrieve(model('chat-js'))).id, model('chat-js'));
  await assert.rejects(openai.models.retrieve('conformance/no-such-model'), (err) => err instanceof OpenAI.NotFoundError);
});

test('anthropic: models', gatewayOptions, async () => {
  const page = await anthropic.models.list();
  assert.equal(page.has_more, false);
  assert.equal(page.first_id, page.data[0].id);
  assert.equal(page.last_id, page.data.at(-1).id);
  let count = 0;
  for await (const m of anthropic.models.list()) {
    count++;
    assert.equal(m.type, 'model');
    assert.ok(m.display_name);
    assert.equal(new Date(m.created_at).getTime(), 0);
  }
  assert.equal(count, page.data.length);
  assert.equal((await anthropic.models.retrieve(model('messages-js'))).id, model('messages-js'));
  await assert.rejects(anthropic.models.retrieve('conformance/no-such-model'), (err) => err instanceof Anthropic.NotFoundError);
});

test('anthropic: tokens are counted and nothing is kept', options, async () => {
  const id = newSession();
  const session = { headers: { 'x-session-id': id } };
  const ask = { model: model('messages-js'), system: rules(id), messages: [{ role: 'user', content: 'Is the tide in?' }] };
  const { data, response } = await anthropic.messages.countTokens(ask, session).withResponse();
  assert.ok(data.input_tokens > 1024, JSON.stringify(data));
  passed(response.headers);
  const turn = await anthropic.messages.create({ ...ask, max_tokens: 200 }, session).withResponse();
  decided(turn.response.headers, turn.data.provider_metadata, id, 'no_pin');
});

test('openai: embeddings', options, async () => {
  const { data, response } = await openai.embeddings
    .create({ model: model('embeddings-js'), input: ['a boat', 'the tide', 'a boat'], encoding_format: 'float' }).withResponse();
  assert.equal(data.data.length, 3);
  assert.ok(data.data[0].embedding.length > 0);
  assert.deepEqual(data.data[0].embedding, data.data[2].embedding);
  assert.ok(data.usage.prompt_tokens > 0);
  passed(response.headers);
});
