package routes_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

const (
	paceEvents = 10
	pace       = 200 * time.Millisecond
	paceLimit  = 50 * time.Millisecond
)

// Nothing waits for what follows it: an event is with the client within paceLimit,
// although the next is pace away, and so are the first and the last. That holds where
// metadata is put in and where it is not, and the log is on.
func TestEveryEventIsSentAtOnce(t *testing.T) {
	for _, mode := range []vendor.Metadata{vendor.MetadataBody, vendor.MetadataOff} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			late := paced(t, mode)
			if !inTime(late) {
				// Another program may have had the processor: once more, all of it.
				t.Logf("events took %v; measuring again", late)
				late = paced(t, mode)
			}
			for i, d := range late {
				if d >= paceLimit {
					t.Errorf("event %d took %v", i, d)
				}
			}
		})
	}
}

func inTime(late []time.Duration) bool {
	for _, d := range late {
		if d >= paceLimit {
			return false
		}
	}
	return true
}

// paced is how long each event was on its way.
func paced(t *testing.T, mode vendor.Metadata) []time.Duration {
	sent := make(chan time.Time, paceEvents)
	v := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for i := range paceEvents {
			finish := "null"
			if i == paceEvents-1 {
				finish = `"stop"`
			}
			sent <- time.Now()
			_, _ = fmt.Fprintf(w, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"event-%d\"},\"finish_reason\":%s}]}\n\n", i, finish)
			_ = http.NewResponseController(w).Flush()
			<-tick.C
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}}
	r := newRig(t, func(o *routes.Options) { o.Metadata = mode }, stop{name: "pier", serve: v})
	request, _ := http.NewRequest(http.MethodPost, r.url+paths["chat"], strings.NewReader(bodies[true]))
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("header %v", response.Header)
	}
	lines := bufio.NewScanner(response.Body)
	late := make([]time.Duration, 0, paceEvents)
	for lines.Scan() && len(late) < paceEvents {
		line := lines.Text()
		if !strings.HasPrefix(line, "data: {") {
			continue
		}
		if !lines.Scan() || lines.Text() != "" { // the blank line makes it an event
			t.Fatalf("no blank line after %q", line)
		}
		late = append(late, time.Since(<-sent))
		i := len(late) - 1
		if !strings.Contains(line, fmt.Sprintf("event-%d", i)) {
			t.Fatalf("event %d: %q", i, line)
		}
		if last := i == paceEvents-1; strings.Contains(line, `"provider_metadata"`) != (last && mode == vendor.MetadataBody) {
			t.Errorf("event %d: %q", i, line)
		}
	}
	if len(late) != paceEvents {
		t.Fatalf("%d events: %v", len(late), lines.Err())
	}
	return late
}
