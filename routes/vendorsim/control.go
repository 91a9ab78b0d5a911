package vendorsim

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// control answers /sim/…: the script and what it saw.
func (v *Vendor) control(w http.ResponseWriter, r *http.Request) {
	if foreign(r) {
		http.Error(w, "pages of other origins may not script this vendor", http.StatusForbidden)
		return
	}
	reply := func(value any) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(encode(value), '\n')) // a client that left wants nothing
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /sim/faults":
		reply(v.Faults())
	case "GET /sim/log":
		reply(v.Log())
	case "GET /sim/cache":
		reply(v.Cache())
	case "POST /sim/faults":
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		faults, err := decodeFaults(text)
		if err == nil {
			err = v.Queue(faults...)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		reply(struct {
			Queued int `json:"queued"`
		}{len(faults)})
	case "POST /sim/reset":
		what := []string{"faults", "log", "cache"}
		if asked := r.URL.Query().Get("what"); asked != "" {
			what = strings.Split(asked, ",")
		}
		if slices.Contains(what, "faults") {
			v.ResetFaults()
		}
		if slices.Contains(what, "log") {
			v.ResetLog()
		}
		if slices.Contains(what, "cache") {
			v.ResetCache()
		}
		reply(struct {
			Reset []string `json:"reset"`
		}{what})
	default:
		http.Error(w, "use GET /sim/log, GET /sim/cache, GET or POST /sim/faults, or POST /sim/reset", http.StatusNotFound)
	}
}

// foreign says whether a browser sent the request for a page from elsewhere.
func foreign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}
