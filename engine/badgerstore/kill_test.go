package badgerstore_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
)

// writeForEver is what the killed process runs: it writes batches of pins and
// prints the number of each once it is reported as written.
func writeForEver(dir string) {
	store, err := badgerstore.Open(dir, badgerstore.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for n := 0; ; n++ {
		if err := store.Write(context.Background(), batchOf(n)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("written", n)
	}
}

const perBatch = 20

func batchOf(n int) []engine.PinWrite {
	writes := make([]engine.PinWrite, perBatch)
	for i := range writes {
		id := fmt.Sprintf("s-%d-%d", n, i)
		writes[i] = engine.PinWrite{Key: pinKey(id), Record: pinned("v-"+id, uint64(n))}
	}
	return writes
}

func TestWhatIsWrittenSurvivesAKill(t *testing.T) {
	for _, batches := range []int{1, 40, 3000} {
		t.Run(fmt.Sprint(batches), func(t *testing.T) {
			dir := t.TempDir()
			written := killAfter(t, dir, batches)
			store := open(t, dir, badgerstore.Options{})
			for n := range written {
				for _, w := range batchOf(n) {
					r, err := store.Get(context.Background(), w.Key)
					if err != nil || len(r.For("m")) != 1 || r.For("m")[0].Vendor != "v-"+w.Key.ID {
						t.Fatalf("batch %d of %d was reported as written; %s is %+v, %v", n, written, w.Key.ID, r, err)
					}
				}
			}
			if store.Bad() != 0 {
				t.Errorf("%d damaged records", store.Bad())
			}
		})
	}
}

// killAfter starts a process that writes to dir, kills it once it has reported
// so many batches as written, and returns how many it reported in all.
func killAfter(t *testing.T, dir string, batches int) (written int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WARMROUTE_TEST_WRITER="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "written ") {
			t.Fatalf("the writer says %q", lines.Text())
		}
		written++
		if written == batches {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
	if written < batches {
		t.Fatalf("%d batches written", written)
	}
	return written
}
