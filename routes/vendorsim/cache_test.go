package vendorsim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

var openaiCache = Cache{Family: catalog.Implicit, TTL: 10 * time.Minute, MinPrefix: 1024, Block: 128}

const (
	chatPath      = "/v1/chat/completions"
	responsesPath = "/v1/responses"
	messagesPath  = "/v1/messages"
)

// chatRead posts a chat request and returns prompt and cached tokens.
func (b *bench) chatRead(key, body string) (prompt, cached int64) {
	b.t.Helper()
	u := b.ok(chatPath, key, body).usage(b.t)
	if u.PromptDetails == nil {
		b.t.Fatal("no prompt_tokens_details")
	}
	return u.Prompt, u.PromptDetails.CachedTokens
}

func TestImplicitCacheIsReadByTheSecondTurn(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	system := words("rules", 1500)
	if prompt, cached := b.chatRead("k1", chatBody(system, words("first", 100))); prompt != 1600 || cached != 0 {
		t.Fatalf("first turn: prompt %d, cached %d; want 1600, 0", prompt, cached)
	}
	// 1600 tokens were held up to the last whole step: 1024 + 4 × 128 = 1536.
	prompt, cached := b.chatRead("k1", chatBody(system, words("first", 100), words("answer", 40), words("second", 60)))
	if prompt != 1700 || cached != 1536 {
		t.Fatalf("second turn: prompt %d, cached %d; want 1700, 1536", prompt, cached)
	}
	// What the second turn added is held now, too: 1024 + 5 × 128 = 1664.
	_, cached = b.chatRead("k1", chatBody(system, words("first", 100), words("answer", 40), words("second", 60)))
	if cached != 1664 {
		t.Fatalf("second turn again: cached %d, want 1664", cached)
	}
}

func TestImplicitCacheEndsWhereTheContentDiffers(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	b.chatRead("k1", chatBody(words("rules", 1300), words("first", 500)))
	_, cached := b.chatRead("k1", chatBody(words("rules", 1300), words("other", 500)))
	if cached != 1280 { // 1024 + 2 × 128, the last step before 1300
		t.Fatalf("cached %d, want 1280", cached)
	}
	if _, cached = b.chatRead("k1", chatBody(words("fules", 1300), words("first", 500))); cached != 0 {
		t.Fatalf("cached %d after a change at the start, want 0", cached)
	}
}

func TestImplicitCacheBelowItsMinimumIsNotKept(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	for range 2 {
		if _, cached := b.chatRead("k1", chatBody(words("rules", 1000), words("go", 23))); cached != 0 {
			t.Fatalf("cached %d at 1023 tokens, want 0", cached)
		}
	}
	b.chatRead("k1", chatBody(words("rules", 1000), words("go", 24)))
	if _, cached := b.chatRead("k1", chatBody(words("rules", 1000), words("go", 24))); cached != 1024 {
		t.Fatalf("cached %d at 1024 tokens, want 1024", cached)
	}
}

func TestAccountsAndModelsDoNotShareACache(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	body := chatBody(words("rules", 2000))
	b.chatRead("k1", body)
	if _, cached := b.chatRead("k2", body); cached != 0 {
		t.Fatalf("another account read %d", cached)
	}
	if _, cached := b.chatRead("k1", strings.Replace(body, `"model":"m"`, `"model":"n"`, 1)); cached != 0 {
		t.Fatalf("another model read %d", cached)
	}
	if _, cached := b.chatRead("k1", body); cached == 0 {
		t.Fatal("the same account read nothing")
	}
}

func TestLifetimeCountsFromTheLastRead(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	body := chatBody(words("rules", 2000))
	b.chatRead("k1", body)
	for turn := range 4 {
		b.clock.pass(9 * time.Minute)
		if _, cached := b.chatRead("k1", body); cached == 0 {
			t.Fatalf("turn %d, nine minutes after the one before: nothing read", turn)
		}
	}
	b.clock.pass(10 * time.Minute)
	if _, cached := b.chatRead("k1", body); cached != 0 {
		t.Fatalf("read %d ten minutes after the last read, want 0", cached)
	}
	if n := len(b.Cache()); n == 0 {
		t.Fatal("the expired prefix was not written again")
	}
}

func TestRetentionOf24HoursIsHonoured(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	body := with(chatBody(words("rules", 2000)), `"prompt_cache_retention":"24h"`)
	b.chatRead("k1", body)
	b.clock.pass(23 * time.Hour)
	if _, cached := b.chatRead("k1", body); cached == 0 {
		t.Fatal("nothing read after 23 hours")
	}
}

func TestKeyOrderIsContent(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	tool := `"tools":[{"type":"function","function":{"name":"weigh","description":"` + words("anchor", 1500) + `","parameters":{"type":"object","properties":{}}}}]`
	rebuilt := `"tools":[{"function":{"description":"` + words("anchor", 1500) + `","name":"weigh","parameters":{"properties":{},"type":"object"}},"type":"function"}]`
	body := chatBody(words("rules", 500))
	b.chatRead("k1", with(body, tool))
	if _, cached := b.chatRead("k1", with(body, rebuilt)); cached != 0 {
		t.Fatalf("a rebuilt body read %d", cached)
	}
	spaced := strings.ReplaceAll(with(body, tool), `","`, `", "`)
	if _, cached := b.chatRead("k1", spaced); cached == 0 {
		t.Fatal("space between members lost the cache")
	}
}

func TestRolesAreContent(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	body := chatBody(words("rules", 600), words("go", 600))
	b.chatRead("k1", body)
	if _, cached := b.chatRead("k1", strings.Replace(body, `"role":"system"`, `"role":"user"`, 1)); cached != 0 {
		t.Fatalf("the same text in another role read %d", cached)
	}
}

func TestTextAndListOfOneTextAreTheSamePrompt(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	text := words("rules", 1200)
	b.chatRead("k1", `{"model":"m","messages":[{"role":"user","content":"`+text+`"}]}`)
	if _, cached := b.chatRead("k1", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"`+text+`"}]}]}`); cached != 1152 {
		t.Fatalf("cached %d, want 1152", cached)
	}
}

func TestResponsesShareTheRules(t *testing.T) {
	b := start(t, Config{Cache: openaiCache, ReportWrites: true})
	body := `{"model":"m","instructions":"` + words("rules", 1400) + `","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + words("go", 200) + `"}]}]}`
	u := b.ok(responsesPath, "k1", body).usage(t)
	if u.Input != 1600 || u.InputDetails.CachedTokens != 0 || *u.InputDetails.WriteTokens != 1536 {
		t.Fatalf("first: %+v, %+v", u, u.InputDetails)
	}
	u = b.ok(responsesPath, "k1", body).usage(t)
	if u.Input != 1600 || u.InputDetails.CachedTokens != 1536 || *u.InputDetails.WriteTokens != 0 || u.Total != u.Input+u.Output {
		t.Fatalf("second: %+v, %+v", u, u.InputDetails)
	}
}

// mark is a marker as a member of a block.
func mark(ttl string) string {
	if ttl == "" {
		return `,"cache_control":{"type":"ephemeral"}`
	}
	return `,"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
}

func textBlock(text, marker string) string {
	return `{"type":"text","text":"` + text + `"` + marker + `}`
}

func messagesBody(system string, messages ...string) string {
	return `{"model":"m","max_tokens":50,"system":[` + system + `],"messages":[` + strings.Join(messages, ",") + `]}`
}

func turnOf(role, blocks string) string { return `{"role":"` + role + `","content":[` + blocks + `]}` }

var anthropicCache = Cache{Family: catalog.Explicit, TTL: 5 * time.Minute, MinPrefix: 1024}

func TestExplicitCacheFollowsAMovingMarker(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	system := textBlock(words("rules", 2000), mark(""))
	u := b.ok(messagesPath, "k1", messagesBody(system, turnOf("user", textBlock(words("first", 100), mark(""))))).usage(t)
	if u.Input != 0 || u.Read != 0 || u.Creation != 2100 || u.CacheCreation.Ephemeral5m != 2100 || u.CacheCreation.Ephemeral1h != 0 {
		t.Fatalf("first turn: %+v, %+v", u, u.CacheCreation)
	}
	// The same message, now without its marker, and two more.
	u = b.ok(messagesPath, "k1", messagesBody(system,
		turnOf("user", textBlock(words("first", 100), "")),
		turnOf("assistant", textBlock(words("answer", 50), "")),
		turnOf("user", textBlock(words("second", 60), mark("")))+"")).usage(t)
	if u.Input != 0 || u.Read != 2100 || u.Creation != 110 {
		t.Fatalf("second turn: input %d, read %d, written %d; want 0, 2100, 110", u.Input, u.Read, u.Creation)
	}
}

func TestExplicitCacheWithoutMarkersKeepsNothing(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	for range 2 {
		u := b.ok(messagesPath, "k1", messagesBody(textBlock(words("rules", 3000), ""), turnOf("user", textBlock("go!!", "")))).usage(t)
		if u.Input != 3001 || u.Read != 0 || u.Creation != 0 {
			t.Fatalf("%+v", u)
		}
	}
}

func TestExplicitCacheBelowItsMinimumIsNotKept(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	for range 2 {
		u := b.ok(messagesPath, "k1", messagesBody(textBlock(words("rules", 1023), mark("")), turnOf("user", textBlock("go!!", "")))).usage(t)
		if u.Input != 1024 || u.Read != 0 || u.Creation != 0 {
			t.Fatalf("%+v", u)
		}
	}
}

func TestOneHourAndFiveMinutesAreSplit(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	body := messagesBody(textBlock(words("rules", 2000), mark("1h")),
		turnOf("user", textBlock(words("first", 100), mark("5m"))+","+textBlock(words("tail", 30), "")))
	u := b.ok(messagesPath, "k1", body).usage(t)
	if u.Input != 30 || u.Creation != 2100 || u.CacheCreation.Ephemeral1h != 2000 || u.CacheCreation.Ephemeral5m != 100 {
		t.Fatalf("first: %+v, %+v", u, u.CacheCreation)
	}
	b.clock.pass(6 * time.Minute) // the shorter one is gone, the longer is not
	u = b.ok(messagesPath, "k1", body).usage(t)
	if u.Read != 2000 || u.Creation != 100 || u.CacheCreation.Ephemeral5m != 100 || u.CacheCreation.Ephemeral1h != 0 {
		t.Fatalf("after six minutes: %+v, %+v", u, u.CacheCreation)
	}
	b.clock.pass(61 * time.Minute)
	if u = b.ok(messagesPath, "k1", body).usage(t); u.Read != 0 || u.Creation != 2100 {
		t.Fatalf("after more than an hour: %+v", u)
	}
}

func TestMarkerLooksAtTwentyBlocks(t *testing.T) {
	for _, test := range []struct {
		added int
		read  int64
	}{{19, 1100}, {20, 0}} {
		b := start(t, Config{Cache: anthropicCache})
		b.ok(messagesPath, "k1", messagesBody(textBlock(words("rules", 1000), ""), turnOf("user", textBlock(words("first", 100), mark("")))))
		blocks := textBlock(words("first", 100), "")
		for i := range test.added {
			m := ""
			if i == test.added-1 {
				m = mark("")
			}
			blocks += "," + textBlock(words(fmt.Sprint("more", i), 10), m)
		}
		u := b.ok(messagesPath, "k1", messagesBody(textBlock(words("rules", 1000), ""), turnOf("user", blocks))).usage(t)
		if u.Read != test.read {
			t.Errorf("%d blocks later: read %d, want %d", test.added, u.Read, test.read)
		}
	}
}

func TestMarkersOfAToolAndAtTheTop(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	body := func(toolMark, top string) string {
		return `{"model":"m","max_tokens":9` + top + `,"tools":[{"name":"weigh","description":"` + words("anchor", 2000) +
			`","input_schema":{"type":"object","properties":{"cache_control":{"type":"string"}}}` + toolMark +
			`}],"messages":[{"role":"user","content":"` + words("go", 100) + `"}]}`
	}
	first := b.ok(messagesPath, "k1", body(mark(""), "")).usage(t)
	if first.Creation < 2000 || first.Input != 100 {
		t.Fatalf("tool marked: %+v", first)
	}
	second := b.ok(messagesPath, "k1", body("", mark(""))).usage(t)
	if second.Read != first.Creation || second.Creation != 100 || second.Input != 0 {
		t.Fatalf("request marked: %+v", second)
	}
}

func TestReadableOnlyAfterTheFirstByte(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	body := chatBody(words("rules", 2000))
	if err := b.Queue(Fault{Hang: true}); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { b.do(b.request(ctx, chatPath, "k1", body)) })
	if _, err := b.Await(ctx, func(log []Seen) bool { return len(log) == 1 && log[0].Fault != nil }); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Cache()); n != 0 {
		t.Fatalf("%d entries before the first byte", n)
	}
	leave()
	wait.Wait()

	// A stream that is held after its first event has written its prompt.
	if err := b.Queue(Fault{HangAfterEvents: After(1)}); err != nil {
		t.Fatal(err)
	}
	ctx, leave = context.WithCancel(t.Context())
	wait.Go(func() { b.do(b.request(ctx, chatPath, "k1", with(body, `"stream":true`))) })
	if _, err := b.Await(t.Context(), func(log []Seen) bool { return log[len(log)-1].Events == 1 }); err != nil {
		t.Fatal(err)
	}
	if _, cached := b.chatRead("k1", body); cached != 1920 {
		t.Fatalf("cached %d while the first answer is still under way, want 1920", cached)
	}
	leave()
	wait.Wait()
}

func TestRefusedRequestsLeaveNothingInTheCache(t *testing.T) {
	b := start(t, Config{Cache: openaiCache})
	for _, f := range []Fault{{Status: 503}, {ErrorEventFirst: true}, {RawBody: "data: {}\n\n"}} {
		if err := b.Queue(f); err != nil {
			t.Fatal(err)
		}
		b.post(chatPath, "k1", chatBody(words("rules", 2000)))
		if n := len(b.Cache()); n != 0 {
			t.Errorf("%+v: %d entries", f, n)
		}
	}
}

// Whatever is sent, every prompt token is reported exactly once, and what is
// read was written before.
func TestUsageIsConserved(t *testing.T) {
	const seed = 20261120
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	families := []Cache{openaiCache, anthropicCache, {Family: catalog.Implicit, MinPrefix: 64, Block: 64}, {Family: catalog.None}}
	for _, family := range families {
		v := New(Config{API: allAPIs, Cache: family, ReportWrites: true, Now: newClock().Now})
		var held int64
		for range 400 {
			p := &prompt{api: catalog.Messages, model: "m", turn: 1}
			markers := 0
			for i := range 1 + random.IntN(8) {
				s := segment{shape: "message user first", text: []byte(words(fmt.Sprint(i, random.IntN(2)), random.IntN(900)))}
				if random.IntN(3) == 0 && markers < maxMarkers {
					s.marked = true
					markers++
				}
				p.segments = append(p.segments, s)
			}
			l := v.look("account", p)
			u := l.usage
			if u.prompt() != p.size() || u.input < 0 || u.read < 0 || u.write5m < 0 || u.write1h < 0 {
				t.Fatalf("family %s: usage %+v of a prompt of %d", family.Family, u, p.size())
			}
			if u.read > held {
				t.Fatalf("family %s: read %d, but never more than %d written", family.Family, u.read, held)
			}
			v.commit("account", p, l)
			for _, w := range l.write {
				held = max(held, w.tokens)
			}
			if again := v.look("account", p).usage; again.read < u.read+u.write() || again.write() != 0 {
				t.Fatalf("family %s: first %+v, again %+v", family.Family, u, again)
			}
		}
	}
}
