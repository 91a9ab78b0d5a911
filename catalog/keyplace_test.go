package catalog

import (
	"fmt"
	"strings"
	"testing"
)

// aKey is what must appear in no message. It is no one's.
var aKey = "sk-ant-api03-" + "Zq3vT7kLm9XwB2nR5yHc8Jd"

// The key written in each place where one may be put by mistake: every message
// keeps it to itself, and it is always an error.
func TestAKeyInTheWrongPlaceIsNeverShown(t *testing.T) {
	for _, key := range []string{aKey, "Bearer " + aKey, "gsk_Ab12Cd34Ef56Gh78Ij90", "0f8fad5b-d9cb-469f-a165-70867728950e", "4f9a8c7b6d5e4f3a2b1c0d9e8f7a6b5c", "AbCdEfGhIjKlMnOpQrStUvWxYz012345"} {
		for _, line := range []string{
			"credentials: [{file: KEY}]",
			"credentials: [{id: main, file: KEY}]",
			"credentials: [{id: main, env: KEY}]",
			"credentials: [{id: KEY, env: A}]",
			"credentials: [{KEY: main}]",
			"credentials: {KEY: main}",
			"credentials: [KEY]",
			"credentials: KEY",
			"auth: {KEY: true}",
			"auth: {header: KEY}",
			"auth: {bearer: KEY}",
			"auth: KEY",
			"headers: {KEY: x}",
			"headers: {x-flavour: KEY}",
			"headers: {KEY: x, KEY: y}",
			"headers: {authorization: KEY}",
			"KEY: x",
			"KEY: x\nKEY: y",
			"cache: {KEY: x}",
			"cache: {family: KEY}",
			"cache: {ttl: KEY}",
			"hints: [{header: KEY}]",
			"hints: [{member: KEY}]",
			"hints: [{KEY: x}]",
			"usage: KEY",
			"accepts: [KEY]",
			"refuses: [KEY KEY]",
			"tags: [KEY, KEY]",
			"allow_private: KEY",
			"api: KEY",
			"base_url: KEY",
			"usage: *KEY",
		} {
			text := with(strings.ReplaceAll(line, "KEY", `"`+key+`"`), "", "")
			_, err := ParseKeys("f", []byte(text), keysOf(nil))
			secret := strings.TrimPrefix(key, "Bearer ")
			if message := fmt.Sprint(err); err == nil || strings.Contains(message, secret[:12]) {
				t.Errorf("%s: %v", line, message)
			}
		}
		text := strings.ReplaceAll(frame+"  m: {routes: [{vendor: \"KEY\", model: x, price: {input: \"KEY\"}}]}\n", "KEY", key)
		if _, err := Parse("f", []byte(text)); err == nil || strings.Contains(err.Error(), key[:12]) {
			t.Errorf("in a model: %v", err)
		}
		text = strings.ReplaceAll(frame+"  m: {routes: [{vendor: alpha, model: x}]}\n", "alpha: {api", `"`+key+`": {api`)
		if _, err := Parse("f", []byte(text)); err == nil || strings.Contains(err.Error(), key[:12]) {
			t.Errorf("as a vendor: %v", err)
		}
	}
}

// A syntax error quotes what is near it.
func TestASyntaxErrorDoesNotShowAKey(t *testing.T) {
	_, err := Parse("f", []byte("version: 1\nvendors: {a: *"+aKey+"}\n"))
	if err == nil || strings.Contains(err.Error(), aKey[:12]) || !strings.Contains(err.Error(), "f:2:") {
		t.Errorf("%v", err)
	}
}

func TestWhatLooksLikeAKey(t *testing.T) {
	for _, text := range []string{
		"sk-proj-1", "SK-ANT-1", "Bearer abc", "bearer x", "Basic dXNlcg==", "sk-abcdefghijklmnopqrst", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "AKIAIOSFODNN7EXAMPLE",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.x", "xai-12ab", "github_pat_11AA", "hf_abcdEFGH1234abcd",
		"0123456789abcdef0123456789abcdef", "a1b2c3d4e5f6g7h8", "-----BEGIN PRIVATE KEY-----",
	} {
		if !looksLikeKey(text) {
			t.Errorf("%s does not look like a key", text)
		}
	}
	for _, text := range []string{
		"", "main", "claude-sonnet-5-20260801", "accounts/fireworks/models/llama-v3p1-405b-instruct", "Meta-Llama-3.1-405B-Instruct-Turbo-0125", "gpt-5.6-mini-2026-07-18",
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude", "sk-telecom", "skt/A.X-4.0", "Euryale", "deepseek-v3.1-terminus",
		"ANTHROPIC_API_KEY", "AZURE_EU_KEY_2", "keys/anthropic-reserve", "/run/secrets/openai", "prompt-caching-2024-07-31,context-1m-2025-08-07", "asia-east", "xoxo", "key-west", "mistral-large-2411",
		"ft:gpt-4o-mini-2024-07-18:acme::9aBcDeFg", "qwen3-235b-a22b-thinking-2507", "Asia/Shanghai", "2023-06-01",
	} {
		if looksLikeKey(text) {
			t.Errorf("%s looks like a key", text)
		}
	}
}

func TestHeadersThatCarryKeys(t *testing.T) {
	for header, refused := range map[string]bool{
		"anthropic-version: '2023-06-01'": false, "openai-organization: org-Zq3vT7kLm9XwB2nR5yHc8Jd1": false, "openai-project: proj_Zq3vT7kLm9XwB2nR5yHc8Jd1": false,
		"anthropic-beta: prompt-caching-2024-07-31": false, "x-title: Desk": false, "HTTP-Referer: https://a.example": false, "x-region: eu": false, "x-author: desk": false,
		"x-auth-token: abc": true, "X-AUTH-TOKEN: abc": true, "Helicone-Auth: abc": true, "x-client-secret: abc": true, "x-my-key: abc": true, "Set-Cookie: a=b": true,
		"x-credentials: abc": true, "Ocp-Apim-Subscription-Key: abc": true, "x-region: Bearer abc": true, "x-flavour: sk-ant-1": true,
		"openai-organization: sk-1": true, "anthropic-version: Bearer x": true,
	} {
		_, err := Parse("f", []byte(with("headers: {"+header+"}", "", "")))
		if (err != nil) != refused {
			t.Errorf("%s: %v", header, err)
		}
	}
}
