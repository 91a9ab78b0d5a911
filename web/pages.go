package web

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

//go:embed templates/*.html static/*.css
var files embed.FS

// Options say where the pages get what they show.
type Options struct {
	Turns   func() []engine.Turn // recent turns, oldest first
	Catalog func() *catalog.Catalog
}

// Pages serves the dashboard below /ui/. It may be used by any number of goroutines.
type Pages struct {
	options Options
	turns   *template.Template
	style   []byte
}

// New reads the embedded templates; they are part of the binary, so a template
// that does not parse is a programming error and panics.
func New(o Options) *Pages {
	style, err := files.ReadFile("static/style.css")
	if err != nil {
		panic(err)
	}
	return &Pages{options: o, turns: template.Must(template.ParseFS(files, "templates/turns.html")), style: style}
}

// policy allows the page's own stylesheet and nothing else.
const policy = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// ServeHTTP answers GET and HEAD for /ui/ and its stylesheet.
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
	switch r.URL.Path {
	case "/ui/":
		var page bytes.Buffer
		if err := p.turns.Execute(&page, turnsView(p.options.Catalog(), p.options.Turns())); err != nil {
			http.Error(w, "the page could not be made", http.StatusInternalServerError)
			return
		}
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page.Bytes())
	case "/ui/style.css":
		h.Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(p.style)
	default:
		http.NotFound(w, r)
	}
}
