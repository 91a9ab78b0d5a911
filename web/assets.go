package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed templates/*.html static/*
var files embed.FS

// built is what build.sh makes. A folder without scripts compiles too: then the
// pages do without.
//
//go:embed all:dist
var built embed.FS

// asset is a file that pages refer to.
type asset struct {
	kind string // content type
	tag  string // entity tag
	body []byte
}

// assets are the files below /ui/ by name: the stylesheet, the icon and whatever
// scripts were built.
func assets(scripts fs.FS) map[string]asset {
	found := map[string]asset{}
	add := func(from fs.FS, name, kind string) {
		body, err := fs.ReadFile(from, name)
		if err != nil {
			return
		}
		sum := sha256.Sum256(body)
		found[name[strings.LastIndexByte(name, '/')+1:]] = asset{kind: kind, tag: `"` + hex.EncodeToString(sum[:12]) + `"`, body: body}
	}
	add(files, "static/style.css", "text/css; charset=utf-8")
	add(files, "static/icon.svg", "image/svg+xml")
	if scripts == nil {
		scripts, _ = fs.Sub(built, "dist")
	}
	add(scripts, "live.js", "text/javascript; charset=utf-8")
	add(scripts, "plots.js", "text/javascript; charset=utf-8")
	add(scripts, "plots.css", "text/css; charset=utf-8")
	return found
}

// serve answers with the file, or that it has not changed.
func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.tag)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.kind)
	if r.Method == http.MethodGet {
		_, _ = w.Write(a.body)
	}
}
