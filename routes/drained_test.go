package routes_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// The beginning and the end of an answer whose client walks off in between.
const (
	talkBegins = "event: message_start\ndata: " + `{"type":"message_start","message":{"id":"walked_off","type":"message","role":"assistant","model":"schooner-1","content":[],"usage":{"input_tokens":60,"cache_creation_input_tokens":0,"cache_read_input_tokens":9000,"output_tokens":1}}}` +
		"\n\nevent: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Long ago"}}` + "\n\n"
	talkEnds = "event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":640}}` +
		"\n\nevent: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n"
)

// walkedOff is what became of a turn whose client left in mid-answer.
type walkedOff struct {
	*rig
	vendors *vendor.Client
	gone    time.Duration // from when the client left to when the vendor lost its connection or had ended
}

// walkOff has a client read the beginning of an answer, close its socket, and the
// vendor go on, as rest does, once the gateway reads on; it never does where nothing
// is read on.
func walkOff(t *testing.T, change func(*routes.Options), key string, rest func(io.Writer)) walkedOff {
	t.Helper()
	w := walkedOff{vendors: vendor.New(vendor.Options{Linger: 20 * time.Millisecond})}
	gone := make(chan time.Time, 1)
	reef := &script{answer: func(to http.ResponseWriter, r *http.Request) {
		to.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(to, talkBegins)
		_ = http.NewResponseController(to).Flush()
		for r.Context().Err() == nil && w.vendors.Drains().Begun == 0 {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Millisecond):
			}
		}
		if rest != nil && r.Context().Err() == nil {
			rest(to)
		} else {
			<-r.Context().Done()
		}
		gone <- time.Now()
	}}
	w.rig = newRig(t, func(o *routes.Options) { o.Vendor = w.vendors; change(o) }, stop{name: "reef", api: "messages", serve: reef, price: reefPrice})
	request, _ := http.NewRequest(http.MethodPost, w.url+"/v1/messages", strings.NewReader(`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"tell"}]}`))
	request.Header.Set("x-session-id", "dory-left")
	request.Header.Set("x-api-key", key)
	response, err := w.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	seen, buffer := "", make([]byte, 4096)
	for !strings.Contains(seen, "Long ago") {
		n, err := response.Body.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(buffer[:n])
	}
	left := time.Now()
	response.Body.Close()
	w.gone = (<-gone).Sub(left)
	return w
}

func drains(d vendor.Drain) func(*routes.Options) { return func(o *routes.Options) { o.Drain = d } }

func TestAnAnswerThatIsReadOnIsBilledWhole(t *testing.T) {
	w := walkOff(t, drains(vendor.Drain{Time: time.Minute, Bytes: 1 << 20}), "", func(to io.Writer) { _, _ = io.WriteString(to, talkEnds) })
	a := w.last(1)
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || a.Quality != pricing.Authoritative || a.Drained != int64(len(talkEnds)) {
		t.Errorf("attempt %q %q, usage %q, %d bytes read on", a.Stage, a.Failure, a.Quality, a.Drained)
	}
	if a.Usage != (pricing.Usage{Input: 60, CacheRead: 9000, Output: 640}) {
		t.Errorf("usage %+v", a.Usage)
	}
	money(t, a, "0.01248")
	if pins := w.pinned("dory-left"); !slices.Equal(pins, []string{"reef"}) {
		t.Errorf("pinned %v", pins)
	}
	w.settled()
	if line := fmt.Sprintf(`"drained_bytes":%d`, len(talkEnds)); !strings.Contains(w.log.String(), line) {
		t.Errorf("the log does not say %s:\n%s", line, w.log)
	}
	if f := w.vendors.Drains(); f.Begun != 1 || f.Running > 1 {
		t.Errorf("%+v", f)
	}
}

// promptOnly says that only the prompt of the turn is known.
func (w *walkedOff) promptOnly(t *testing.T) {
	t.Helper()
	a := w.last(1)
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || a.Quality != pricing.Partial || a.Usage.Output != 1 || a.Cost.Known {
		t.Errorf("attempt %q %q, usage %+v %q", a.Stage, a.Failure, a.Usage, a.Quality)
	}
	if prompt := engine.Book(w.ledger.Recorded()[0]).Attempts[0].PromptCost(); !prompt.Known || prompt.Total.String() != "0.00288" {
		t.Errorf("the prompt cost %+v", prompt)
	}
	if pins := w.pinned("dory-left"); !slices.Equal(pins, []string{"reef"}) {
		t.Errorf("pinned %v", pins)
	}
}

func TestAnAnswerIsReadOnForItsTimeOnly(t *testing.T) {
	const limit = 50 * time.Millisecond
	w := walkOff(t, drains(vendor.Drain{Time: limit, Bytes: 1 << 20}), "", nil)
	w.promptOnly(t)
	if w.gone < limit || w.gone > limit+time.Second {
		t.Errorf("the vendor was cancelled after %v", w.gone)
	}
}

func TestAnAnswerIsReadOnForItsBytesOnly(t *testing.T) {
	w := walkOff(t, drains(vendor.Drain{Time: time.Minute, Bytes: 64 << 10}), "", func(to io.Writer) {
		line := "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + strings.Repeat("x", 1000) + `"}}` + "\n\n"
		for {
			if _, err := io.WriteString(to, line); err != nil {
				return
			}
		}
	})
	w.promptOnly(t)
	if a := w.last(1); a.Drained <= 64<<10 || a.Drained > 128<<10 {
		t.Errorf("%d bytes were read on", a.Drained)
	}
}

func TestTheEndOfTheGatewayEndsWhatIsReadOn(t *testing.T) {
	var vendors *vendor.Client
	w := walkOff(t, func(o *routes.Options) {
		o.Drain, vendors = vendor.Drain{Time: time.Hour, Bytes: 1 << 20}, o.Vendor
	}, "", func(io.Writer) { vendors.EndDrains() })
	w.promptOnly(t)
	if w.gone > time.Second {
		t.Errorf("the vendor went on for %v", w.gone)
	}
}

func TestATenantMayHaveItsAnswersReadOn(t *testing.T) {
	on := vendor.Drain{Time: time.Minute, Bytes: 1 << 20}
	tenants, err := routes.NewTenants([]routes.Tenant{
		{ID: "desk", Keys: [][32]byte{sha256.Sum256([]byte("desk-key-0123456789"))}, Drain: &on},
		{ID: "batch", Keys: [][32]byte{sha256.Sum256([]byte("batch-key-0123456789"))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	end := func(to io.Writer) { _, _ = io.WriteString(to, talkEnds) }
	with := func(o *routes.Options) { o.Tenants = tenants }
	w := walkOff(t, with, "desk-key-0123456789", end)
	if a := w.last(1); a.Usage.Output != 640 || !a.Quality.Complete() {
		t.Errorf("desk: %+v %q", a.Usage, a.Quality)
	}
	w = walkOff(t, with, "batch-key-0123456789", end)
	if a := w.last(1); a.Usage.Output != 1 || a.Quality != pricing.Partial || w.gone > time.Second {
		t.Errorf("batch: %+v %q, gone after %v", a.Usage, a.Quality, w.gone)
	}
}

// An answer in one piece: the client leaves before anything of it has come.
func TestAnAnswerInOnePieceIsReadOn(t *testing.T) {
	for name, c := range map[string]struct {
		drain vendor.Drain
		known bool
	}{
		"read on":   {vendor.Drain{Time: time.Minute, Bytes: 1 << 20}, true},
		"too large": {vendor.Drain{Time: time.Minute, Bytes: 64}, false},
		"cancelled": {vendor.Drain{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			vendors := vendor.New(vendor.Options{})
			pier := &script{answer: func(w http.ResponseWriter, r *http.Request) {
				close(asked)
				for r.Context().Err() == nil && vendors.Drains().Begun == 0 {
					select {
					case <-r.Context().Done():
					case <-time.After(time.Millisecond):
					}
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, jsonAnswer)
			}}
			r := newRig(t, func(o *routes.Options) { o.Vendor, o.Drain = vendors, c.drain }, stop{name: "pier", serve: pier}, stop{name: "quay", serve: &script{text: jsonAnswer}})
			ctx, leave := context.WithCancel(t.Context())
			request, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(bodies[false]))
			go func() { <-asked; leave() }()
			if _, err := r.client.Do(request); err == nil {
				t.Error("the client got an answer")
			}
			a := r.last(1)
			if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || a.Committed || a.Answered != 499 {
				t.Errorf("attempt %q %q, committed %v, %d", a.Stage, a.Failure, a.Committed, a.Answered)
			}
			if a.Quality.Complete() != c.known || a.Cost.Known != c.known {
				t.Errorf("usage %+v %q, cost %+v", a.Usage, a.Quality, a.Cost)
			}
			if len(r.ledger.Recorded()[0].Attempts) != 1 {
				t.Error("another vendor was asked for nobody")
			}
		})
	}
}
