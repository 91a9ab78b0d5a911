package vendorsim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// clock is a time that moves only when told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a vendor behind a socket.
type bench struct {
	*Vendor
	t     *testing.T
	url   string
	clock *clock
}

var allAPIs = []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages}

func start(t *testing.T, config Config) *bench {
	t.Helper()
	c := newClock()
	if config.Now == nil {
		config.Now = c.Now
	}
	if config.API == nil {
		config.API = allAPIs
	}
	v := New(config)
	s := httptest.NewServer(v)
	t.Cleanup(func() { v.ResetFaults(); s.Close() })
	return &bench{Vendor: v, t: t, url: s.URL, clock: c}
}

// reply is an answer as received.
type reply struct {
	status int
	header http.Header
	body   []byte
	err    error // while reading
}

func (b *bench) request(ctx context.Context, path, key, body string) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept-Encoding", "identity")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if strings.HasPrefix(path, "/v1/messages") {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return r
}

// client neither follows redirects nor keeps a cut connection.
var client = &http.Client{
	Timeout:       20 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (b *bench) do(r *http.Request) reply {
	b.t.Helper()
	res, err := client.Do(r)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, header: res.Header, body: body, err: err}
}

func (b *bench) post(path, key, body string) reply {
	b.t.Helper()
	return b.do(b.request(b.t.Context(), path, key, body))
}

// ok posts and requires a whole 200.
func (b *bench) ok(path, key, body string) reply {
	b.t.Helper()
	r := b.post(path, key, body)
	if r.err != nil || r.status != http.StatusOK {
		b.t.Fatalf("POST %s: status %d, error %v, body %s", path, r.status, r.err, r.body)
	}
	return r
}

// usage decodes what an answer reports, in the members of all conventions.
type reported struct {
	Input          int64            `json:"input_tokens"`
	Read           int64            `json:"cache_read_input_tokens"`
	Creation       int64            `json:"cache_creation_input_tokens"`
	CacheCreation  *messageCreation `json:"cache_creation"`
	Output         int64            `json:"output_tokens"`
	Prompt         int64            `json:"prompt_tokens"`
	Completion     int64            `json:"completion_tokens"`
	Total          int64            `json:"total_tokens"`
	Hit            *int64           `json:"prompt_cache_hit_tokens"`
	Miss           *int64           `json:"prompt_cache_miss_tokens"`
	Cached         *int64           `json:"cached_tokens"`
	NumCached      *int64           `json:"num_cached_tokens"`
	PromptDetails  *chatDetails     `json:"prompt_tokens_details"`
	InputDetails   *chatDetails     `json:"input_tokens_details"`
	CompletionInfo map[string]int64 `json:"completion_tokens_details"`
}

func (r reply) usage(t *testing.T) reported {
	t.Helper()
	var v struct{ Usage *reported }
	if err := json.Unmarshal(r.body, &v); err != nil || v.Usage == nil {
		t.Fatalf("no usage in %s (%v)", r.body, err)
	}
	return *v.Usage
}

// events cuts a stream into the values of its data lines and their names.
func (r reply) events(t *testing.T) (names []string, data []string) {
	t.Helper()
	for _, block := range bytes.Split(r.body, []byte("\n\n")) {
		if len(block) == 0 {
			continue
		}
		name := ""
		for _, line := range strings.Split(string(block), "\n") {
			if v, ok := strings.CutPrefix(line, "event: "); ok {
				name = v
				continue
			}
			v, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				t.Fatalf("line %q in a stream", line)
			}
			names, data = append(names, name), append(data, v)
		}
	}
	return names, data
}

// words is text of so many tokens, told apart by its seed.
func words(seed string, n int) string {
	unit := fmt.Sprintf("%-16s", seed+" sails at dawn")[:16]
	return strings.Repeat(unit, n/4+1)[:n*bytesPerToken]
}

// chatBody is a chat request of one system and some further messages.
func chatBody(system string, messages ...string) string {
	list := []map[string]string{{"role": "system", "content": system}}
	for i, m := range messages {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		list = append(list, map[string]string{"role": role, "content": m})
	}
	return string(encode(map[string]any{"model": "m", "messages": list}))
}

// with adds a member to a body, at its end.
func with(body, member string) string { return strings.TrimSuffix(body, "}") + "," + member + "}" }
