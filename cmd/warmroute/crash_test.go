package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// kills is how often the gateway is killed under load: a few times in every test
// run, WARMROUTE_KILLS times where it is set.
func kills(t *testing.T) int {
	if text := os.Getenv("WARMROUTE_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 3
}

// certain is how long before a kill a request must have come, or an answer ended, for
// its record to be there: the ledger writes within a few milliseconds, and a turn waits
// no longer than five of them for the note of its attempt.
const certain = 300 * time.Millisecond

// load is clients that send streamed turns, each of a session of its own.
type load struct {
	mu   sync.Mutex
	ends map[string]time.Time // of whole answers, by session
	wg   sync.WaitGroup
}

// run sends turns until ctx ends.
func (l *load) run(ctx context.Context, gateway, round string, clients int) {
	for c := range clients {
		l.wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				session := fmt.Sprintf("load-%s-%d-%d", round, c, n)
				if l.turn(ctx, gateway, session) {
					l.mu.Lock()
					l.ends[session] = time.Now()
					l.mu.Unlock()
				}
			}
		})
	}
}

// turn sends one and says whether the whole answer came.
func (l *load) turn(ctx context.Context, gateway, session string) bool {
	body := fmt.Sprintf(`{"model":"sea/charts","stream":true,"messages":[{"role":"user","content":"I am %s."}]}`, session)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, gateway+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("content-type", "application/json")
	r.Header.Set("x-session-id", session)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return err == nil && strings.Contains(string(text), "data: [DONE]")
}

type bookedTurn struct {
	ID      string
	State   string
	Session struct{ ID string }
}

// turns reads every turn of the ledger through the API, page by page.
func (p *process) turns(t *testing.T) []bookedTurn {
	t.Helper()
	var all []bookedTurn
	for after := ""; ; {
		response, err := http.Get(p.admin + "/api/v1/turns?limit=1000&after=" + url.QueryEscape(after))
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Turns []bookedTurn
			Next  *string
		}
		err = json.NewDecoder(response.Body).Decode(&page)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("turns answer %s (%v)", response.Status, err)
		}
		all = append(all, page.Turns...)
		if page.Next == nil {
			return all
		}
		after = *page.Next
	}
}

var marker = regexp.MustCompile(`I am (load-[0-9a-z-]+)\.`)

// ended are the sessions of the newest turns that are on record with their end.
func (p *process) ended(t *testing.T) (sessions []string) {
	t.Helper()
	var page struct{ Turns []bookedTurn }
	p.get(t, "/api/v1/turns?limit=1000", &page)
	for _, turn := range page.Turns {
		if turn.State == string(engine.Settled) {
			sessions = append(sessions, turn.Session.ID)
		}
	}
	return sessions
}

// Nothing settled is lost or doubled when the process is killed, and a turn that a
// vendor has seen is on record, settled or not. Where the disk or the processor is too
// busy for the ledger to keep up, the last turns before the kill may miss their notes
// and ends; they are counted.
func TestTheLedgerSurvivesBeingKilledUnderLoad(t *testing.T) {
	vendor := vendorsim.New(vendorsim.Config{Name: "first", API: []catalog.API{catalog.Chat}, EventGap: 8 * time.Millisecond})
	server := httptest.NewServer(vendor)
	defer server.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, server.URL, server.URL, "", "5m")
	args := []string{"serve", "--log-level", "error", "--catalog", path, "--data", filepath.Join(dir, "data")}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	seen, whole := map[string]time.Time{}, map[string]bool{}
	noted, booked := map[string]bool{}, map[string]bool{} // on record, and with their end, before some kill
	unnoted, unended := map[string]bool{}, map[string]bool{}
	kept := 0
	p := start(t, args...)
	for round := range kills(t) {
		ctx, stop := context.WithCancel(t.Context())
		l := &load{ends: map[string]time.Time{}}
		l.run(ctx, p.gateway, strconv.Itoa(round), 16)
		<-time.After(time.Duration(400+random.IntN(400)) * time.Millisecond) // the load is the subject
		for _, session := range p.ended(t) {
			booked[session] = true
		}
		killed := time.Now()
		_ = p.stop(t, syscall.SIGKILL)
		stop()
		l.wg.Wait()
		for session, ended := range l.ends {
			if killed.Sub(ended) > certain {
				whole[session] = true
			}
		}
		for _, request := range vendor.Log() {
			if m := marker.FindStringSubmatch(request.Body); m != nil {
				seen[m[1]] = request.At
			}
		}
		vendor.ResetLog()

		p = start(t, args...)
		ids, states := map[string]bool{}, map[string]string{}
		for _, turn := range p.turns(t) {
			if ids[turn.ID] {
				t.Errorf("round %d: turn %s is on record twice", round, turn.ID)
			}
			ids[turn.ID] = true
			if _, twice := states[turn.Session.ID]; twice {
				t.Errorf("round %d: session %s has more than its one turn", round, turn.Session.ID)
			}
			states[turn.Session.ID] = turn.State
		}
		for session := range booked {
			if states[session] != "settled" {
				t.Errorf("round %d: %s was on record with its end before a kill, and now its record says %q", round, session, states[session])
			}
		}
		for session := range noted {
			if _, ok := states[session]; !ok {
				t.Errorf("round %d: %s was on record before a kill and is no more", round, session)
			}
		}
		for session, state := range states {
			noted[session] = true
			if state == "settled" {
				booked[session] = true
			}
		}
		for session, at := range seen {
			if _, ok := states[session]; ok {
				continue
			}
			if unnoted[session] = true; killed.Sub(at) > certain && !whole[session] {
				t.Errorf("round %d: a vendor has seen %s, %s before the kill, and no record has", round, session, killed.Sub(at))
			}
		}
		for session := range whole {
			if states[session] != "settled" {
				unended[session] = true
			}
		}
		kept += len(seen)
		clear(seen)
	}
	if len(booked) == 0 || len(whole) == 0 || kept == len(whole) {
		t.Errorf("%d turns were seen and %d of them whole: the kills met no turn in flight", kept, len(whole))
	}
	if flight := kept - len(whole); 2*len(unnoted) > flight || 20*len(unended) > len(whole) {
		t.Errorf("%d of %d turns in flight have no record, and %d of %d that were whole no end", len(unnoted), flight, len(unended), len(whole))
	}
	t.Logf("%d turns seen by the vendor, %d of them whole %s before a kill, %d known to be settled; %d have no record, %d of the whole ones no end",
		kept, len(whole), certain, len(booked), len(unnoted), len(unended))
}
