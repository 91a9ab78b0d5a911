package web

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// Pages serves the dashboard below /ui/. It may be used by any number of goroutines.
type Pages struct {
	options   Options
	assets    map[string]asset
	templates map[string]*template.Template
}

// New reads the embedded templates; they are part of the binary, so a template
// that does not parse is a programming error and panics.
func New(o Options) *Pages {
	if o.Status == nil {
		o.Status = func() Status { return Status{} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Gateway == "" {
		o.Gateway = "http://127.0.0.1:8080"
	}
	p := &Pages{options: o, assets: assets(o.Assets), templates: map[string]*template.Template{}}
	base := template.Must(template.ParseFS(files, "templates/base.html", "templates/parts.html"))
	for _, name := range []string{"overview", "sessions", "session", "turns", "turn", "misses", "routes", "message"} {
		page := template.Must(base.Clone())
		p.templates[name] = template.Must(page.ParseFS(files, "templates/"+name+".html"))
	}
	return p
}

// policy allows the package's own files and nothing else: no script, style or
// address inside a page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// view is what a page shows: a template and its data.
type view struct {
	name string
	code int // 0: 200
	data any
}

// ServeHTTP answers GET and HEAD for the pages and their files.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "pages are read with GET", http.StatusMethodNotAllowed)
		return
	}
	if name, ok := fileName(r.URL.Path); ok {
		if file, found := p.assets[name]; found {
			file.serve(w, r)
			return
		}
	}
	p.show(w, r, p.page(r))
}

func fileName(path string) (name string, ok bool) {
	const root = "/ui/"
	if len(path) <= len(root) || path[:len(root)] != root {
		return "", false
	}
	return path[len(root):], true
}

// page makes what the address asks for.
func (p *Pages) page(r *http.Request) view {
	c := call{pages: p, ctx: r.Context(), ask: asked(r.URL), catalog: p.options.Catalog()}
	c.now = p.options.Now().In(c.ask.zone)
	if c.catalog != nil {
		c.money = moneyIn(c.catalog.Currency)
	} else {
		c.money = moneyIn("")
	}
	if c.ask.unknown != "" {
		return c.message(http.StatusBadRequest, "No such time zone", "Zones have the names of the IANA database, such as America/Los_Angeles or UTC.")
	}
	var v view
	var err error
	switch r.URL.Path {
	case "/ui/":
		v, err = c.overview()
	case "/ui/sessions":
		v, err = c.sessions()
	case "/ui/session":
		v, err = c.session()
	case "/ui/turns":
		v, err = c.turns()
	case "/ui/misses":
		v, err = c.misses()
	case "/ui/routes":
		v, err = c.routesPage()
	case "/ui/turn":
		v, err = c.turn()
	default:
		return c.message(http.StatusNotFound, "No such page", "There is nothing at this address.")
	}
	switch {
	case err == nil:
		return v
	case errors.Is(err, engine.ErrPage), errors.Is(err, engine.ErrQuery):
		return c.message(http.StatusBadRequest, "The books cannot be asked for that", err.Error())
	}
	return c.message(http.StatusServiceUnavailable, "The books did not answer", "Nothing is lost. Load the page again.")
}

// show writes a page whole, or not at all.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, v view) {
	var page bytes.Buffer
	if err := p.templates[v.name].ExecuteTemplate(&page, "base.html", v.data); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if v.code != 0 {
		w.WriteHeader(v.code)
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(page.Bytes())
	}
}
