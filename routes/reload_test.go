package routes_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// editions are the texts of one catalog: the same models and three vendors, with
// prices that say which edition it is and which vendor.
type editions struct {
	models  int
	vendors [3]string // addresses
	numbers sync.Map  // digest → number
}

// text is the edition of a number, from 1.
func (e *editions) text(number int) []byte {
	var b strings.Builder
	b.WriteString("version: 1\nvendors:\n")
	for v, address := range e.vendors {
		fmt.Fprintf(&b, "  v%d: {api: [chat], base_url: %s/v1, allow_private: true}\n", v, address)
	}
	b.WriteString("models:\n")
	for m := range e.models {
		fmt.Fprintf(&b, "  maker/m%d:\n    routes:\n", m)
		for v := range e.vendors {
			fmt.Fprintf(&b, "      - {vendor: v%d, model: m%d, price: {input: %d.%d, output: %d.%d, cache_read: 0.%07d%d}}\n", v, m, number, v, 2*number, v, number, v)
		}
	}
	text := []byte(b.String())
	sum := sha256.Sum256(text)
	e.numbers.Store(hex.EncodeToString(sum[:]), number)
	return text
}

// holds says whether a card is that of a vendor in an edition.
func (e *editions) holds(number int, vendor string, c pricing.Card) bool {
	v := strings.TrimPrefix(vendor, "v")
	return c.Input.String() == decimalText(number, v) && c.Output.String() == decimalText(2*number, v)
}

// decimalText is a price as it is printed: without a zero behind the point.
func decimalText(whole int, part string) string {
	if part == "0" {
		return strconv.Itoa(whole)
	}
	return strconv.Itoa(whole) + "." + part
}

// check says what of a turn, its plan and its bill is not of one edition.
func (e *editions) check(turn engine.Turn) error {
	known, ok := e.numbers.Load(turn.Catalog)
	if !ok {
		return fmt.Errorf("a turn began with a catalog that never was: %s", turn.Catalog)
	}
	number := known.(int)
	if len(turn.Plan.Candidates) != len(e.vendors) || len(turn.Attempts) == 0 {
		return fmt.Errorf("a turn of edition %d has %d candidates and %d attempts", number, len(turn.Plan.Candidates), len(turn.Attempts))
	}
	for _, c := range turn.Plan.Candidates {
		if !e.holds(number, c.Route.Vendor.Name, c.Card) || !e.holds(number, c.Route.Vendor.Name, c.Route.Price[0].Card) {
			return fmt.Errorf("a turn of edition %d has a candidate at %s with the input price %s", number, c.Route.Vendor.Name, c.Card.Input)
		}
	}
	for _, a := range turn.Attempts {
		if a.Stage == engine.StageServed && !e.holds(number, a.Candidate.Route.Vendor.Name, a.Card) {
			return fmt.Errorf("a turn of edition %d was billed %s for input at %s", number, a.Card.Input, a.Candidate.Route.Vendor.Name)
		}
	}
	for _, f := range turn.Decision.Models {
		own, verdict := f.Used.Vendor, f.Verdict
		if verdict.Input.Known() && verdict.Input.String() != decimalText(number, strings.TrimPrefix(own, "v")) {
			return fmt.Errorf("a gate of edition %d compared the input price %s of %s", number, verdict.Input, own)
		}
		for _, rival := range verdict.Rivals {
			if rival.Input.String() != decimalText(number, strings.TrimPrefix(rival.Vendor, "v")) {
				return fmt.Errorf("a gate of edition %d compared the input price %s of the rival %s", number, rival.Input, rival.Vendor)
			}
		}
	}
	return nil
}

// checking is a ledger that checks each turn and keeps the first that is mixed.
type checking struct {
	editions *editions
	turns    atomic.Int64
	mixed    atomic.Pointer[error]
}

func (c *checking) Record(turn engine.Turn) {
	c.turns.Add(1)
	if err := c.editions.check(turn); err != nil {
		c.mixed.CompareAndSwap(nil, &err)
	}
}

// garbage is what an edition becomes under the hands of a careless editor.
func garbage(random *rand.Rand, good []byte) []byte {
	cut := slices.Clone(good[:random.IntN(len(good))])
	switch random.IntN(9) {
	case 0:
		return nil
	case 1:
		return append(cut, "\n\t: ["...)
	case 2:
		return append(cut, 0)
	case 3:
		return append(cut, 0xff, '\n')
	case 4:
		return []byte(strings.Repeat("[", 1<<20))
	case 5:
		return []byte(strings.Repeat("k: 1\n", 200_000))
	case 6:
		return append(slices.Clone(good), "---\nversion: 1\n"...)
	case 7:
		return []byte(strings.Replace(string(good), "output: ", "ouptut: ", 1))
	}
	return []byte(strings.Replace(string(good), "cache_read: 0.", "cache_read: -", 1))
}

// number is a whole number from the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q", name, text)
	}
	return n
}

// Whatever is done to the file, no turn fails, none is billed at prices of two
// editions, and the last good edition is in force. WARMROUTE_RELOADS reloads, half
// of them garbage, of WARMROUTE_RELOAD_MODELS models with three routes each.
func TestReloadsUnderTraffic(t *testing.T) {
	reloads := number(t, "WARMROUTE_RELOADS", 100)
	e := &editions{models: number(t, "WARMROUTE_RELOAD_MODELS", 20)}
	answer := &script{text: `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1010}}`}
	for v := range e.vendors {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(answer.text))
		}))
		t.Cleanup(server.Close)
		e.vendors[v] = server.URL
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 7))
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	put := func(text []byte) {
		if err := os.WriteFile(path+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	edition := 1
	put(e.text(edition))
	first, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	live := catalog.NewLive(path, first)
	ledger := &checking{editions: e}
	pins := inmem.New(inmem.Options{})
	vendors := vendor.New(vendor.Options{})
	gateway := httptest.NewServer(routes.New(routes.Options{
		Gateway: &engine.Gateway{Catalog: live.Current, Pins: pins, Health: engine.NewHealth(), Ledger: ledger, Deadline: time.Second},
		Vendor:  vendors,
	}))
	t.Cleanup(func() {
		gateway.Close()
		vendors.Close()
		_ = pins.Close(context.Background())
	})

	var traffic sync.WaitGroup
	var failed atomic.Pointer[string]
	stop := make(chan struct{})
	for client := range 3 {
		traffic.Go(func() {
			for turn := 0; ; turn++ {
				select {
				case <-stop:
					return
				default:
				}
				body := fmt.Sprintf(`{"model":"maker/m%d","session_id":"s%d","messages":[{"role":"user","content":"Is it so?"}]}`, turn%e.models, client*100+turn%50)
				response, err := http.Post(gateway.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
				if err == nil {
					_, _ = io.Copy(io.Discard, response.Body) // so that the connection is used again
					response.Body.Close()
				}
				if err != nil || response.StatusCode != http.StatusOK {
					said := fmt.Sprintf("turn %d of client %d: %v %v", turn, client, response, err)
					failed.CompareAndSwap(nil, &said)
				}
			}
		})
	}
	var took []time.Duration
	accepted, refused := 0, 0
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	for i := range reloads {
		if i == reloads/10 {
			before = heap()
		}
		inForce := live.Current()
		bad := i%2 == 1
		if bad {
			put(garbage(random, e.text(edition)))
		} else {
			edition++
			put(e.text(edition))
		}
		began := time.Now()
		err := live.Reload(began)
		if spent := time.Since(began); !bad {
			took = append(took, spent)
		}
		status := live.Status()
		switch {
		case bad && (err == nil || live.Current() != inForce || status.Rejected == nil || status.Digest != inForce.Digest):
			t.Fatalf("reload %d: garbage is in force, or not told of: %v, %+v", i, err, status)
		case !bad && (err != nil || live.Current() == inForce || status.Rejected != nil || status.Digest != live.Current().Digest):
			t.Fatalf("reload %d: a good edition is not in force: %v, %+v", i, err, status)
		}
		if bad {
			refused++
		} else {
			accepted++
		}
		if said := failed.Load(); said != nil {
			t.Fatal(*said)
		}
		if mixed := ledger.mixed.Load(); mixed != nil {
			t.Fatal(*mixed)
		}
	}
	close(stop)
	traffic.Wait()
	if said := failed.Load(); said != nil {
		t.Fatal(*said)
	}
	if mixed := ledger.mixed.Load(); mixed != nil {
		t.Fatal(*mixed)
	}
	if s := live.Status(); s.Accepted != int64(accepted) || s.Refused != int64(refused) {
		t.Errorf("%d accepted and %d refused, counted %d and %d", accepted, refused, s.Accepted, s.Refused)
	}
	if ledger.turns.Load() == 0 {
		t.Fatal("there was no traffic")
	}
	slices.Sort(took)
	after := heap()
	t.Logf("%d reloads of %d models, %d of them refused, under %d turns: a good one took %s at the median, %s at the 99th percentile; the heap was %d KiB after a tenth of them, and is %d KiB",
		reloads, e.models, refused, ledger.turns.Load(), took[len(took)/2], took[len(took)*99/100], before>>10, after>>10)
}
