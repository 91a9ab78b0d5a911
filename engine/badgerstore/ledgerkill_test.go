package badgerstore_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/storetest"
)

const (
	ledgerDir   = "WARMROUTE_TEST_LEDGER"       // has the test binary write turns to this directory for ever
	ledgerRound = "WARMROUTE_TEST_LEDGER_ROUND" // begins their ids
	longTests   = "WARMROUTE_TEST_LONG"         // has the test kill fifty processes, not ten
)

// recordForEver is what the killed process runs: eight callers that note an
// attempt, record its turn, and print the turn's key once its note, and once its
// record, is reported as written.
func recordForEver(dir, round string) {
	l, err := badgerstore.OpenLedger(dir, badgerstore.LedgerOptions{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var mu sync.Mutex
	say := func(what string, turns ...engine.Turn) {
		mu.Lock()
		defer mu.Unlock()
		text := strings.Builder{}
		for _, t := range turns {
			fmt.Fprintf(&text, "%s\t%s\t%s\n", what, t.Tenant, t.ID)
		}
		os.Stdout.WriteString(text.String())
	}
	var wg sync.WaitGroup
	for caller := range uint64(8) {
		wg.Go(func() {
			market, r := storetest.NewMarket(), rand.New(rand.NewPCG(caller, 1))
			var recorded []engine.Turn
			for n := 0; ; n++ {
				turn := market.Turn(r, n, time.Now())
				turn.ID = fmt.Sprintf("%s-%d-%d", round, caller, n)
				begun := turn
				begun.Attempts, begun.Took = nil, 0
				if l.Intend(context.Background(), &begun, begun.Plan.Candidates[0]) == nil {
					say("begun", turn)
				}
				l.Record(turn)
				recorded = append(recorded, turn)
				if r.IntN(10) == 0 {
					if err := l.Flush(context.Background()); err != nil {
						fmt.Println(err)
					}
					say("settled", recorded...)
					recorded = recorded[:0]
				}
			}
		})
	}
	wg.Wait()
}

// TestNothingSettledIsLostOrDoubledByKills kills a process under load, again and
// again over the same books.
func TestNothingSettledIsLostOrDoubledByKills(t *testing.T) {
	rounds := 10
	if os.Getenv(longTests) != "" {
		rounds = 50
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(uint64(rounds), 1))
	settled, begun := map[string]bool{}, map[string]bool{}
	for round := range rounds {
		killLedger(t, dir, fmt.Sprint(round), 20+r.IntN(600), settled, begun)
		l := openLedger(t, dir, badgerstore.LedgerOptions{})
		states := map[string]engine.BookState{}
		for _, b := range everyTurn(t, l, engine.Query{}) {
			key := b.Tenant + "\t" + b.ID
			if _, twice := states[key]; twice {
				t.Errorf("%s is listed twice", key)
			}
			states[key] = b.State
		}
		unsettled := 0
		for key := range settled {
			if state, found := states[key]; !found || state != engine.Settled {
				t.Errorf("round %d: %s was reported as settled; it is found %v, state %q", round, key, found, state)
			}
		}
		for key := range begun {
			state, found := states[key]
			if !found {
				t.Errorf("round %d: %s was reported as begun and is not found", round, key)
			}
			if state == engine.Unsettled {
				unsettled++
			}
		}
		st := l.Stats()
		if st.Bad != 0 || st.Open != 0 {
			t.Errorf("round %d: %+v", round, st)
		}
		o, err := l.Overview(context.Background(), engine.Query{}, time.Hour)
		if err != nil || o.Total.Turns != int64(len(states)) {
			t.Errorf("round %d: %d turns in the roll-ups, %d records, %v", round, o.Total.Turns, len(states), err)
		}
		if round == rounds-1 {
			addUp(t, l)
			t.Logf("%d kills: %d turns settled, %d begun, %d of them unsettled, %d records", rounds, len(settled), len(begun), unsettled, len(states))
		}
		shut(t, l)
	}
}

// killLedger starts a process that records turns in dir, kills it after so many
// lines, and adds the keys it reported.
func killLedger(t *testing.T, dir, round string, lines int, settled, begun map[string]bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ledgerDir+"="+dir, ledgerRound+"="+round)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	for n := 0; ; n++ {
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := in.ReadString('\n')
		if err != nil {
			break // what is left is half a line
		}
		what, key, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case ok && what == "settled":
			settled[key] = true
		case ok && what == "begun":
			begun[key] = true
		default:
			t.Fatalf("the process says %q", line)
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the process ended by itself")
	}
}
