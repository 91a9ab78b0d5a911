// The npm library "ai" with its OpenAI-compatible provider (API chat) and its Anthropic provider (API messages).
// Needs: WARMROUTE_URL, WARMROUTE_SIM_OPENAI, WARMROUTE_SIM_ANTHROPIC (see env.mjs); models chat-ai and messages-ai.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, streamText } from 'ai';
import {
  breaks, decided, model, newSession, options, outcomes, refusals, requestTimeout, rules, script, simAnthropic, simOpenAI,
  url,
} from './env.mjs';

// What an application writes to see the routing as provider metadata.
const metadataExtractor = {
  extractMetadata: async ({ parsedBody }) => parsedBody?.provider_metadata && { ...parsedBody.provider_metadata },
  createStreamExtractor: () => {
    let found;
    return {
      processChunk: (chunk) => { found ??= chunk?.provider_metadata; },
      buildMetadata: () => found,
    };
  },
};

const compatible = createOpenAICompatible({
  name: 'warmroute', baseURL: `${url}/v1`, apiKey: 'conformance', includeUsage: true, metadataExtractor,
});
const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'conformance' });
const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } };

const dialects = [
  { name: 'compatible', upstream: 'chat-ai', sim: simOpenAI, use: compatible.chatModel(model('chat-ai')) },
  { name: 'anthropic', upstream: 'messages-ai', sim: simAnthropic, use: anthropic(model('messages-ai')) },
];

function ask(dialect, id, answers = []) {
  const messages = [
    { role: 'system', content: rules(id), providerOptions: cached },
    { role: 'user', content: 'Is the tide in?' },
  ];
  for (const content of answers) messages.push({ role: 'assistant', content }, { role: 'user', content: 'And now?' });
  messages.at(-1).providerOptions = cached;
  return {
    model: dialect.use, messages, maxRetries: 0, maxOutputTokens: 200, allowSystemInMessages: true,
    headers: { 'x-session-id': id }, abortSignal: AbortSignal.timeout(requestTimeout),
  };
}

/** Reads a stream to its end: its text, how it ended, and the routing. */
async function read(dialect, id, answers) {
  const got = { text: '', finish: undefined, error: undefined, metadata: undefined, headers: undefined };
  const result = streamText({ ...ask(dialect, id, answers), includeRawChunks: true, onError: () => {} });
  try {
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') got.text += part.text;
      if (part.type === 'error') got.error ??= part.error;
      if (part.type === 'raw') got.metadata ??= part.rawValue?.provider_metadata;
      if (part.type === 'finish-step') {
        got.headers = part.response.headers;
        got.usage = part.usage;
        got.provider = part.providerMetadata;
      }
      if (part.type === 'finish') got.finish = part.finishReason;
    }
  } catch (err) {
    got.error ??= err;
  }
  return got;
}

for (const dialect of dialects) {
  /** Ends a run of failures, so that the vendor is not taken for down. */
  const recover = () => generateText(ask(dialect, newSession()));

  test(`${dialect.name}: two turns`, options, async () => {
    const id = newSession();
    const answers = [];
    for (const [turn, outcome] of outcomes.entries()) {
      const got = await generateText(ask(dialect, id, answers));
      decided(got.response.headers, got.response.body.provider_metadata, id, outcome);
      if (dialect.use === dialects[0].use) decided(got.response.headers, got.providerMetadata, id, outcome);
      assert.equal(got.finishReason, 'stop');
      assert.match(got.text, /\.$/);
      assert.equal(got.usage.inputTokenDetails.cacheReadTokens > 0, turn > 0);
      answers.push(got.text);
    }
  });

  test(`${dialect.name}: two turns as streams`, options, async () => {
    const id = newSession();
    const answers = [];
    for (const [turn, outcome] of outcomes.entries()) {
      const got = await read(dialect, id, answers);
      assert.equal(got.error, undefined);
      assert.equal(got.finish, 'stop');
      assert.match(got.text, /\.$/);
      decided(got.headers, got.metadata, id, outcome);
      if (dialect.use === dialects[0].use) decided(got.headers, got.provider, id, outcome);
      assert.equal(got.usage.inputTokenDetails.cacheReadTokens > 0, turn > 0);
      answers.push(got.text);
    }
  });

  test(`${dialect.name}: errors are raised with their status`, { ...options, timeout: 60_000 }, async () => {
    for (const [vendor, status] of refusals) {
      await script(dialect.sim, dialect.upstream, { status: vendor });
      await assert.rejects(generateText(ask(dialect, newSession())), (err) => {
        assert.ok(APICallError.isInstance(err), String(err));
        assert.equal(err.statusCode, status);
        assert.ok(err.message, 'a message');
        return true;
      });
      await recover();
    }
  });

  for (const [name, fault] of Object.entries(breaks)) {
    test(`${dialect.name}: ${name} is raised`, options, async () => {
      await script(dialect.sim, dialect.upstream, fault);
      const got = await read(dialect, newSession());
      assert.ok(got.error, `no error; finish reason ${got.finish}, text ${got.text}`);
      assert.notEqual(got.finish, 'stop');
      await recover();
    });
  }

  test(`${dialect.name}: half a JSON answer is raised`, options, async () => {
    await script(dialect.sim, dialect.upstream, { cut_after_events: 0 });
    await assert.rejects(generateText(ask(dialect, newSession())));
    await recover();
  });
}
