package routes_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The same situations on the inputs the cases came with: 63, 66, 67 and 69.
func TestSharedCacheKeys(t *testing.T) {
	body := strings.TrimSpace(sharedCase(t, "case-63-long-cache-key.json"))
	_, rest, _ := strings.Cut(body, `"prompt_cache_key":"`)
	key, _, _ := strings.Cut(rest, `"`)
	longKey(t, func(k string) string { return asBarge(strings.Replace(body, key, k, 1)) }, key)
}

func TestSharedMarkers(t *testing.T) {
	// The dialect is not translated: the blocks as they are, for a chat vendor.
	body := asBarge(sharedCase(t, "case-66-cache-control-to-chat-vendor.json"))
	threeMarkers(t, body)
	fourMarkers(t, asBarge(sharedCase(t, "case-67-four-markers.json")))
}

func TestSharedBetas(t *testing.T) {
	text := strings.ReplaceAll(sharedCase(t, "case-69-beta-header.http"), "\r\n", "\n")
	head, body, _ := strings.Cut(text, "\n\n")
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	betasAndPin(t, r.Header.Values("Anthropic-Beta"), asBarge(body))
}

// asBarge is a body for the rig's model, without space around it.
func asBarge(body string) string {
	before, rest, _ := strings.Cut(strings.TrimSpace(body), `"model":"`)
	_, after, _ := strings.Cut(rest, `"`)
	return before + `"model":"barge-7"` + after
}
